/* The C interface, from C99, against the shared library: everything a program without a GPU can do.
 * Each check prints what failed; the exit status counts. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilewright/tilewright.h"

static int failures = 0;

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      printf("%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, tw_last_error()); \
      ++failures;                                                                               \
    }                                                                                           \
  } while (0)

static const char kText[] =
    "import triton\n"
    "import triton.language as tl\n"
    "\n"
    "@triton.jit\n"
    "def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):\n"
    "    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    mask = offsets < n\n"
    "    x = tl.load(x_ptr + offsets, mask=mask)\n"
    "    tl.store(out_ptr + offsets, x * factor + BIAS, mask=mask)\n";

static tw_value pointer_value(void* data, size_t bytes) {
  tw_value v;
  memset(&v, 0, sizeof v);
  v.kind = TW_POINTER;
  v.dtype = TW_F32;
  v.as.pointer = data;
  v.bytes = bytes;
  return v;
}

static tw_value int_value(const char* name, int64_t value) {
  tw_value v;
  memset(&v, 0, sizeof v);
  v.name = name;
  v.kind = TW_INT;
  v.as.integer = value;
  return v;
}

static tw_value float_value(double value) {
  tw_value v;
  memset(&v, 0, sizeof v);
  v.kind = TW_FLOAT;
  v.as.number = value;
  return v;
}

static tw_context* open_context(const char* device) {
  tw_context* context = NULL;
  tw_context_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = device;
  options.cache = "off";
  CHECK(tw_context_create(&options, &context) == TW_OK);
  return context;
}

static tw_kernel* make_kernel(tw_context* context) {
  tw_kernel* kernel = NULL;
  tw_environment* environment = NULL;
  tw_value bias = float_value(0.5);
  CHECK(tw_environment_create(&environment) == TW_OK);
  CHECK(tw_environment_set(environment, "BIAS", &bias) == TW_OK);
  CHECK(tw_kernel_from_source(context, kText, "scale.py", "scale", environment, &kernel) == TW_OK);
  tw_environment_destroy(environment);
  return kernel;
}

static void test_launch(const char* device) {
  enum { kCount = 100 };
  float x[kCount], out[kCount];
  tw_context* context = open_context(device);
  tw_kernel* kernel = context ? make_kernel(context) : NULL;
  tw_launch_options options;
  tw_device_info info;
  tw_kernel_info resources;
  tw_cache_info cache;
  tw_value values[5];
  int i;
  if (!kernel) return;
  for (i = 0; i < kCount; ++i) {
    x[i] = (float)i;
    out[i] = -1;
  }
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK(tw_context_device(context, &info) == TW_OK);
  CHECK(strcmp(info.kind, device) == 0);
  CHECK(info.ordinal == -1);
  CHECK(strcmp(tw_kernel_signature(kernel), "scale(x_ptr, out_ptr, n, factor, BLOCK: constexpr)") ==
        0);
  CHECK(tw_kernel_parameter_count(kernel) == 5);
  CHECK(strcmp(tw_kernel_parameter_name(kernel, 2), "n") == 0);
  CHECK(tw_kernel_parameter_is_constexpr(kernel, 4) &&
        !tw_kernel_parameter_is_constexpr(kernel, 0));
  CHECK(strcmp(tw_kernel_parameter_name(kernel, 5), "") == 0);

  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.grid[0] = (kCount + 31) / 32;
  options.grid[1] = options.grid[2] = 1;
  values[0] = pointer_value(x, sizeof x);
  values[1] = pointer_value(out, sizeof out);
  values[2] = int_value(NULL, kCount - 1);
  values[3] = float_value(2.0);
  values[4] = int_value("BLOCK", 32);
  memset(&resources, 0, sizeof resources);
  resources.struct_size = sizeof resources;
  CHECK(tw_kernel_prepare(kernel, &options, values, 5, &resources) == TW_OK);
  CHECK(tw_kernel_launch(kernel, &options, values, 5) == TW_OK);
  CHECK(tw_context_synchronize(context, NULL) == TW_OK);
  for (i = 0; i < kCount - 1; ++i) CHECK(out[i] == 2 * x[i] + 0.5f);
  CHECK(out[kCount - 1] == -1);
  memset(&cache, 0, sizeof cache);
  cache.struct_size = sizeof cache;
  CHECK(tw_context_cache(context, &cache) == TW_OK);
  CHECK(cache.compiled == 1);

  /* An older caller's shorter struct: what it lacks is zero. */
  options.struct_size = offsetof(tw_launch_options, num_warps);
  options.num_warps = 77;
  CHECK(tw_kernel_launch(kernel, &options, values, 5) == TW_OK);

  /* Handles may go in any order. */
  tw_context_destroy(context);
  CHECK(tw_kernel_launch(kernel, NULL, values, 5) == TW_OK);
  tw_kernel_destroy(kernel);
}

