/* What a program's library says about itself. Its text includes this, writes the equations as a
   function `core`, and exports one `struct program`; all that runs it is in the runtime library. */
#pragma once
#include "elementary.h"

#ifdef __cplusplus
#define EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

/* An array as NumPy has it. */
struct array {
  const char* name;
  size_t rows, columns;
};

static inline size_t size_of(const struct array* array) { return array->rows * array->columns; }

/* The numbers of inputs and result stand row by row; `total` and `size` are how many there are of
   all inputs together, and of the result. */
struct program {
  const struct array* input;
  size_t inputs, rows, columns, total, size;

  /* Where in the first input unit quaternions begin. */
  const size_t* quaternion;
  size_t quaternions;

  /* Loops without closed form: `close` finds the z dependent positions at q, the first input, from
     walks that start at `home`; it gives 0 where they stay open. It stands in a library that all
     programs of a robot share, and whoever loads both puts it here; NULL where there are none. Who
     follows a motion has `memory` numbers of its own, zero at first, where `close` keeps how the
     loops were closed last (only the first, see `struct memory`, is the caller's to set); without
     them (NULL) the answer is that of q and home alone. */
  int (*close)(const double* q, const double* home, double* memory, double* z);
  size_t z;

  /* What stands in `home`: that many numbers of loops, and behind them the parameters of the
     equations, which are no input. */
  size_t home, parameters;
  size_t memory;

  /* What all programs of the robot need of its loops besides z: this many numbers follow z, put
     there by a function of q and z from the same library; 0 where the equations need none. */
  size_t terms;
  void (*find_terms)(const double* const* arg, double* const* res);

  /* The equations, of one state or of a vector of them; the library has one of the two. Behind q
     stands z where loops are to be closed, and behind all stand the parameters. */
  void (*scalar)(const double* const* arg, double* const* res);
  void (*batched)(const realv* const* arg, realv* const* res);

  /* The vectors' library: those over states `first` to `last` of a `struct batch`. */
  void (*batch)(const void* job, size_t first, size_t last);

  /* The library of the rate of q: the motions `first` to `last` of a `struct rollout`. */
  void (*rollout)(const void* job, size_t first, size_t last);

  /* Operations of one run, about. */
  size_t operations;
};

/* Inputs, home, parameters and memory of any program have room in this many addresses. */
enum { MOST_ARGUMENTS = 24 };

struct batch {
  const struct program* program;
  const double* const* start;  /* of every input, then of home */
  const size_t* step;          /* from state to state; 0 where one serves all. Homes may differ in
                                  their parameters alone. */
  double* result;
};

struct rollout {
  const struct program* forward;  /* accelerations of (q, v, effort) */
  const double *q, *v, *effort, *home;
  size_t step_q, step_v, step_effort, step_home, steps;
  double dt, *q_out, *v_out;
  int method, whole;
  const double* limits;  /* lower and upper ones of q */
  int* left;             /* set where a motion ends beyond them */
};
