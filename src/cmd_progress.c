/* cmd_progress - a line on a terminal that says what a command is at, once a step takes longer than a second.
 *
 * A thread of its own writes the line, again each second, and whoever ends a step or prints something takes it away
 * before. Nothing is written where standard error is no terminal. */
#include "progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct hl_progress {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed; /* by the clock that does not jump */
  const char *step;       /* NULL: none runs */
  struct timespec start;
  bool is_shown, is_ended;
};

static void take_away(hl_progress *p)
{
  if (p->is_shown)
    fputs("\r\033[K", stderr);
  p->is_shown = false;
}

/* Waits for the next full second of the step, or for another. */
static void watch(hl_progress *p)
{
  if (!p->step) {
    pthread_cond_wait(&p->changed, &p->lock);
    return;
  }
  const char *step = p->step;
  struct timespec now, next = p->start;
  clock_gettime(CLOCK_MONOTONIC, &now);
  next.tv_sec += now.tv_sec - p->start.tv_sec - (now.tv_nsec < p->start.tv_nsec) + 1;
  int timed_out = pthread_cond_timedwait(&p->changed, &p->lock, &next);
  if (!timed_out || p->step != step || p->is_ended)
    return;
  fprintf(stderr, "\r%s, %lld s\033[K", step, (long long)(next.tv_sec - p->start.tv_sec));
  p->is_shown = true;
}

static void *run(void *data)
{
  hl_progress *p = data;
  pthread_mutex_lock(&p->lock);
  while (!p->is_ended)
    watch(p);
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

static void initialise(hl_progress *p)
{
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&p->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&p->lock, NULL);
}

static void destroy(hl_progress *p)
{
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

hl_progress *hl_progress_new(void)
{
  hl_progress *p = isatty(STDERR_FILENO) ? calloc(1, sizeof *p) : NULL;
  if (!p)
    return NULL;
  initialise(p);
  if (pthread_create(&p->thread, NULL, run, p) == 0)
    return p;
  destroy(p);
  return NULL;
}

void hl_progress_step(hl_progress *p, const char *step)
{
  if (!p)
    return;
  pthread_mutex_lock(&p->lock);
  take_away(p);
  p->step = step;
  clock_gettime(CLOCK_MONOTONIC, &p->start);
  pthread_cond_signal(&p->changed);
  pthread_mutex_unlock(&p->lock);
}

void hl_progress_clear(hl_progress *p)
{
  if (!p)
    return;
  pthread_mutex_lock(&p->lock);
  take_away(p);
  pthread_mutex_unlock(&p->lock);
}

void hl_progress_free(hl_progress *p)
{
  if (!p)
    return;
  pthread_mutex_lock(&p->lock);
  take_away(p);
  p->is_ended = true;
  pthread_cond_signal(&p->changed);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->thread, NULL);
  destroy(p);
}
