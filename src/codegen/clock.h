/* clock - seconds that only go forward, for the times of stages and runs. */
#ifndef HL_CLOCK_H
#define HL_CLOCK_H

#include <time.h>

static inline double hl_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
