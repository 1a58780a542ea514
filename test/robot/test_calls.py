"""Bound and plain calls: what they serve, what they leave to others, and what they keep."""

from __future__ import annotations

import gc
import subprocess
import sys
import sysconfig
import tracemalloc
from array import array
from pathlib import Path

import numpy as np
import pytest
from robot_text import joint, link, robot_text, slide_text

import mbdyn_ros
from mbdyn_ros import InputError, Robot
from mbdyn_ros.bench.benchmark import random_state
from mbdyn_ros.compiler import gcc
from mbdyn_ros.model.examples import CART
from mbdyn_ros.program.program import declared

PROGRAMS = {
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "effort"),
    "inverse_dynamics_derivatives": ("q", "v", "a"),
    "forward_dynamics_derivatives": ("q", "v", "effort"),
    "regressor": ("q", "v", "a"),
    "mass_matrix": ("q",),
    "coriolis_vector": ("q", "v"),
    "gravity_vector": ("q",),
    "friction_vector": ("q", "v"),
    "energy": ("q", "v"),
    "joint_position": ("q",),
    "joint_velocity": ("q", "v"),
    "joint_acceleration": ("q", "v", "a"),
}
"""Every program that a plain call may run, and its inputs."""

LOADED = (None, True, None)
"""wrenches, friction, out."""


@pytest.fixture(scope="module")
def robot() -> Robot:
    """A floating body with an arm of two joints, one with friction, all programs compiled."""
    moments, at = (0.1, 0.2, 0.2, 0, 0.01, 0), "0 0.3 0.1"
    text = robot_text(
        *(link(name, 2, moments, "0.1 0.2 0.3") for name in ("body", "upper", "lower")),
        joint("shoulder", "body", "upper", "0 0 1", at, kind="revolute",
              more='<dynamics damping="0.5"/>'),
        joint("elbow", "upper", "lower", "1 0 0", at, kind="revolute"),
        base="",
    )  # fmt: skip
    robot = mbdyn_ros.load(text, floating_base=True)
    q, v, a = random_state(robot)
    for name, inputs in PROGRAMS.items():
        values = {"q": q, "v": v, "a": a, "effort": a}
        robot.calls.call(declared(name), tuple(values[key] for key in inputs))
    return robot


def state(robot: Robot, name: str) -> list[np.ndarray]:
    q, v, a = random_state(robot, seed=3)
    return [{"q": q, "v": v, "a": a, "effort": a}[key] for key in PROGRAMS[name]]


def others(name: str) -> tuple[object, ...]:
    return LOADED if "dynamics" in name else (None,)


@pytest.mark.sparse
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_what_the_bound_program_gives(robot: Robot, name: str) -> None:
    values = state(robot, name)
    bound = robot.bind(name)
    for target, value in zip(bound.arguments, values, strict=True):
        target[:] = value
    bound()
    call = getattr(robot._plain, name)
    found = call(*values, *others(name))
    np.testing.assert_array_equal(found, bound.result)
    again = call(*values, *others(name))
    assert found.flags.owndata and found.flags.c_contiguous and found.flags.writeable
    assert not np.may_share_memory(found, again)
    assert not any(np.may_share_memory(found, value) for value in values)


def test_it_reads_any_layout(robot: Robot) -> None:
    """Columns, rows read backwards, arrays that may not be written; other buffers the long way."""
    q, v, a = state(robot, "inverse_dynamics")
    wide = np.zeros((robot.nv, 3))
    wide[:, 1] = v
    a.flags.writeable = False
    expected = robot.bind("inverse_dynamics")
    expected.q[:], expected.v[:], expected.a[:] = q, v, a
    expected()
    call = robot._plain.inverse_dynamics
    for values in ((q, wide[:, 1], a), (q[::-1].copy()[::-1], v, a)):
        np.testing.assert_array_equal(call(*values, *LOADED), expected.effort)
    others = array("d", q.tolist()), memoryview(v), a
    assert call(*others, *LOADED) is None
    np.testing.assert_array_equal(robot.inverse_dynamics(*others), expected.effort)


@pytest.mark.parametrize("place", range(3))
def test_it_leaves_all_else_to_the_general_call(robot: Robot, place: int) -> None:
    """None, with no error pending; the method then converts, or refuses in words."""
    call = robot._plain.inverse_dynamics
    values = state(robot, "inverse_dynamics")
    right = values[place]
    size = len(right)
    strange: list[object] = [
        right.tolist(), tuple(right), right.astype(np.float32), right.astype(">f8"),
        right.astype(complex), right.astype(object), right.astype(int), right.view(np.int64),
        right.view("M8[s]"), right[None], right[:-1], np.append(right, 0.0), np.float64(0.5),
        np.zeros((size, size)), np.array(0.5), None, "text", right.tobytes(),
    ]  # fmt: skip
    for wrong in (np.nan, np.inf, -np.inf):
        for k in range(size):
            strange.append(right.copy())
            strange[-1][k] = wrong  # type: ignore[index]
    for one in strange:
        values[place] = one  # type: ignore[call-overload]
        assert call(*values, *LOADED) is None, one
        assert sys.exc_info() == (None, None, None)
    values[place] = right.tolist()  # type: ignore[call-overload]
    converted = robot.inverse_dynamics(*values)
    values[place] = right
    np.testing.assert_allclose(converted, robot.inverse_dynamics(*values), rtol=1e-14)
    values[place] = np.full_like(right, np.nan)
    with pytest.raises(InputError, match="of .* is nan: every number must be finite"):
        robot.inverse_dynamics(*values)


