// Marks what libtilewright.so exports; everything else in it is hidden.
#pragma once

#define TILEWRIGHT_API __attribute__((visibility("default")))
