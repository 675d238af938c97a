/* allocations.h - glibc's allocator with a countdown: the one allocation at which it ends fails. For the one source of a suite.
 * Sanitizers bring an allocator of their own. */
#ifndef HL_TEST_ALLOCATIONS_H
#define HL_TEST_ALLOCATIONS_H

#include <stdlib.h>

#if defined(__has_feature) /* as clang says what gcc says by a macro */
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL_ALLOCATIONS 1
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
static long allocations_left = -1;
/* As arenas and handles take it: not what LLVM allocates, which aborts. */
static long blocks_left = -1;

static int fails_now(void)
{
  return allocations_left >= 0 && allocations_left-- == 0;
}

void *malloc(size_t bytes)
{
  return fails_now() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
  if (count == 1 && blocks_left >= 0 && blocks_left-- == 0)
    return NULL;
  return fails_now() ? NULL : __libc_calloc(count, bytes);
}
#endif

#endif