static void test_errors(void) {
  float x[8] = {0};
  tw_context* context = open_context("interp");
  tw_kernel *kernel = NULL, *none = NULL;
  tw_context_options bad_options;
  tw_launch_options unsized;
  tw_value values[5];
  if (!context) return;
  CHECK(tw_context_create(NULL, NULL) == TW_INVALID_ARGUMENT);
  CHECK(strcmp(tw_last_error_kind(), "invalid-argument") == 0);
  memset(&bad_options, 0, sizeof bad_options);
  CHECK(tw_context_create(&bad_options, &context) == TW_INVALID_ARGUMENT);
  bad_options.struct_size = sizeof bad_options;
  bad_options.device = "abacus";
  {
    tw_context* other = NULL;
    CHECK(tw_context_create(&bad_options, &other) == TW_NO_DEVICE && other == NULL);
  }

  CHECK(tw_kernel_from_source(context, "@triton.jit\ndef k(:\n    pass\n", "bad.py", "k", NULL,
                              &none) == TW_BAD_KERNEL);
  CHECK(strstr(tw_last_error(), "bad.py:2:") != NULL);
  CHECK(strchr(tw_last_error(), '^') != NULL);
  CHECK(tw_kernel_from_source(context, kText, NULL, "absent", NULL, &none) == TW_BAD_KERNEL);
  CHECK(strcmp(tw_last_error_kind(), "no-kernel") == 0);
  CHECK(tw_kernel_from_file(context, "/no/such/file.py", "k", NULL, &none) == TW_IO);
  CHECK(none == NULL);

  kernel = make_kernel(context);
  values[0] = pointer_value(x, sizeof x);
  values[1] = pointer_value(x, sizeof x);
  values[2] = int_value(NULL, 8);
  CHECK(tw_kernel_launch(kernel, NULL, values, 3) == TW_BAD_CALL);
  CHECK(strcmp(tw_last_error_kind(), "missing-argument") == 0);
  values[3] = float_value(1.0);
  values[4] = int_value("BLOCK", 24);
  CHECK(tw_kernel_launch(kernel, NULL, values, 5) == TW_BAD_KERNEL);
  CHECK(strstr(tw_last_error(), "scale.py:6:") != NULL);
  values[4] = int_value("BLOCK", 16);
  values[2] = int_value(NULL, 9);
  CHECK(tw_kernel_launch(kernel, NULL, values, 5) == TW_RUN_ERROR);
  CHECK(strcmp(tw_last_error_kind(), "out-of-bounds") == 0);
  values[2].kind = 99;
  CHECK(tw_kernel_launch(kernel, NULL, values, 5) == TW_INVALID_ARGUMENT);
  CHECK(tw_kernel_launch(NULL, NULL, NULL, 0) == TW_INVALID_ARGUMENT);
  CHECK(tw_kernel_launch(kernel, NULL, NULL, 2) == TW_INVALID_ARGUMENT);
  memset(&unsized, 0, sizeof unsized);
  CHECK(tw_kernel_launch(kernel, &unsized, values, 2) == TW_INVALID_ARGUMENT);
  tw_kernel_destroy(kernel);
  tw_context_destroy(context);
  tw_context_destroy(NULL);
  tw_kernel_destroy(NULL);
  tw_environment_destroy(NULL);
  tw_buffer_destroy(NULL);
  tw_code_destroy(NULL);
}

