/* limits - what this machine can do at most: copies of memory, and fused multiply-adds. */
#ifndef HL_MACHINE_LIMITS_H
#define HL_MACHINE_LIMITS_H

#include <stdint.h>

typedef struct hl_limits {
  int threads;         /* that both were measured with */
  double copy_bytes;   /* read and written a second by a streaming copy; 0: no memory for it */
  double fma_flops;    /* f32 operations a second, two a multiply-add */
} hl_limits;

/* Measures both on so many threads of the pool; what the copy goes through, each way, is a multiple of 1 MiB beyond the caches.
 * Takes about 1 ms a MiB. */
hl_limits hl_limits_measure(int64_t copy_bytes, int threads);

#endif