def test_it_leaves_requests_to_the_general_call(robot: Robot) -> None:
    call, values = robot._plain.inverse_dynamics, state(robot, "inverse_dynamics")
    assert call(*values, *LOADED) is not None
    assert call(*values, {}, True, None) is None
    assert call(*values, None, False, None) is None
    assert call(*values, None, 1, None) is None
    assert call(*values, None, True, np.empty(robot.nv)) is None
    np.testing.assert_array_equal(call(*values), call(*values, *LOADED))
    assert call() is None and call(*values[:2]) is None
    assert call(*values, None) is None and call(*values, *LOADED, None) is None
    assert robot._plain.mass_matrix(values[0], np.empty((robot.nv, robot.nv))) is None
    for name in ("inverse_dynamics", "forward_dynamics"):
        with_friction, without = (
            getattr(robot, name)(*values, friction=friction) for friction in (True, False)
        )
        assert np.abs(with_friction - without).max() > 1e-3


def test_quaternions_must_be_unit(robot: Robot) -> None:
    (q,) = state(robot, "mass_matrix")
    assert robot._plain.mass_matrix(q, None) is not None
    q[3:7] *= 1.001
    assert robot._plain.mass_matrix(q, None) is None
    with pytest.raises(InputError, match="unit quaternion"):
        robot.mass_matrix(q)


@pytest.mark.parametrize("fits", [True, False])
def test_it_keeps_nothing(robot: Robot, fits: bool) -> None:
    """Neither its arguments nor results, nor their memory."""
    values = state(robot, "inverse_dynamics")
    if not fits:
        values[2] = np.full_like(values[2], np.inf)
    call, rounds = robot._plain.inverse_dynamics, [None] * 2000
    held = [*values, np.empty, None]
    gc.collect()
    tracemalloc.start()
    try:
        start, before = tracemalloc.get_traced_memory()[0], list(map(sys.getrefcount, held))
        for _ in rounds:
            call(*values, *LOADED)
        after, end = list(map(sys.getrefcount, held)), tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert np.abs(np.subtract(after, before)).max() < 100
    assert end - start < 2000


def test_it_outlives_its_robot() -> None:
    robot = mbdyn_ros.load(slide_text())
    robot.mass_matrix([0.0])
    call = robot._plain.mass_matrix
    del robot
    gc.collect()
    np.testing.assert_array_equal(call(np.zeros(1), None), [[2.0]])


def test_a_bound_call_keeps_its_arrays(robot: Robot) -> None:
    """Also without the object that has them as attributes."""
    bound = robot.bind("inverse_dynamics")
    values = state(robot, "inverse_dynamics")
    for target, value in zip(bound.arguments, values, strict=True):
        target[:] = value
    call, result = bound.func, bound.result
    del bound
    gc.collect()
    call()
    np.testing.assert_array_equal(result, robot.inverse_dynamics(*values))
    nothing = sys.getrefcount(None)
    for _ in range(2000):
        call()
    assert abs(sys.getrefcount(None) - nothing) < 100
    with pytest.raises(TypeError):
        call(1)


