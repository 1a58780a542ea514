/* A robot as a unit of FMI 3.0, for model exchange and co-simulation.
 *
 * The declarations are those of the standard (fmi-standard.org, version 3.0), as far as this file
 * defines them; fmu_model.h has the robot's. The state is [q; v], its rate [v; a(q, v, effort)].
 * Value references: 0 the time, then efforts, q, v, rates of q, and a, one after the other.
 * Co-simulation takes steps of DOP853 within a communication step, in which efforts are constant.
 */
#include "fmu_model.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dop853.h"

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void *fmi3Instance;
typedef uint32_t fmi3ValueReference;
typedef const char *fmi3String;
typedef void (*fmi3LogMessage)(void *environment, fmi3Status, fmi3String category, fmi3String);

enum {
  STATES = NQ + NV,
  FIRST_EFFORT = 1,
  FIRST_STATE = FIRST_EFFORT + EFFORTS,
  FIRST_RATE = FIRST_STATE + STATES,
  VARIABLES = FIRST_RATE + STATES,
  MOST_STEPS = 1000000 /* within one communication step */
};

typedef struct {
  double time, tolerance, step;
  double effort[EFFORTS + 1], state[STATES];
  double slope[STATES]; /* at the state, where `known` */
  double next[STATES], memory[ROWS_OF_A_STEP * STATES]; /* of a step */
  bool known, failed;
  void *environment;
  fmi3LogMessage log;
  LOOPS
} unit;

static fmi3Status failed(unit *self, const char *text) {
  self->failed = true;
  if (self->log) self->log(self->environment, fmi3Error, "logStatusError", text);
  return fmi3Error;
}

static int rates(unit *self, const double *state, double *rate) {
  memcpy(rate, state + NQ, NV * sizeof(double));
  return ACCELERATIONS(self, state, state + NQ, self->effort, rate + NQ);
}

static void rates_or_nan(const void *self, const double *state, double *rate) {
  int n;
  if (!rates((unit *)self, state, rate)) return;
  for (n = 0; n < STATES; ++n) rate[n] = NAN;
}

static void start(unit *self) {
  static const double home[NQ] = {HOME};
  self->time = 0, self->tolerance = 1e-9, self->step = 0;
  self->known = self->failed = false;
  memset(self->effort, 0, sizeof self->effort);
  memset(self->state, 0, sizeof self->state);
  memcpy(self->state, home, sizeof home);
  START_LOOPS(self);
}

/* -- making, ending ----------------------------------------------------------------------------- */

static fmi3Instance made(fmi3String token, void *environment, fmi3LogMessage log) {
  unit *self;
  if (!token || strcmp(token, TOKEN) != 0) return NULL;
  self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->environment = environment, self->log = log;
  start(self);
  return self;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token,
    fmi3String resources, bool visible, bool logging, void *environment, fmi3LogMessage log) {
  (void)name, (void)resources, (void)visible, (void)logging;
  return made(token, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token,
    fmi3String resources, bool visible, bool logging, bool events, bool early,
    const fmi3ValueReference intermediate[], size_t count, void *environment, fmi3LogMessage log,
    void (*update)(void)) {
  (void)name, (void)resources, (void)visible, (void)logging, (void)events, (void)early;
  (void)intermediate, (void)count, (void)update;
  return made(token, environment, log);
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(void) { return NULL; }

EXPORT void fmi3FreeInstance(fmi3Instance self) { free(self); }

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, bool given, double tolerance,
    double time, bool ends, double end) {
  unit *self = instance;
  (void)ends, (void)end;
  self->time = time;
  if (given && tolerance > 0) self->tolerance = tolerance;
  return fmi3OK;
}

EXPORT fmi3Status fmi3Reset(fmi3Instance self) {
  start(self);
  return fmi3OK;
}

#define CHANGES_NOTHING(name) \
  EXPORT fmi3Status name(fmi3Instance self) { \
    return ((unit *)self)->failed ? fmi3Error : fmi3OK; \
  }
CHANGES_NOTHING(fmi3ExitInitializationMode)
CHANGES_NOTHING(fmi3EnterEventMode)
CHANGES_NOTHING(fmi3EnterContinuousTimeMode)
CHANGES_NOTHING(fmi3EnterStepMode)
CHANGES_NOTHING(fmi3EnterConfigurationMode)
CHANGES_NOTHING(fmi3ExitConfigurationMode)
CHANGES_NOTHING(fmi3EvaluateDiscreteStates)
CHANGES_NOTHING(fmi3Terminate)
CHANGES_NOTHING(fmi3SetDebugLogging)
CHANGES_NOTHING(fmi3GetEventIndicators)

/* -- variables ---------------------------------------------------------------------------------- */

EXPORT fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference which[],
    size_t count, double values[], size_t size) {
  unit *self = instance;
  double rate[STATES];
  bool known = false;
  size_t k;
  if (count != size) return failed(self, "fmi3GetFloat64: every variable has one value");
  for (k = 0; k < count; ++k) {
    if (which[k] == 0) {
      values[k] = self->time;
    } else if (which[k] < FIRST_STATE) {
      values[k] = self->effort[which[k] - FIRST_EFFORT];
    } else if (which[k] < FIRST_RATE) {
      values[k] = self->state[which[k] - FIRST_STATE];
    } else if (which[k] < VARIABLES) {
      if (!known && rates(self, self->state, rate)) return failed(self, NOT_FINITE);
      known = true;
      values[k] = rate[which[k] - FIRST_RATE];
    } else {
      return failed(self, "fmi3GetFloat64: there is no variable of this value reference");
    }
  }
  return fmi3OK;
}

