/* The bound and the plain call: programs as functions of CPython's own kind.

   A bound call runs a program on arrays that stay, checks nothing, and costs next to nothing. A
   plain call reads its arguments, runs the program, checks everything and returns a new array, a
   quarter of a microsecond in all. It serves float64 arrays of the exact shape and finite numbers,
   and keeps nothing between calls; for anything else it returns None, and the caller finds out
   why. */

/* The parts of CPython's and NumPy's stable interfaces that are used here. Their headers are not
   everywhere where a compiler is; what is declared here stays as it is, and a test compares it with
   them. */
typedef struct _object py_object;
typedef struct {
  ptrdiff_t uses;
  py_object* type;
} py_head;  /* what every object begins with */
typedef struct {
  py_head head;
  py_object* type;
  char kind, letter, order;
} np_kind;  /* what the kind of an array's numbers begins with */
typedef struct {
  py_head head;
  char* data;
  int dimensions;
  const ptrdiff_t *shape, *strides;
  py_object* base;
  const np_kind* kind;
} np_array;  /* what an array begins with: asking it for a buffer would take ten times as long */
typedef struct {
  const char* name;
  void (*call)(void);
  int flags;
  const char* doc;
} py_method;
enum { PY_NOARGS = 0x4, PY_FASTCALL = 0x80 };
extern py_object _Py_NoneStruct;
py_object* PyCFunction_NewEx(py_method* method, py_object* self, py_object* module);
py_object* PyObject_CallFunctionObjArgs(py_object* function, ...);
py_object* PyTuple_GetItem(py_object* tuple, ptrdiff_t i);
void PyErr_Clear(void);
void Py_IncRef(py_object* object);
void Py_DecRef(py_object* object);

static py_object* none(void) {
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

/* What a call of ours runs stands in an array of addresses, with which its `self` begins; what else
   that holds stays alive. */
static const void* block_of(py_object* self) {
  return ((const np_array*)PyTuple_GetItem(self, 0))->data;
}

/* What a bound call runs: the addresses of the inputs, of home, and of the result. */
struct bound {
  const struct program* program;
  double* array[];
};

static py_object* bound_call(py_object* self, py_object* nothing) {
  const struct bound* bound = block_of(self);
  (void)nothing;
  run(bound->program, (const double* const*)bound->array,
      bound->array + bound->program->inputs + 2);
  return none();
}

EXPORTED py_object* new_bound_call(py_object* self) {
  static py_method method = {"bound_call", (void (*)(void))bound_call, PY_NOARGS, NULL};
  return PyCFunction_NewEx(&method, self, NULL);
}

/* Whether any of n numbers is NaN or infinite: all bits of the exponent are set. */
static int not_finite(const double* x, size_t n) {
  const int64_t exponent = 0x7ff0000000000000;
  bitsv bad = {0};
  bits1 rest = 0;
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    bitsv bits;
    memcpy(&bits, x + i, sizeof bits);
    bad |= (bits & exponent) == exponent;
  }
  for (; i < n; ++i) rest |= (bits_of1(x[i]) & exponent) == exponent;
  return anyv(bad) || rest;
}

/* Run the program; whether all of its n numbers `given` and its result are finite, and
   quaternions unit. */
static int checked(const struct program* program, const double* const* arg, const double* given,
                   size_t n, double* result) {
  double* res[] = {result};
  run(program, arg, res);
  int bad = not_finite(result, program->size) | not_finite(given, n);
  for (size_t i = 0; i < program->quaternions; ++i) {
    const double* x = arg[0] + program->quaternion[i];
    bad |= fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 1) > UNIT_TOLERANCE;
  }
  return !bad;
}

/* The numbers of a float64 array (n,) of this very type, and whether it is one: what is derived
   from arrays may hide some of its numbers. */
static int read_numbers(py_object* type, py_object* from, size_t n, double* to) {
  const np_array* array = (const np_array*)from;
  if (array->head.type != type || array->dimensions != 1 || *array->shape != (ptrdiff_t)n) return 0;
  if (array->kind->letter != 'd' || array->kind->order != '=') return 0;
  for (size_t i = 0; i < n; ++i) {
    memcpy(to + i, array->data + (ptrdiff_t)i * *array->strides, sizeof *to);
  }
  return 1;
}

/* What a plain call runs, and what arguments behind the program's must be: `count` others. */
struct plain {
  const struct program* program;
  const double* home;
  py_object *empty, *shape, *type;
  ptrdiff_t count;
  py_object* other[];
};

static py_object* plain_call(py_object* self, py_object* const* given, ptrdiff_t count) {
  const struct plain* plain = block_of(self);
  const struct program* program = plain->program;
  const ptrdiff_t n = (ptrdiff_t)program->inputs;
  double few[ON_STACK], *numbers = room_for(program->total, few), *place = numbers;
  const double* arg[MOST_ARGUMENTS];
  py_object* result = NULL;
  int fits = numbers && (count == n || count == n + plain->count);
  for (ptrdiff_t i = n; fits && i < count; ++i) fits = given[i] == plain->other[i - n];
  for (ptrdiff_t i = 0; fits && i < n; ++i) {
    const size_t size = size_of(program->input + i);
    fits = read_numbers(plain->type, given[i], size, place);
    arg[i] = place;
    place += size;
  }
  if (fits) {
    arg[n] = plain->home;
    arg[n + 1] = NULL;
    result = PyObject_CallFunctionObjArgs(plain->empty, plain->shape, NULL);
    fits = result && checked(program, arg, numbers, program->total,
                             (double*)((const np_array*)result)->data);
  }
  leave_room(numbers, few);
  if (fits) return result;
  if (result) Py_DecRef(result);
  PyErr_Clear();
  return none();
}

EXPORTED py_object* new_plain_call(py_object* self) {
  static py_method method = {"plain_call", (void (*)(void))plain_call, PY_FASTCALL, NULL};
  return PyCFunction_NewEx(&method, self, NULL);
}
