"""The bound and the plain call: compiled programs as functions of CPython's own kind.

A bound call runs the program on arrays that stay, checks nothing, and costs next to nothing. A
plain call reads its arguments, runs the program, checks everything and returns a new array, a
quarter of a microsecond in all. It serves float64 arrays of the exact shape and finite numbers, and
keeps nothing between calls; for anything else it returns None, and the caller finds out why.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array import Array
from ..program.declaration import Declaration

if TYPE_CHECKING:
    from .kernel import Kernel

CALLS = """
/* The part of CPython's stable interface that is used here; its headers are not everywhere. */
typedef struct _object py_object;
typedef struct {{
  void* data;
  py_object* owner;
  ptrdiff_t bytes, item;
  int readonly, dimensions;
  const char* format;
  const ptrdiff_t *shape, *strides, *suboffsets;
  void* internal;
}} py_buffer;
typedef struct {{
  const char* name;
  void (*call)(void);
  int flags;
  const char* doc;
}} py_method;
enum {{ PY_NOARGS = 0x4, PY_FASTCALL = 0x80 }};
enum {{ PY_WRITABLE = 0x1, PY_FORMAT = 0x4, PY_STRIDES = 0x18 }};
extern py_object _Py_NoneStruct;
py_object* PyCFunction_NewEx(py_method* method, py_object* self, py_object* module);
py_object* PyObject_CallFunctionObjArgs(py_object* function, ...);
py_object* PyTuple_GetItem(py_object* tuple, ptrdiff_t i);
void* PyLong_AsVoidPtr(py_object* address);
int PyObject_GetBuffer(py_object* from, py_buffer* view, int flags);
void PyBuffer_Release(py_buffer* view);
void PyErr_Clear(void);
void Py_IncRef(py_object* object);
void Py_DecRef(py_object* object);

static py_object* none(void) {{
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}}

/* The bound call. `self` begins with the address of the arrays' addresses: inputs, home, result. */
static py_object* bound_call(py_object* self, py_object* nothing) {{
  double** array = PyLong_AsVoidPtr(PyTuple_GetItem(self, 0));
  (void)nothing;
  program((const double**)array, array + {n} + 1, NULL, NULL, 0);
  return none();
}}

CASADI_SYMBOL_EXPORT py_object* new_bound_call(py_object* self) {{
  static py_method method = {{"bound_call", (void (*)(void))bound_call, PY_NOARGS, NULL}};
  return PyCFunction_NewEx(&method, self, NULL);
}}

/* The numbers of a float64 array (n,), and whether it is one. */
static int read_numbers(py_object* from, ptrdiff_t n, double* to) {{
  py_buffer view;
  if (PyObject_GetBuffer(from, &view, PY_STRIDES | PY_FORMAT)) return 0;
  const int fits = view.dimensions == 1 && *view.shape == n && !strcmp(view.format, "d");
  for (ptrdiff_t i = 0; fits && i < n; ++i) {{
    memcpy(to + i, (const char*)view.data + i * *view.strides, sizeof *to);
  }}
  PyBuffer_Release(&view);
  return fits;
}}

/* The plain call. `self` holds numpy.empty, the shape of the result, the address of home, and what
   arguments behind the program's own must be. */
static py_object* plain_call(py_object* self, py_object* const* given, ptrdiff_t count) {{
  static const ptrdiff_t size[] = {{{sizes}0}}, place[] = {{{places}0}};
  double numbers[{total} + 1];
  const double* arg[] = {{{arg}PyLong_AsVoidPtr(PyTuple_GetItem(self, 2))}};
  py_object* result = NULL;
  py_buffer view;
  int fits = count == {n} || count == {n} + {extra};
  for (int i = {n}; fits && i < count; ++i) fits = given[i] == PyTuple_GetItem(self, 3 + i - {n});
  for (int i = 0; fits && i < {n}; ++i) fits = read_numbers(given[i], size[i], numbers + place[i]);
  if (fits) {{
    result = PyObject_CallFunctionObjArgs(PyTuple_GetItem(self, 0), PyTuple_GetItem(self, 1), NULL);
    fits = result && !PyObject_GetBuffer(result, &view, PY_WRITABLE);
  }}
  if (fits) {{
    fits = checked(arg, view.data);
    PyBuffer_Release(&view);
  }}
  if (fits) return result;
  if (result) Py_DecRef(result);
  PyErr_Clear();
  return none();
}}

CASADI_SYMBOL_EXPORT py_object* new_plain_call(py_object* self) {{
  static py_method method = {{"plain_call", (void (*)(void))plain_call, PY_FASTCALL, NULL}};
  return PyCFunction_NewEx(&method, self, NULL);
}}
"""


def calls_text(declaration: Declaration, sizes: Sequence[int]) -> str:
    """The C of a program's calls from Python; `sizes` are those of its inputs without home."""
    places = [sum(sizes[:i]) for i in range(len(sizes))]
    return CALLS.format(
        n=len(sizes),
        extra=len(_others(declaration)),
        total=sum(sizes),
        sizes="".join(f"{size}, " for size in sizes),
        places="".join(f"{place}, " for place in places),
        arg="".join(f"numbers + {place}, " for place in places),
    )


def bound_call(kernel: Kernel, arrays: Sequence[Array]) -> Callable[[], None]:
    """The bound call of a compiled kernel on arrays: its inputs, home, and the result."""
    addresses = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    call: Callable[[], None] = _function(kernel, "new_bound_call")(
        (ctypes.addressof(addresses), addresses, *arrays)  # all of them are kept alive
    )
    return call


def plain_call(kernel: Kernel) -> Callable[..., Array | None]:
    """The plain call of a compiled kernel.

    Its arguments are the program's inputs, and behind them either nothing or all others of the
    method, in order. It may be called from several threads.
    """
    others = _others(kernel.program.declaration)
    call: Callable[..., Array | None] = _function(kernel, "new_plain_call")(
        (np.empty, kernel.shape, kernel.home.ctypes.data, *others, kernel.home)
    )
    return call


def _function(kernel: Kernel, name: str) -> Callable[[tuple[object, ...]], Any]:
    """A function of the kernel's library that makes a call of its `self`."""
    assert kernel.library is not None
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)((name, kernel.library))


def _others(declaration: Declaration) -> tuple[object, ...]:
    """The arguments of a plain call behind the program's: wrenches and friction, and out."""
    return (None, True, None) if declaration.loaded else (None,)