def test_what_it_takes_for_the_interfaces_of_cpython_and_numpy(tmp_path: Path) -> None:
    """The declarations are those of their headers: the compiler compares them."""
    include = sysconfig.get_paths()["include"]
    if not Path(include, "Python.h").exists():
        pytest.skip("needs Python.h")
    methods = {"name": "ml_name", "call": "ml_meth", "flags": "ml_flags", "doc": "ml_doc"}
    numbers = {"type": "typeobj", "kind": "kind", "letter": "type", "order": "byteorder"}
    array = {"data": "data", "dimensions": "nd", "shape": "dimensions", "strides": "strides"}
    array |= {"base": "base", "kind": "descr"}
    flags = {"PY_FASTCALL": "METH_FASTCALL", "PY_NOARGS": "METH_NOARGS"}
    checks = [
        f"offsetof({ours}, {one}) == offsetof({theirs}, {other})"
        for ours, theirs, names in (
            ("py_head", "PyObject", {"uses": "ob_refcnt", "type": "ob_type"}),
            ("py_method", "PyMethodDef", methods),
            ("np_kind", "PyArray_Descr", numbers), ("np_array", "PyArrayObject_fields", array),
        )
        for one, other in names.items()
    ]  # fmt: skip
    checks += [f"{one} == {other}" for one, other in flags.items()]
    checks += ["NPY_DOUBLELTR == 'd'", "NPY_NATIVE == '='"]
    checks += ["sizeof(ptrdiff_t) == sizeof(Py_ssize_t)", "sizeof(npy_intp) == sizeof(ptrdiff_t)"]
    text = (gcc.RUNTIME / "call.c").read_text()
    types, functions = text[: text.index("static py_object* none")].split("extern ")
    functions = functions.replace("py_method", "PyMethodDef")
    lines = ["#include <stddef.h>", "#include <Python.h>", "#undef PyCFunction_NewEx"]
    lines += ["#include <numpy/ndarraytypes.h>"]
    lines += [types, f"extern {functions}"]
    lines += [f'_Static_assert({check}, "{check}");' for check in checks]
    source = tmp_path / "same.c"
    source.write_text("\n".join(lines))
    folders = f"-I{include}", f"-I{np.get_include()}"
    command = ["cc", "-std=c11", "-Werror", "-fsyntax-only", *folders, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_general_call_takes_the_short_way(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After lists, wrenches and friction are understood, no arrays are made and tied any more."""
    values = state(robot, "inverse_dynamics")
    pull = {"lower": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}

    def answers() -> list[np.ndarray]:
        lists = [x.tolist() for x in values]
        out = np.empty(robot.nv)
        assert robot.inverse_dynamics(*values, out=out) is out
        return [
            out,
            robot.inverse_dynamics(*lists),
            robot.inverse_dynamics(*values, pull),
            robot.inverse_dynamics(*values, pull, friction=False),
            robot.mass_matrix(lists[0]),
        ]

    with monkeypatch.context() as patch:
        patch.setattr("mbdyn_ros.compiler.kernel.CompiledKernel.plain", None)
        expected = answers()
    monkeypatch.setattr("mbdyn_ros.robot.calls.Bound", lambda kernel: pytest.fail("the long way"))
    for found, right in zip(answers(), expected, strict=True):
        np.testing.assert_array_equal(found, right)


def test_a_compiled_jacobian_serves_single_states(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (q,) = state(robot, "mass_matrix")
    interpreted = robot.jacobian(q, "lower")
    robot.bind("jacobian", "lower")
    monkeypatch.setattr("mbdyn_ros.robot.calls.Bound", lambda kernel: pytest.fail("interpreted"))
    np.testing.assert_allclose(robot.jacobian(q, "lower"), interpreted, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("batch", [False, True], ids=["one", "many"])
def test_numbers_that_are_missing_are_refused(batch: bool) -> None:
    """Masks were passed over, and None became NaN."""
    robot = mbdyn_ros.load(CART)
    zeros = np.zeros((2, robot.nv) if batch else robot.nv)
    expected = robot.inverse_dynamics(zeros, zeros, zeros)  # the next call takes the short way
    masked = np.ma.array(zeros, mask=zeros == 0)
    with pytest.raises(mbdyn_ros.InputError, match=r"position must be numbers.*\] is masked"):
        robot.inverse_dynamics(masked, zeros, zeros)
    with pytest.raises(mbdyn_ros.InputError, match=r"position must be numbers.*\] is masked"):
        robot.inverse_dynamics(list(masked), zeros, zeros)
    missing = np.full(zeros.shape, None)
    with pytest.raises(mbdyn_ros.InputError, match="velocity must be numbers.*not None"):
        robot.inverse_dynamics(zeros, missing, zeros)
    whole = np.ma.array(zeros, mask=False)
    assert np.array_equal(robot.inverse_dynamics(whole, zeros, zeros), expected)


class Broken:
    """What fails when it is asked for its numbers."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise KeyError("broken")

    def __float__(self) -> float:
        raise KeyError("broken")


def test_what_has_no_numbers_is_refused() -> None:
    """In words about the argument; its own error was all that there was to see."""
    robot = mbdyn_ros.load(CART)
    zeros = np.zeros(robot.nv)
    bound = robot.bind("inverse_dynamics")
    with pytest.raises(mbdyn_ros.InputError, match="position must be .*Broken raised KeyError"):
        robot.inverse_dynamics(Broken(), zeros, zeros)
    with pytest.raises(mbdyn_ros.InputError, match="velocity must be .*raised KeyError"):
        robot.inverse_dynamics(zeros, [Broken()] * robot.nv, zeros)
    with pytest.raises(mbdyn_ros.InputError, match="q of .*Broken raised KeyError"):
        bound.q = Broken()
    with pytest.raises(mbdyn_ros.InputError, match="position must be .*not a dict: give them in"):
        robot.mass_matrix(dict.fromkeys(robot.position_labels, 0.0))
    with pytest.raises(mbdyn_ros.InputError, match="^duration is"):
        mbdyn_ros.simulate(robot, zeros, zeros, Broken())
    with pytest.raises(mbdyn_ros.InputError, match="times must be numbers.*masked"):
        mbdyn_ros.simulate(robot, zeros, zeros, 1.0, times=np.ma.array([0.5], mask=[True]))
