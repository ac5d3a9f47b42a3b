# test: syntax
x = 1 +
y = = 2
import 3
print("fine" "fine too" fine???)
def host():
    a = 1 +
  b
z = ok
# --- expected
# host_mistakes.py:1:8: error: expected an expression, found end of line [syntax]
#   x = 1 +
#          ^
# host_mistakes.py:2:5: error: expected an expression, found '=' [syntax]
#   y = = 2
#       ^
# host_mistakes.py:3:8: error: expected a module name, found '3' [syntax]
#   import 3
#          ^
