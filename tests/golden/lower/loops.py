# test: lower arg=x=*f32 arg=n=i32 arg=m=i64
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, m):
    acc = 0.0
    last = 0
    for i in range(n):
        for j in tl.range(i, m, 2, num_stages=3, loop_unroll_factor=2, flatten=True):
            acc += tl.load(x + j)
        last = i
    for k in range(10, 0, -1):
        acc += k
    steps = 0
    while acc > 1.0:
        acc = acc * 0.5
        steps += 1
    tl.store(x, acc + last + steps)
# --- expected
# kernel @kernel(%x: ptr<f32>, %n: i32, %m: i64) attributes {num_stages=3, num_warps=4} {
#   %acc: f32 = const {value=0.0}
#   %last: i32 = const {value=0}
#   %0: i32 = const {value=0}
#   %1: i32 = const {value=1}
#   %acc.1: f32, %last.1: i32 = for %0, %n, %1, %acc, %last region(%i: i32, %acc.2: f32, %last.2: i32) {
#     %2: i32 = const {value=2}
#     %3: i64 = cast %i
#     %4: i64 = cast %2
#     %5: i64 = const {value=2}
#     %acc.3: f32 = for %3, %m, %5, %acc.2 {flatten=1, num_stages=3, unroll=2} region(%j: i64, %acc.4: f32) {
#       %6: ptr<f32> = ptr_add %x, %j
#       %7: f32 = load %6
#       %acc.5: f32 = add %acc.4, %7
#       yield %acc.5
#     }
#     yield %acc.3, %i
#   }
#   %8: i32 = const {value=10}
#   %9: i32 = const {value=0}
#   %10: i32 = const {value=-1}
#   %acc.6: f32 = for %8, %9, %10, %acc.1 region(%k: i32, %acc.7: f32) {
#     %11: f32 = cast %k
#     %acc.8: f32 = add %acc.7, %11
#     yield %acc.8
#   }
#   %steps: i32 = const {value=0}
#   %acc.9: f32, %steps.1: i32 = while %acc.6, %steps region(%acc.10: f32, %steps.2: i32) {
#     %12: f32 = const {value=1.0}
#     %13: i1 = cmp %acc.10, %12 {pred=gt}
#     condition %13, %acc.10, %steps.2
#   } region(%acc.11: f32, %steps.3: i32) {
#     %14: f32 = const {value=0.5}
#     %acc.12: f32 = mul %acc.11, %14
#     %15: i32 = const {value=1}
#     %steps.4: i32 = add %steps.3, %15
#     yield %acc.12, %steps.4
#   }
#   %16: f32 = cast %last.1
#   %17: f32 = add %acc.9, %16
#   %18: f32 = cast %steps.1
#   %19: f32 = add %17, %18
#   store %x, %19
#   return
# }
