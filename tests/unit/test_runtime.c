/* test_runtime.c - hlo_parallel_for: what its contract promises, from one thread and from several.
 */
#define _GNU_SOURCE
#include "runtime/hlo_runtime.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ThreadSanitizer does not let a child of a process with threads start threads. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

enum { MOST_WORKERS = 8, MOST_ITEMS = 5000 };

/* One region under watch. Faults are counted, because Check's assertions belong to its own thread.
 */
typedef struct watch {
  int64_t n, grain;
  int32_t max_workers;
  _Atomic(int) faults;
  _Atomic(int) calls;
  _Atomic(bool) running[MOST_WORKERS];
  unsigned char visits[MOST_ITEMS]; /* not atomic: ThreadSanitizer sees ranges that overlap */
} watch;

static bool range_is_legal(const watch *w, int64_t begin, int64_t end, int32_t worker)
{
  return begin >= 0 && begin < end && end <= w->n && begin % w->grain == 0 &&
         (end == w->n || (end - begin) % w->grain == 0) && worker >= 0 && worker < w->max_workers;
}

static void visit(void *ctx, int64_t begin, int64_t end, int32_t worker)
{
  watch *w = ctx;
  w->calls++;
  if (!range_is_legal(w, begin, end, worker) || atomic_exchange(&w->running[worker], true)) {
    w->faults++;
    return;
  }
  for (int64_t i = begin; i < end; i++)
    w->visits[i]++;
  w->running[worker] = false;
}

static int faults_of(int64_t n, int64_t grain, int32_t max_workers)
{
  static _Thread_local watch w;
  memset(&w, 0, sizeof w);
  w.n = n;
  w.grain = grain < 1 ? 1 : grain;
  w.max_workers = max_workers < 1 ? 1 : max_workers;
  hlo_parallel_for(visit, &w, n, grain, max_workers);
  int faults = w.faults;
  for (int64_t i = 0; i < MOST_ITEMS; i++)
    faults += w.visits[i] != (i < n);
  return faults;
}

static const struct {
  int64_t n, grain;
  int32_t max_workers;
} shapes[] = {
    {0, 1, 4},     {-5, 1, 4},   {1, 1, 4},      {2, 1, 4},       {3, 1, 1},       {1000, 1, 2},
    {1000, 7, 2},  {1000, 7, 3}, {1000, 999, 4}, {1000, 1000, 4}, {1000, 1001, 4}, {4999, 64, 8},
    {5000, 64, 8}, {17, 0, 0},   {17, -3, -3},   {17, 16, 8},     {64, 16, 8},     {65, 16, 8},
};

static void one_thread(void)
{
  setenv("HLO_NUM_THREADS", "1", 1);
}

static void three_threads(void)
{
  setenv("HLO_NUM_THREADS", "3", 1);
}

START_TEST(covers_each_item_once)
{
  for (int i = 0; i < 50; i++)
    ck_assert_int_eq(faults_of(shapes[_i].n, shapes[_i].grain, shapes[_i].max_workers), 0);
}
END_TEST

START_TEST(many_regions)
{
  for (int i = 0; i < 20000; i++)
    ck_assert_int_eq(faults_of(i % 97, 1 + i % 5, 1 + i % 4), 0);
}
END_TEST

/* Longer than the spin, so that helpers sleep and are woken. */
START_TEST(regions_after_sleep)
{
  for (int i = 0; i < 20; i++) {
    usleep(1000);
    ck_assert_int_eq(faults_of(1000, 1, 3), 0);
  }
}
END_TEST

static void slow_item(void *ctx, int64_t begin, int64_t end, int32_t worker)
{
  _Atomic(int64_t) *done = ctx;
  (void)worker;
  usleep(300);
  *done += end - begin;
}

START_TEST(owner_sleeps_until_helpers_end)
{
  _Atomic(int64_t) done = 0;
  for (int i = 0; i < 20; i++)
    hlo_parallel_for(slow_item, &done, 3, 1, 3);
  ck_assert_int_eq(done, 60);
}
END_TEST

static void *caller(void *unused)
{
  (void)unused;
  intptr_t faults = 0;
  for (int i = 0; i < 2000; i++)
    faults += faults_of(300, 1 + i % 9, 3);
  return (void *)faults;
}

START_TEST(four_callers_at_once)
{
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, caller, NULL), 0);
  for (int i = 0; i < 4; i++) {
    void *faults = NULL;
    ck_assert_int_eq(pthread_join(threads[i], &faults), 0);
    ck_assert_int_eq((intptr_t)faults, 0);
  }
}
END_TEST

static void nested(void *ctx, int64_t begin, int64_t end, int32_t worker)
{
  _Atomic(int) *faults = ctx;
  (void)worker;
  for (int64_t i = begin; i < end; i++)
    *faults += faults_of(100 + i, 3, 2);
}

START_TEST(nested_call_is_safe)
{
  _Atomic(int) faults = 0;
  for (int i = 0; i < 100; i++)
    hlo_parallel_for(nested, &faults, 20, 1, 4);
  ck_assert_int_eq(faults, 0);
}
END_TEST