EXPORT fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference which[],
    size_t count, const double values[], size_t size) {
  unit *self = instance;
  size_t k;
  if (count != size) return failed(self, "fmi3SetFloat64: every variable has one value");
  for (k = 0; k < count; ++k) {
    if (which[k] >= FIRST_EFFORT && which[k] < FIRST_STATE) {
      self->effort[which[k] - FIRST_EFFORT] = values[k];
    } else if (which[k] >= FIRST_STATE && which[k] < FIRST_RATE) {
      self->state[which[k] - FIRST_STATE] = values[k];
    } else {
      return failed(self, "fmi3SetFloat64: this variable is computed, it cannot be set");
    }
  }
  self->known = false;
  return fmi3OK;
}

/* -- model exchange ----------------------------------------------------------------------------- */

EXPORT fmi3Status fmi3SetTime(fmi3Instance self, double time) {
  ((unit *)self)->time = time;
  return fmi3OK;
}

EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const double states[],
    size_t count) {
  unit *self = instance;
  if (count != STATES) return failed(self, "fmi3SetContinuousStates: wrong number of states");
  memcpy(self->state, states, sizeof self->state);
  self->known = false;
  return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance instance, double states[], size_t count) {
  unit *self = instance;
  if (count != STATES) return failed(self, "fmi3GetContinuousStates: wrong number of states");
  memcpy(states, self->state, sizeof self->state);
  return fmi3OK;
}

EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, double values[],
    size_t count) {
  unit *self = instance;
  if (count != STATES) return failed(self, "fmi3GetContinuousStateDerivatives: wrong number");
  return rates(self, self->state, values) ? failed(self, NOT_FINITE) : fmi3OK;
}

EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance self, double values[],
    size_t count) {
  size_t k;
  (void)self;
  for (k = 0; k < count; ++k) values[k] = 1;
  return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance self, size_t *count) {
  (void)self;
  *count = STATES;
  return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance self, size_t *count) {
  (void)self;
  *count = 0;
  return fmi3OK;
}

EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance self, bool keeps, bool *event,
    bool *ends) {
  (void)self, (void)keeps;
  *event = *ends = false;
  return fmi3OK;
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance self, bool *again, bool *ends,
    bool *nominals, bool *values, bool *timed, double *time) {
  (void)self, (void)time;
  *again = *ends = *nominals = *values = *timed = false;
  return fmi3OK;
}

/* -- co-simulation ------------------------------------------------------------------------------ */

EXPORT fmi3Status fmi3DoStep(fmi3Instance instance, double point, double size, bool keeps,
    bool *event, bool *ends, bool *early, double *last) {
  unit *self = instance;
  const double end = point + size;
  const double limits[] = {end, fabs(size), self->tolerance, 0.01 * self->tolerance};
  double times[2] = {point, point}, length;
  int count;
  (void)keeps;
  *event = *ends = *early = false;
  self->time = point;
  if (!self->known && rates(self, self->state, self->slope)) return failed(self, NOT_FINITE);
  self->known = true;
  if (!(self->step > 0)) self->step = fmin(size, 1e-3);
  for (count = 0; times[0] < end; ++count) {
    if (count == MOST_STEPS) return failed(self, "fmi3DoStep: too many steps");
    length = self->step;
    if (!one_step(rates_or_nan, self, STATES, times, limits, &length, self->state, self->slope,
            self->next, self->memory)) return failed(self, NOT_FINITE);
    memcpy(self->state, self->next, sizeof self->next);
    self->time = times[0] = times[1];
    /* A step that the end cut short does not make the next shorter. */
    if (times[0] < end || length > self->step) self->step = length;
  }
  *last = self->time = end;
  return fmi3OK;
}

/* -- what a robot has not ----------------------------------------------------------------------- */

#define NO_VARIABLES(type, c) \
  EXPORT fmi3Status fmi3Get##type(fmi3Instance self, const fmi3ValueReference which[], \
      size_t count, c values[], size_t size) { \
    (void)self, (void)which, (void)values, (void)size; \
    return count ? fmi3Error : fmi3OK; \
  } \
  EXPORT fmi3Status fmi3Set##type(fmi3Instance self, const fmi3ValueReference which[], \
      size_t count, const c values[], size_t size) { \
    (void)self, (void)which, (void)values, (void)size; \
    return count ? fmi3Error : fmi3OK; \
  }
NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)
NO_VARIABLES(String, fmi3String)

#define IS_REFUSED(name) \
  EXPORT fmi3Status name(void) { return fmi3Error; }
IS_REFUSED(fmi3GetBinary)
IS_REFUSED(fmi3SetBinary)
IS_REFUSED(fmi3GetClock)
IS_REFUSED(fmi3SetClock)
IS_REFUSED(fmi3GetNumberOfVariableDependencies)
IS_REFUSED(fmi3GetVariableDependencies)
IS_REFUSED(fmi3GetFMUState)
IS_REFUSED(fmi3SetFMUState)
IS_REFUSED(fmi3FreeFMUState)
IS_REFUSED(fmi3SerializedFMUStateSize)
IS_REFUSED(fmi3SerializeFMUState)
IS_REFUSED(fmi3DeserializeFMUState)
IS_REFUSED(fmi3GetDirectionalDerivative)
IS_REFUSED(fmi3GetAdjointDerivative)
IS_REFUSED(fmi3GetIntervalDecimal)
IS_REFUSED(fmi3GetIntervalFraction)
IS_REFUSED(fmi3GetShiftDecimal)
IS_REFUSED(fmi3GetShiftFraction)
IS_REFUSED(fmi3SetIntervalDecimal)
IS_REFUSED(fmi3SetIntervalFraction)
IS_REFUSED(fmi3SetShiftDecimal)
IS_REFUSED(fmi3SetShiftFraction)
IS_REFUSED(fmi3GetOutputDerivatives)
IS_REFUSED(fmi3ActivateModelPartition)
