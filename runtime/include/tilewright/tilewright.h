/* Tilewright's C interface: Triton kernels, compiled and launched without Python. C99.
 *
 * Conventions, which hold for every function unless it says otherwise:
 * - Status: functions return TW_OK or the class of what went wrong. tw_last_error() then has the
 *   whole message of the calling thread, diagnostics with carets included, and tw_last_error_kind()
 *   its kebab-case kind ("missing-argument"). Nothing is printed, and nothing aborts or exits.
 * - Ownership: handles come from a create function and go to the matching destroy function, which
 *   takes null too. A handle keeps alive what it depends on, so they may be destroyed in any order.
 *   Strings and arrays that go in are copied or used up before the call returns; strings that come
 *   out belong to the handle they came from.
 * - Threads: every function may be called from several threads at once, also on one handle; only
 *   destroying a handle that another call still uses is an error.
 * - Options: structs begin with `struct_size`, which the caller sets to sizeof the struct. Fields
 *   that a caller's older header does not have are taken as zero; zero is always the default. A
 *   null pointer to options means all defaults.
 */
#ifndef TILEWRIGHT_TILEWRIGHT_H
#define TILEWRIGHT_TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_API __attribute__((visibility("default")))

/* What went wrong, by who can do something about it. */
typedef enum tw_status {
  TW_OK = 0,
  TW_INVALID_ARGUMENT = 1, /* of this interface: a null pointer, a bad size */
  TW_BAD_CALL = 2,         /* the call does not fit the kernel: arguments, grid, options */
  TW_BAD_KERNEL = 3,       /* the kernel's text: syntax, types, what is not supported */
  TW_NO_DEVICE = 4,        /* no driver, no such device, no compiler for it */
  TW_OUT_OF_RESOURCES = 5, /* memory; or the target's shared memory, registers, threads */
  TW_DEVICE_ERROR = 6,     /* what the CUDA driver reports */
  TW_RUN_ERROR = 7,        /* the kernel ran into an assertion or a check */
  TW_IO = 8,               /* files */
  TW_INTERNAL = 9          /* a defect in tilewright */
} tw_status;

/* The message and kind of the last failure on the calling thread; "" when there was none. Valid
 * until the thread's next call. */
TW_API const char* tw_last_error(void);
TW_API const char* tw_last_error_kind(void);

/* "0.1.0". */
TW_API const char* tw_version(void);

/* Element types. i1 is one byte in memory. */
typedef enum tw_dtype {
  TW_I1 = 0,
  TW_I8,
  TW_I16,
  TW_I32,
  TW_I64,
  TW_U8,
  TW_U16,
  TW_U32,
  TW_U64,
  TW_F8E4M3, /* Triton's float8e4nv */
  TW_F8E5M2, /* Triton's float8e5 */
  TW_F16,
  TW_BF16,
  TW_F32,
  TW_F64
} tw_dtype;

/* ---- values -------------------------------------------------------------------------------- */

typedef enum tw_value_kind {
  TW_NONE = 0,    /* Python's None */
  TW_BOOL = 1,    /* integer: 0 or 1 */
  TW_INT = 2,     /* integer */
  TW_UINT = 3,    /* integer, as uint64_t */
  TW_FLOAT = 4,   /* number */
  TW_POINTER = 5, /* pointer, dtype, bytes */
  TW_STRING = 6,  /* string */
  TW_DTYPE = 7    /* dtype: a type as a constant, such as tl.float16 */
} tw_value_kind;

/* One value of a call. `name` null: the next parameter that no named value fills; else the
 * parameter of that name. num_warps, num_stages and maxnreg may also come
 * by name. */
typedef struct tw_value {
  const char* name;
  int32_t kind;  /* tw_value_kind */
  int32_t dtype; /* tw_dtype; for TW_POINTER that of the elements, or -1: as the kernel annotates */
  union {
    int64_t integer;
    double number;
    const void*
        pointer; /* on the device of the context: device memory for CUDA, else host memory */
    const char* string;
  } as;
  uint64_t bytes; /* TW_POINTER: size of the memory, which the checking devices use; 0: unknown */
} tw_value;

/* ---- contexts ------------------------------------------------------------------------------ */

/* A device and what was compiled for it. */
typedef struct tw_context tw_context;

