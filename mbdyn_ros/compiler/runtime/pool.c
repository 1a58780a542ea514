/* Threads for all programs of the process.

   They stay when they have nothing to do, for it takes longer to make one than to compute a
   thousand states. They watch for the next job for a moment, then sleep. A forked process makes its
   own. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

/* A job of n parts. Whoever is free takes a share. It stands on the stack of its caller, who waits
   until nobody helps. */
typedef struct job {
  size_t n, share;
  void (*run)(const void* job, size_t first, size_t last);
  const void* job;
  size_t next;
  int wanted;          /* helpers that may still come */
  int helpers;         /* at work */
  struct job* other;
} shared_job;

/* A thread that helps: where it went to sleep, -1 while it is awake. */
typedef struct helper {
  pthread_t thread;
  int processor;
  struct helper* other;
} helper;

/* All under the lock; `jobs` counts them, for those who watch without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, leave = PTHREAD_COND_INITIALIZER;
static shared_job* open_jobs;
static size_t jobs;
static helper* helpers;

enum { WATCH = 50000 };  /* ns */

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void take_shares(shared_job* job) {
  size_t first;
  while ((first = __atomic_fetch_add(&job->next, job->share, __ATOMIC_SEQ_CST)) < job->n) {
    job->run(job->job, first, job->n - first > job->share ? first + job->share : job->n);
  }
}

static void* help(void* pointer) {
  helper* self = (helper*)pointer;
  pthread_mutex_lock(&lock);
  for (;;) {
    shared_job* job = open_jobs;
    while (job && !job->wanted) job = job->other;
    if (job) {
      --job->wanted;
      __atomic_fetch_add(&job->helpers, 1, __ATOMIC_SEQ_CST);
      pthread_mutex_unlock(&lock);
      take_shares(job);
      pthread_mutex_lock(&lock);
      if (__atomic_fetch_sub(&job->helpers, 1, __ATOMIC_SEQ_CST) == 1) pthread_cond_broadcast(&leave);
      continue;
    }
    const size_t seen = __atomic_load_n(&jobs, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&lock);
    for (const long long start = now(); __atomic_load_n(&jobs, __ATOMIC_SEQ_CST) == seen && now() - start < WATCH;) {}
    pthread_mutex_lock(&lock);
    self->processor = sched_getcpu();
    while (__atomic_load_n(&jobs, __ATOMIC_SEQ_CST) == seen) pthread_cond_wait(&wake, &lock);
    self->processor = -1;
  }
  return NULL;
}

/* A forked process has none of its parent's threads, and nothing that they held. */
static void forget(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&wake, NULL);
  pthread_cond_init(&leave, NULL);
  open_jobs = NULL;
  helpers = NULL;
}

static void prepare(void) { pthread_atfork(NULL, NULL, forget); }

/* Signals go to the threads of the program. */
static void make_helpers(int number) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  sigset_t all, before;
  pthread_once(&once, prepare);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (; number > 0; --number) {
    helper* one = (helper*)malloc(sizeof *one);
    if (!one) break;
    one->processor = -1;
    one->other = helpers;
    if (pthread_create(&one->thread, NULL, help, one)) {
      free(one);
      break;
    }
    pthread_detach(one->thread);
    helpers = one;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Wake helpers for a job. One that sleeps where the caller runs is sent elsewhere: virtual
   machines count processors that rest as taken, and would wake it behind the caller's back. */
static void call_helpers(int wanted) {
  const int here = sched_getcpu();
  for (helper* one = helpers; one && wanted > 0; one = one->other, --wanted) {
    if (one->processor < 0) continue;
    cpu_set_t others;
    if (one->processor == here && !sched_getaffinity(0, sizeof others, &others)) {
      CPU_CLR(here, &others);
      pthread_setaffinity_np(one->thread, sizeof others, &others);
    }
    pthread_cond_signal(&wake);
  }
}

/* Run parts of 0 ... n on several threads. Parts start at multiples of `share`. */
static void share_out(size_t n, size_t share, int threads,
                      void (*run)(const void* job, size_t first, size_t last),
                      const void* pointer) {
  const size_t shares = (n + share - 1) / share;
  if ((size_t)threads > shares) threads = (int)shares;
  if (threads < 2) {
    run(pointer, 0, n);
    return;
  }
  shared_job job = {n, share, run, pointer, 0, threads - 1, 0, NULL};
  pthread_mutex_lock(&lock);
  int missing = threads - 1;
  for (const helper* one = helpers; one && missing; one = one->other) --missing;
  make_helpers(missing);
  job.other = open_jobs;
  open_jobs = &job;
  __atomic_fetch_add(&jobs, 1, __ATOMIC_SEQ_CST);
  call_helpers(threads - 1);
  pthread_mutex_unlock(&lock);
  take_shares(&job);
  pthread_mutex_lock(&lock);
  shared_job** place = &open_jobs;
  while (*place != &job) place = &(*place)->other;
  *place = job.other;
  pthread_mutex_unlock(&lock);
  for (const long long start = now(); __atomic_load_n(&job.helpers, __ATOMIC_SEQ_CST) && now() - start < WATCH;) {}
  if (!__atomic_load_n(&job.helpers, __ATOMIC_SEQ_CST)) return;
  pthread_mutex_lock(&lock);
  while (__atomic_load_n(&job.helpers, __ATOMIC_SEQ_CST)) pthread_cond_wait(&leave, &lock);
  pthread_mutex_unlock(&lock);
}