static void test_environment_of_functions(void) {
  static const char kMain[] =
      "@triton.jit\ndef k(x_ptr):\n    tl.store(x_ptr, activation(tl.load(x_ptr)))\n";
  static const char kOther[] = "@triton.jit\ndef shift(x):\n    return x + AMOUNT\n";
  float x = 1;
  tw_context* context = open_context("interp");
  tw_environment *outer = NULL, *inner = NULL;
  tw_kernel* kernel = NULL;
  tw_value amount = float_value(41.0), pointer = pointer_value(&x, sizeof x);
  CHECK(tw_environment_create(&inner) == TW_OK && tw_environment_create(&outer) == TW_OK);
  CHECK(tw_environment_set(inner, "AMOUNT", &amount) == TW_OK);
  CHECK(tw_environment_set(inner, "P", &pointer) == TW_INVALID_ARGUMENT);
  CHECK(tw_environment_set_function(outer, "activation", kOther, "shift", inner) == TW_OK);
  tw_environment_destroy(inner);
  CHECK(tw_kernel_from_source(context, kMain, NULL, "k", outer, &kernel) == TW_OK);
  CHECK(tw_kernel_launch(kernel, NULL, &pointer, 1) == TW_OK);
  CHECK(x == 42);
  tw_kernel_destroy(kernel);
  tw_environment_destroy(outer);
  tw_context_destroy(context);
}

static void test_buffers(void) {
  tw_context* context = open_context("interp");
  tw_buffer* buffer = NULL;
  char in[100], out[100];
  memset(in, 7, sizeof in);
  CHECK(tw_buffer_create(context, sizeof in, &buffer) == TW_OK);
  CHECK(tw_buffer_bytes(buffer) == sizeof in);
  CHECK(tw_buffer_upload(buffer, in, sizeof in, NULL) == TW_OK);
  tw_context_destroy(context);
  CHECK(tw_buffer_download(buffer, out, sizeof out, NULL) == TW_OK);
  CHECK(memcmp(in, out, sizeof in) == 0);
  CHECK(tw_buffer_download(buffer, out, 101, NULL) == TW_BAD_CALL);
  CHECK(tw_buffer_data(buffer) != NULL);
  tw_buffer_destroy(buffer);
}

static void test_cubins(void) {
  tw_context* context = open_context("interp");
  tw_kernel* kernel = make_kernel(context);
  tw_code* code = NULL;
  tw_value values[5];
  size_t bytes = 0;
  tw_status status;
  values[0] = values[1] = pointer_value((void*)(uintptr_t)64, 0);
  values[2] = int_value(NULL, 100);
  values[3] = float_value(2.0);
  values[4] = int_value("BLOCK", 128);
  CHECK(tw_kernel_compile(kernel, "sm_1", NULL, values, 5, &code) == TW_NO_DEVICE);
  status = tw_kernel_compile(kernel, "sm_90", NULL, values, 5, &code);
  if (status == TW_NO_DEVICE && strcmp(tw_last_error_kind(), "no-nvrtc") == 0) {
    printf("no NVRTC: cubins are not tested\n");
  } else {
    CHECK(status == TW_OK);
    CHECK(code && memcmp(tw_code_cubin(code, &bytes), "\177ELF", 4) == 0 && bytes > 1000);
    CHECK(tw_code_threads(code) == 128);
    CHECK(strlen(tw_code_entry(code)) > 0);
  }
  tw_code_destroy(code);
  tw_kernel_destroy(kernel);
  tw_context_destroy(context);
}

/* The driver is switched off for this program (main), so that it does the same on every machine. */
static void test_no_driver(void) {
  tw_context* context = NULL;
  tw_context_options options;
  tw_device_info info;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "cuda:0";
  CHECK(tw_context_create(&options, &context) == TW_NO_DEVICE && context == NULL);
  CHECK(strcmp(tw_last_error_kind(), "no-driver") == 0);
  CHECK(strstr(tw_last_error(), "TILEWRIGHT_CUDA_DRIVER=none") != NULL);
  CHECK(tw_context_create(NULL, &context) == TW_OK);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK(tw_context_device(context, &info) == TW_OK);
  CHECK(strcmp(info.kind, "cpu") == 0 || strcmp(info.kind, "interp") == 0);
  tw_context_destroy(context);
}

int main(int argc, char** argv) {
  setenv("TILEWRIGHT_CUDA_DRIVER", "none", 1);
  test_no_driver();
  CHECK(strcmp(tw_version(), "0.1.0") == 0);
  test_launch("interp");
  if (argc > 1 && strcmp(argv[1], "cpu") == 0) test_launch("cpu");
  test_errors();
  test_environment_of_functions();
  test_buffers();
  test_cubins();
  printf("%d failures\n", failures);
  return failures != 0;
}
