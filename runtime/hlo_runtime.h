/* hlo_runtime.h - what a program compiled by hlo-lite asks of its surroundings.
 *
 * An object that hlo-lite writes refers, weakly, to one function: hlo_parallel_for. Linked without
 * it, the object runs on the calling thread. libhlo_lite_rt implements it with a pool of threads;
 * shared libraries and executables written by hlo-lite carry that pool inside, as a weak
 * definition; and a program may define its own instead, by the contract below. Custom calls are
 * functions of the program, of the form hlo_custom_call.
 *
 * Plain C11 and C++11 or later; no other header of hlo-lite is needed.
 */
#ifndef HLO_RUNTIME_H
#define HLO_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HLO_RT_API __attribute__((visibility("default")))
#else
#define HLO_RT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `body` on ranges [begin, end) that do not overlap and together cover [0, n), and returns
 * when all of those calls have returned.
 *
 *   body         may be called on any thread, the calling one included, in any order and at the
 * same time. It never fails. It sets the floating environment that it needs and restores it. ctx is
 * handed to every call of body as it is. n            number of items. Zero or less: body is not
 * called. grain        every range but the one that ends at n has a multiple of grain items, and
 * begins at a multiple of it. Less than 1 counts as 1. max_workers  the `worker` that body receives
 * lies in [0, max_workers), and no two calls of body that run at the same time on behalf of one
 * call of hlo_parallel_for have the same one: it selects scratch memory. Less than 1 counts as 1.
 *
 * Everything written before the call is visible to body; everything that body wrote is visible
 * after the call.
 *
 * It may be called from several threads at once. Code that hlo-lite generates never calls it from
 * inside body; an implementation must all the same be safe when that happens (the pool of
 * libhlo_lite_rt then runs the inner ranges on the thread that asks, with worker 0 of the inner
 * call). How the ranges are cut never changes a result.
 *
 * The pool of libhlo_lite_rt starts its threads at the first call that can use them. There are
 * HLO_NUM_THREADS of them, counting the caller (environment variable, 1 to 256), else as many as
 * the CPUs that the process may run on, or as its cgroup's quota, rounded up, where that is less.
 * Its threads block all signals and sleep when idle. A child of fork() starts with a pool of its
 * own; forking inside body is not supported. It never ends the process: where a thread cannot be
 * created it works with fewer. */
HLO_RT_API void hlo_parallel_for(void (*body)(void *ctx, int64_t begin, int64_t end,
                                              int32_t worker),
                                 void *ctx, int64_t n, int64_t grain, int32_t max_workers);

/* How many threads the pool of libhlo_lite_rt uses, the caller included: at least 1. Only
 * libhlo_lite_rt defines it; shared libraries and executables written by hlo-lite, and pools of
 * other makers, do not. */
HLO_RT_API int32_t hlo_num_threads(void);

/* The form of a custom call of the user: a module's custom_call_target="TARGET" calls
 * hlo_custom_TARGET, which the program defines with this type.
 *
 *   args, results  one pointer an array, tuples flattened in order; dense and row-major. Arguments
 * are only read. config         the backend_config of the instruction, not ended by a NUL;
 * config_bytes is its length.
 *
 * Returns 0, or anything else for failure: the compiled function then returns 2. It may run on any
 * thread. */
typedef int hlo_custom_call(void *const *args, void *const *results, const char *config,
                            size_t config_bytes);

#ifdef __cplusplus
}
#endif

#endif