typedef struct seen {
  _Atomic(int) others, signals_open, calls;
  pthread_t owner;
} seen;

static void look_at_thread(void *ctx, int64_t begin, int64_t end, int32_t worker)
{
  seen *s = ctx;
  (void)begin, (void)end, (void)worker;
  s->calls++;
  usleep(200); /* long enough for a helper to join */
  if (pthread_equal(pthread_self(), s->owner))
    return;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  s->others++;
  s->signals_open += !sigismember(&mask, SIGINT) || !sigismember(&mask, SIGPROF);
}

START_TEST(helpers_work_and_block_signals)
{
  seen s = {.owner = pthread_self()};
  for (int i = 0; i < 200 && !s.others; i++)
    hlo_parallel_for(look_at_thread, &s, 12, 1, 3);
  ck_assert_int_gt(s.others, 0);
  ck_assert_int_eq(s.signals_open, 0);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  ck_assert(!sigismember(&mask, SIGINT));
}
END_TEST

START_TEST(one_thread_runs_inline)
{
  seen s = {.owner = pthread_self()};
  hlo_parallel_for(look_at_thread, &s, 100, 1, 8);
  ck_assert_int_eq(s.calls, 1);
  ck_assert_int_eq(s.others, 0);
  ck_assert_int_eq(hlo_num_threads(), 1);
}
END_TEST

START_TEST(environment_sets_size)
{
  ck_assert_int_eq(hlo_num_threads(), 3);
}
END_TEST

static int32_t threads_under(const char *setting)
{
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    setenv("HLO_NUM_THREADS", setting, 1);
    _exit(hlo_num_threads() & 0xff);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(odd_settings)
{
  int32_t usual = threads_under("");
  ck_assert_int_ge(usual, 1);
  ck_assert_int_eq(threads_under("0"), usual);
  ck_assert_int_eq(threads_under("-4"), usual);
  ck_assert_int_eq(threads_under("2x"), usual);
  ck_assert_int_eq(threads_under("7"), 7);
  ck_assert_int_eq(threads_under("100000"), 256 & 0xff);
}
END_TEST

#ifndef UNDER_TSAN
/* How many ranges helpers have run once one has; 0 if none ever does. */
static int helpers_seen(void)
{
  seen s = {.owner = pthread_self()};
  for (int i = 0; i < 200 && !s.others; i++)
    hlo_parallel_for(look_at_thread, &s, 12, 1, 3);
  return s.others;
}

START_TEST(child_of_fork_has_its_own_pool)
{
  ck_assert_int_gt(helpers_seen(), 0);
  pid_t child = fork();
  if (child == 0)
    _exit(faults_of(1000, 7, 3) == 0 && helpers_seen() > 0 ? 0 : 1);
  int status = 0;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ck_assert_int_eq(faults_of(1000, 1, 3), 0);
}
END_TEST
#endif

static void far_end(void *ctx, int64_t begin, int64_t end, int32_t worker)
{
  _Atomic(int64_t) *items = ctx;
  (void)worker;
  *items += end - begin;
}

START_TEST(largest_counts_do_not_overflow)
{
  static const int64_t grains[] = {INT64_MAX / 2, INT64_MAX / 3, INT64_MAX - 1, INT64_MAX, 1};
  for (size_t i = 0; i < sizeof grains / sizeof *grains; i++) {
    _Atomic(int64_t) items = 0;
    hlo_parallel_for(far_end, &items, INT64_MAX, grains[i], INT32_MAX);
    ck_assert_int_eq(items, INT64_MAX);
  }
}
END_TEST

static void add_three_thread_tests(TCase *t)
{
  tcase_add_checked_fixture(t, three_threads, NULL);
  tcase_add_loop_test(t, covers_each_item_once, 0, (int)(sizeof shapes / sizeof *shapes));
  tcase_add_test(t, many_regions);
  tcase_add_test(t, regions_after_sleep);
  tcase_add_test(t, owner_sleeps_until_helpers_end);
  tcase_add_test(t, four_callers_at_once);
  tcase_add_test(t, nested_call_is_safe);
  tcase_add_test(t, helpers_work_and_block_signals);
  tcase_add_test(t, environment_sets_size);
  tcase_add_test(t, odd_settings);
#ifndef UNDER_TSAN
  tcase_add_test(t, child_of_fork_has_its_own_pool);
#endif
  tcase_add_test(t, largest_counts_do_not_overflow);
}

int main(void)
{
  Suite *suite = suite_create("runtime");
  TCase *three = tcase_create("three threads");
  add_three_thread_tests(three);
  tcase_set_timeout(three, 60);
  suite_add_tcase(suite, three);
  TCase *one = tcase_create("one thread");
  tcase_add_checked_fixture(one, one_thread, NULL);
  tcase_add_loop_test(one, covers_each_item_once, 0, (int)(sizeof shapes / sizeof *shapes));
  tcase_add_test(one, one_thread_runs_inline);
  suite_add_tcase(suite, one);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
