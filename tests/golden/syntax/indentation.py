# test: syntax
@jit
def f(x):
    a = 1
      b = 2
      c = 3
    d = 4
   e = 5
   g = 6
    if x:
    h = 7
    if x:
        i = 8
	j = 9
@jit
def g(x):
@jit
def h(x):
    return
# --- expected
# indentation.py:4:7: error: this line is indented deeper than its block [bad-indent]
#         b = 2
#         ^
# indentation.py:7:4: error: this indentation matches no outer block [bad-indent]
#      e = 5
#      ^
# indentation.py:10:5: error: expected an indented block after ':' [bad-indent]
#       h = 7
#       ^
# indentation.py:13:2: error: tabs and spaces are mixed so that this line's block depends on the tab width [bad-indent]
#   	j = 9
#   	^
# indentation.py:16:1: error: expected an indented block after ':' [bad-indent]
#   @jit
#   ^
