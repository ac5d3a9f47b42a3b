# test: syntax
@jit
def f(x):
    try:
        a = 1
    except E:
        b = 2
    finally:
        c = 3
    del x
    global y
    if x: for i in y: pass
    match x:
        case 1: pass
    async def q(): pass
    else:
        pass
    import
    from . import (a
    for x y in z:
        c = ]
    while x
        d = ]
    else:
        pass
    return x; break y
# --- expected
# statements.py:3:5: error: 'try' statements are not in the subset that kernels use [syntax]
#       try:
#       ^~~
# statements.py:9:5: error: 'del' statements are not in the subset that kernels use [syntax]
#       del x
#       ^~~
# statements.py:10:5: error: 'global' statements are not in the subset that kernels use [syntax]
#       global y
#       ^~~~~~
# statements.py:11:11: error: a 'for' statement needs a line of its own [syntax]
#       if x: for i in y: pass
#             ^~~
# statements.py:12:5: error: 'match' statements are not in the subset that kernels use [syntax]
#       match x:
#       ^~~~~
# statements.py:14:5: error: 'async' statements are not in the subset that kernels use [syntax]
#       async def q(): pass
#       ^~~~~
# statements.py:17:11: error: expected a module name, found end of line [syntax]
#       import
#             ^
# statements.py:18:19: error: '(' is never closed [syntax]
#       from . import (a
#                     ^
# statements.py:19:11: error: expected 'in' of the for loop, found 'y' [syntax]
#       for x y in z:
#             ^
# statements.py:20:13: error: ']' closes nothing [syntax]
#           c = ]
#               ^
# statements.py:21:12: error: expected ':', found end of line [syntax]
#       while x
#              ^
# statements.py:22:13: error: ']' closes nothing [syntax]
#           d = ]
#               ^
# statements.py:25:21: error: expected the end of the statement, found 'y' [syntax]
#       return x; break y
#                       ^