typedef struct tw_context_options {
  size_t struct_size;
  /* "auto" (the first GPU there is code for, else the CPU), "cuda", "cuda:1", "cpu", "interp",
   * "emulated", "emulated:sm_90". Null: auto. */
  const char* device;
  /* Directory of the disk cache of compiled kernels, or "off". Null: TILEWRIGHT_CACHE, else
   * $XDG_CACHE_HOME/tilewright, else ~/.cache/tilewright. */
  const char* cache;
} tw_context_options;

/* Errors: TW_NO_DEVICE. `auto` always finds a device. */
TW_API tw_status tw_context_create(const tw_context_options* options, tw_context** out);
TW_API void tw_context_destroy(tw_context* context);

typedef struct tw_device_info {
  size_t struct_size;
  const char* kind;   /* "cuda", "cpu", "emulated", "interp"; strings belong to the context */
  const char* name;   /* "NVIDIA H200" */
  const char* target; /* "sm_90", "cpu" */
  int32_t ordinal;    /* of CUDA devices, else -1 */
  int32_t multiprocessors;
  uint64_t memory_bytes; /* 0 on the host */
} tw_device_info;

TW_API tw_status tw_context_device(const tw_context* context, tw_device_info* info);

/* Waits for a CUDA stream, or for all work of the device when null; reports errors of kernels that
 * ran. Returns at once on host devices, where launches have ended when they return. */
TW_API tw_status tw_context_synchronize(tw_context* context, void* stream);

typedef struct tw_cache_info {
  size_t struct_size;
  uint64_t compiled;    /* kernels that went through the whole pipeline */
  uint64_t memory_hits; /* that this context had */
  uint64_t disk_hits;   /* that came from disk */
} tw_cache_info;

TW_API tw_status tw_context_cache(const tw_context* context, tw_cache_info* info);

/* ---- environments -------------------------------------------------------------------------- */

/* Values for the free names of a kernel's text: what the module around it defined. `tl` and
 * `triton` need none: they mean Triton's modules unless the text defines them. */
typedef struct tw_environment tw_environment;

TW_API tw_status tw_environment_create(tw_environment** out);
TW_API void tw_environment_destroy(tw_environment* environment);
/* A constant or a dtype. Pointers are refused. `value->name` is ignored. Setting a name again
 * replaces its value. */
TW_API tw_status tw_environment_set(tw_environment* environment, const char* name,
                                    const tw_value* value);
/* Makes `name` stand for the @triton.jit function `function` of `source`, whose own free names
 * `own_environment` (or null) defines. The texts of one kernel are compiled as one, so a name may
 * not mean different things in them: that is TW_BAD_KERNEL, kind `unsupported-environment`, when
 * the kernel is created. `source` null: a function of the kernel's own text. */
TW_API tw_status tw_environment_set_function(tw_environment* environment, const char* name,
                                             const char* source, const char* function,
                                             const tw_environment* own_environment);

/* ---- kernels ------------------------------------------------------------------------------- */

/* A @triton.jit function on the device of a context, specialised when launched. */
typedef struct tw_kernel tw_kernel;

/* From the text of a file. `path` is what messages call it (null: "<source>"). Parses only; types
 * are checked when a launch or tw_kernel_prepare specialises the kernel. The environment may be
 * null, and may be changed or destroyed afterwards. Errors: TW_BAD_KERNEL. */
TW_API tw_status tw_kernel_from_source(tw_context* context, const char* source, const char* path,
                                       const char* name, const tw_environment* environment,
                                       tw_kernel** out);
/* The same, reading the file. Errors: also TW_IO. */
TW_API tw_status tw_kernel_from_file(tw_context* context, const char* path, const char* name,
                                     const tw_environment* environment, tw_kernel** out);
TW_API void tw_kernel_destroy(tw_kernel* kernel);

/* "add(x, y, out, n, BLOCK: constexpr)"; belongs to the kernel. */
TW_API const char* tw_kernel_signature(const tw_kernel* kernel);
/* The number of parameters, and the name and constness of one (index 0 up to that number). */
TW_API size_t tw_kernel_parameter_count(const tw_kernel* kernel);
TW_API const char* tw_kernel_parameter_name(const tw_kernel* kernel, size_t index);
TW_API int tw_kernel_parameter_is_constexpr(const tw_kernel* kernel, size_t index);

