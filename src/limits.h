/* limits - what this machine can do at most: copies of memory, and fused multiply-adds. */
#ifndef HL_MACHINE_LIMITS_H
#define HL_MACHINE_LIMITS_H

#include <stdint.h>

typedef struct hl_limits {
  int threads;         /* that both were measured with */
  double copy_bytes;   /* read and written a second by a streaming copy; 0: no memory for it */
  double fma_flops;    /* f32 operations a second, two a fused multiply-add; 0: unknown here */
} hl_limits;

/* Measures both on the threads of the pool. Takes about half a second. */
hl_limits hl_limits_measure(void);

/* What the copy goes through, each way. */
enum { HL_LIMITS_COPY_BYTES = 256 << 20 };

#endif