typedef struct tw_launch_options {
  size_t struct_size;
  /* Program instances along the axes. Nothing runs if one is 0 (but see: all three 0, as in a
   * zeroed struct, means one instance). */
  uint32_t grid[3];
  int32_t num_warps;  /* 0: 4 */
  int32_t num_stages; /* 0: 3 */
  /* A CUstream or cudaStream_t, whose context and device are used. Null: the default stream of the
   * context's device. Must be null on host devices. */
  void* stream;
  int32_t no_fp_fusion; /* not 0: a*b+c is rounded twice */
  int32_t debug;        /* not 0: keep the kernel's assertions */
  int32_t threads;      /* on the CPU; 0: one per hardware thread */
  int32_t maxnreg;      /* registers a thread may use at most on a GPU; 0: as many as there are */
} tw_launch_options;

/* Runs the kernel. On a GPU the work is queued on the stream and the call returns; on the host it
 * has been done. The first launch of each specialisation compiles; later ones allocate nothing and
 * take no lock. Errors: TW_BAD_CALL, TW_BAD_KERNEL, TW_OUT_OF_RESOURCES, TW_NO_DEVICE (NVRTC),
 * TW_DEVICE_ERROR, TW_RUN_ERROR. */
TW_API tw_status tw_kernel_launch(tw_kernel* kernel, const tw_launch_options* options,
                                  const tw_value* values, size_t count);

typedef struct tw_kernel_info {
  size_t struct_size;
  int32_t registers;    /* per thread */
  int32_t shared_bytes; /* per block, static and dynamic */
  int32_t stack_bytes;  /* per thread */
  int32_t spills;       /* instructions that spill */
  int32_t threads;      /* per block */
  int32_t from_disk;    /* not 0: came from the disk cache */
  double compile_ms;
} tw_kernel_info;

/* Compiles and loads what a launch with these values needs, without running it. Afterwards launches
 * whose values specialise alike can be captured into a CUDA graph. `info` may be null; its device
 * numbers are 0 on the host. */
TW_API tw_status tw_kernel_prepare(tw_kernel* kernel, const tw_launch_options* options,
                                   const tw_value* values, size_t count, tw_kernel_info* info);

/* ---- code ---------------------------------------------------------------------------------- */

/* A specialisation compiled for a CUDA target, with no need of a GPU. */
typedef struct tw_code tw_code;

/* `target`: "sm_75" … "sm_120". The values are examples to specialise for: addresses are looked at
 * but not used. Errors as tw_kernel_launch, and TW_NO_DEVICE for an unknown target. */
TW_API tw_status tw_kernel_compile(tw_kernel* kernel, const char* target,
                                   const tw_launch_options* options, const tw_value* values,
                                   size_t count, tw_code** out);
TW_API void tw_code_destroy(tw_code* code);
/* The cubin for cuModuleLoadData, the name of its function, and how to launch it: threads along x,
 * bytes of dynamic shared memory. Pointers belong to the code. */
TW_API const void* tw_code_cubin(const tw_code* code, size_t* bytes);
TW_API const char* tw_code_entry(const tw_code* code);
TW_API int32_t tw_code_threads(const tw_code* code);
TW_API int32_t tw_code_dynamic_shared_bytes(const tw_code* code);

/* ---- memory -------------------------------------------------------------------------------- */

/* Memory of the context's device. Kernels take any pointer; this is for programs that have no
 * allocator of their own. */
typedef struct tw_buffer tw_buffer;

/* Aligned to 256 bytes; contents undefined. Errors: TW_OUT_OF_RESOURCES. */
TW_API tw_status tw_buffer_create(tw_context* context, size_t bytes, tw_buffer** out);
TW_API void tw_buffer_destroy(tw_buffer* buffer);
TW_API void* tw_buffer_data(const tw_buffer* buffer);
TW_API size_t tw_buffer_bytes(const tw_buffer* buffer);
/* Copies the first `bytes` bytes from or to host memory, after the work queued on `stream` (null:
 * the default stream). When they return, the copy has been done. */
TW_API tw_status tw_buffer_upload(tw_buffer* buffer, const void* from, size_t bytes, void* stream);
TW_API tw_status tw_buffer_download(const tw_buffer* buffer, void* to, size_t bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TILEWRIGHT_TILEWRIGHT_H */
