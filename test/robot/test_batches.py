"""Many states at once: vectors and threads give what single calls give."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from corpus import urdf_file
from random_loops import draw

import mbdyn_ros
from mbdyn_ros import InputError, Robot
from mbdyn_ros.compiler.block import Lane
from mbdyn_ros.compiler.cache import compile_library
from mbdyn_ros.compiler.kernel import MANY
from mbdyn_ros.compiler.options import STANDARD, Options
from mbdyn_ros.compiler.pipeline import HEADERS, function_text

URDF = Path(__file__).parents[2] / "urdf"
N = MANY + 3
"""Enough states for the vector program, the last vector not full."""


def state(robot: Robot, count: int = N) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(3)
    q = random.uniform(-1, 1, (count, robot.nq))
    if robot.model.loops:
        home = np.array([robot.home[label] for label in robot.position_labels])
        q = home + 0.05 * q
    if robot.floating_base:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, random.normal(size=(count, robot.nv)), random.normal(size=(count, robot.nv))


def same(many: np.ndarray, singles: list[np.ndarray], tolerance: float = 1e-13) -> None:
    for row, single in zip(many, singles, strict=True):
        np.testing.assert_allclose(row, single, rtol=0, atol=tolerance * np.abs(single).max())


# -- elementary functions --------------------------------------------------------------------------

HARNESS = """
EXPORTED void try_all(size_t n, const double* x, const double* y, double* out) {
  for (size_t k = 0; k < n; k += LANES) {
    realv a, b, s, c;
    memcpy(&a, x + k, sizeof a);
    memcpy(&b, y + k, sizeof b);
    sine_cosinev(a, &s, &c);
    memcpy(out + k, &s, sizeof s);
    memcpy(out + n + k, &c, sizeof c);
    s = arctangent2v(a, b);
    memcpy(out + 2 * n + k, &s, sizeof s);
    for (int l = 0; l < LANES; ++l) {
      sine_cosine1(x[k + l], out + 3 * n + k + l, out + 4 * n + k + l);
      out[5 * n + k + l] = arctangent21(x[k + l], y[k + l]);
    }
  }
}
"""


def elementary(x: np.ndarray, y: np.ndarray, folder: Path) -> np.ndarray:
    """sin x, cos x, atan2(x, y) by vectors, then one by one: (6, n)."""
    library = folder / "elementary.so"
    compile_library(HEADERS + HARNESS, library)
    out = np.zeros((6, len(x)))
    arrays = (ctypes.c_void_p(array.ctypes.data) for array in (x, y, out))
    ctypes.CDLL(str(library)).try_all(ctypes.c_size_t(len(x)), *arrays)
    return out


def ulps(ours: np.ndarray, exact: np.ndarray) -> float:
    spacing = np.spacing(np.abs(exact.astype(float)))
    return float((np.abs(ours.astype(np.longdouble) - exact) / spacing).max())


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="needs numbers with more digits than double"
)
def test_errors_of_sines_and_arc_tangents(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    n = 80_000
    near = np.round(random.uniform(-1e3, 1e3, n // 4)) * (np.pi / 2)  # zeros and extrema
    parts = [random.uniform(-7, 7, n // 4), random.uniform(-1e5, 1e5, n // 4), near]
    parts += [random.choice([-1, 1], n // 4) * 10 ** random.uniform(-300, 300, n // 4)]
    x, y = np.concatenate(parts), np.concatenate(parts[::-1])
    out, wide = elementary(x, y, tmp_path), np.longdouble(x)
    for start in (0, 3):
        small = np.abs(x) < 2e5  # long doubles lose digits of pi, too
        assert ulps(out[start][small], np.sin(wide)[small]) < 1.3  # 0.9 where the machine fuses
        assert ulps(out[start + 1][small], np.cos(wide)[small]) < 1.3
        assert np.array_equal(out[start][~small], np.sin(x)[~small])
        assert ulps(out[start + 2], np.arctan2(wide, np.longdouble(y))) < 2.0
    assert np.array_equal(out[:3], out[3:])


def test_special_numbers(tmp_path: Path) -> None:
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324]
    x, y = (part.ravel() for part in np.meshgrid(special, special))
    out = elementary(x, y, tmp_path)
    with np.errstate(invalid="ignore"):
        expected = np.sin(x), np.cos(x), np.arctan2(x, y)
    for arctangent in (out[2], out[5]):
        numbers = ~np.isnan(expected[2])
        assert np.array_equal(np.signbit(arctangent)[numbers], np.signbit(expected[2])[numbers])
    for ours, theirs in zip(out, (*expected, *expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=4e-16, atol=0)


def test_every_operation(tmp_path: Path) -> None:
    """Each operation that CasADi has for scalars, one state and many, in one piece and in many."""
    x = ca.SX.sym("x", 3)
    a, b, c = x[0], x[1], x[2]
    results = [
        a + b, a - b, a * b, a / b, c / b, -a, a**2, 2 * a, 1 / a, ca.sqrt(c), ca.fabs(b),
        ca.sign(b),
        ca.sin(a * b), ca.cos(a * b), ca.sin(a), ca.cos(b + 1), ca.sin(ca.sin(a)), ca.atan2(a, b),
        ca.if_else(a < b, a, c), ca.if_else(a <= b, 1, c), ca.if_else(a == b, a, 2), a != b,
        ca.logic_and(a < b, c > 1), ca.logic_or(a < b, c > 1), ca.logic_not(a < b),
        ca.fmin(a, b), ca.fmax(a, c), ca.exp(a), ca.log(c), ca.tan(a), ca.asin(a / 9),
        ca.acos(a / 9), ca.atan(a), ca.sinh(a), ca.cosh(a), ca.tanh(a), ca.floor(a), ca.ceil(a),
        c**a, c**2.5, ca.fmod(a, c), ca.hypot(a, b), ca.copysign(a, b), ca.SX(2.5),
    ]  # fmt: skip
    whole = ca.Function("whole", [x], [ca.densify(ca.vertcat(*results))], {"cse": True})
    states = np.random.default_rng(1).normal(size=(8, 3)) * [1, 1, 0] + [0, 0, 2]
    states[0, :2] = 0.5, 0.5
    expected = np.array(whole(states.T))
    for piece in (STANDARD.piece, 7):
        options = Options(longest_block=piece, longest_vector_block=piece, piece=piece)
        text = HEADERS
        text += function_text(whole, "one", Lane.SINGLE, options)
        text += function_text(whole, "many", Lane.VECTOR, options)
        text += f"""
EXPORTED void run(const double* x, double* single, double* out) {{
  for (int k = 0; k < 8; ++k) {{
    const double* arg[] = {{x + 3 * k}};
    double* res[] = {{single + {len(results)} * k}};
    one(arg, res);
  }}
  for (int k = 0; k < 8; k += LANES) {{
    realv in[3], result[{len(results)}];
    const realv* arg[] = {{in}};
    realv* res[] = {{result}};
    for (int l = 0; l < 3 * LANES; ++l) in[l % 3][l / 3] = x[3 * k + l];
    many(arg, res);
    for (int l = 0; l < LANES; ++l) {{
      for (int i = 0; i < {len(results)}; ++i) out[{len(results)} * (k + l) + i] = result[i][l];
    }}
  }}
}}
"""
        library = tmp_path / f"every{piece}.so"
        compile_library(text, library)
        out = np.zeros((2, 8, len(results)))
        pointers = (ctypes.c_void_p(one.ctypes.data) for one in (states, out[0], out[1]))
        ctypes.CDLL(str(library)).run(*pointers)
        for ours in out:
            np.testing.assert_allclose(ours.T, expected, rtol=1e-14, atol=1e-15)


# -- robots ----------------------------------------------------------------------------------------


ROW = """<robot name="row"><link name="l0"/>{}</robot>"""
JOINT = """
<joint name="j{0}" type="revolute"><parent link="l{0}"/><child link="l{1}"/>
  <origin xyz="0.3 0 0.1"/><axis xyz="0 1 0"/><limit effort="9" velocity="9"/></joint>
<link name="l{1}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def row_of(joints: int) -> Robot:
    return mbdyn_ros.load(ROW.format("".join(JOINT.format(k, k + 1) for k in range(joints))))


@pytest.fixture(scope="module")
def row() -> Robot:
    """Where the number of joints is not the subject."""
    return row_of(3)


@pytest.fixture(scope="module")
def arm() -> Robot:
    return mbdyn_ros.load(urdf_file("ur5_robot.urdf"))


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("robot_name", ["flying", "manipulator", "walked"])
def test_batches_equal_single_calls(name: str, robot_name: str) -> None:
    """A floating base; loops with and without closed form."""
    if robot_name == "walked":
        pair = draw("mimic", 0).pair()
        q, v, a, _ = (np.array(x) for x in zip(*map(pair.state, range(12)), strict=True))
        robot = pair.robot
        x = [np.tile(part, (N // 12 + 1, 1))[:N] for part in (q, v, a)]
        tolerance = 1e-11  # Newton's method ends where it ends
    else:
        flying = robot_name == "flying"
        path = urdf_file("borinot_flying_arm_2.urdf") if flying else URDF / "manipulator.urdf"
        robot, tolerance = mbdyn_ros.load(path, floating_base=flying), 1e-13
        x = list(state(robot))
    method = getattr(robot, name)
    rows = [0, 1, 2, 100, N - 2, N - 1]
    same(method(*x)[rows], [method(*(part[k] for part in x)) for k in rows], tolerance)


def test_all_methods(row: Robot) -> None:
    q, v, _ = state(row)
    pairs = {
        "mass_matrix": (q,), "coriolis_vector": (q, v), "gravity_vector": (q,),
        "energy": (q, v),
    }  # fmt: skip
    for name, x in pairs.items():
        many = np.stack(getattr(row, name)(*x), 0) if name == "energy" else getattr(row, name)(*x)
        if name == "energy":
            many = many.T
        rows = (0, 9, N - 1)
        same(many[list(rows)], [np.array(getattr(row, name)(*(y[k] for y in x))) for k in rows])
    for name in ("frame_pose", "jacobian"):
        many = getattr(row, name)(q, "l3")
        same(many[[0, N - 1]], [getattr(row, name)(q[k], "l3") for k in (0, N - 1)])


def test_a_row_with_nan_spoils_no_other(arm: Robot) -> None:
    q, v, a = state(arm)
    expected = arm.inverse_dynamics(q, v, a)
    for bad in (np.nan, np.inf):
        q[5, 2] = bad
        result = arm.inverse_dynamics(q, v, a)
        assert np.isnan(result[5]).any()
        assert np.array_equal(np.delete(result, 5, 0), np.delete(expected, 5, 0))


def test_a_far_angle_changes_its_row_alone(arm: Robot) -> None:
    """Sines of angles that are too large for the vectors are taken one by one."""
    q, v, a = state(arm)
    expected = arm.inverse_dynamics(q, v, a)
    q[5, 2] += 1e6
    result = arm.inverse_dynamics(q, v, a)
    same(result[5:6], [arm.inverse_dynamics(q[5], v[5], a[5])])
    assert np.array_equal(np.delete(result, 5, 0), np.delete(expected, 5, 0))


@pytest.mark.sparse(first=1)
@pytest.mark.parametrize("joints", [1, 2, 3, 5, 7])
def test_rows_of_any_length(joints: int) -> None:
    robot = row_of(joints)
    q, v, a = state(robot)
    one_v = v[0]
    result = robot.inverse_dynamics(q, one_v, a)
    rows = [0, 7, N - 2, N - 1]
    same(result[rows], [robot.inverse_dynamics(q[k], one_v, a[k]) for k in rows])


def test_rows_that_cannot_be_closed_are_nan() -> None:
    pair = draw("mimic", 0).pair()
    q, v, a, _ = pair.state(0)
    x = [np.tile(part, (N, 1)) for part in (q, v, a)]
    x[0][7] = np.nan
    result = pair.robot.inverse_dynamics(*x)
    assert np.isnan(result[7]).all()
    assert np.isfinite(np.delete(result, 7, 0)).all()


@pytest.mark.parametrize("count", [0, 1, 3, MANY - 1, MANY, MANY + 9])
def test_any_number_of_states(arm: Robot, count: int) -> None:
    q, v, a = state(arm)
    assert count <= len(q) or count == MANY + 9
    q, v, a = (np.resize(x, (count, 6)) for x in (q, v, a))
    result = arm.inverse_dynamics(q, v, a)
    assert result.shape == (count, 6)
    same(result[-1:], [arm.inverse_dynamics(q[-1], v[-1], a[-1])] if count else [])


def test_results_go_where_they_are_asked(arm: Robot) -> None:
    q, v, a = state(arm)
    expected = arm.inverse_dynamics(q, v, a)
    out = np.full((N, 6), 7.0)
    assert arm.inverse_dynamics(q, v, a, out=out) is out
    assert np.array_equal(out, expected)
    assert arm.inverse_dynamics(q, v, a, out=a) is a  # over an input
    assert np.array_equal(a, expected)
    single = np.zeros((6, 6))
    assert np.array_equal(arm.mass_matrix(q[0], out=single), arm.mass_matrix(q[0]))
    assert single.any()


@pytest.mark.sparse
@pytest.mark.parametrize("count", [None, 0, 3, N])
@pytest.mark.parametrize("flying", [False, True], ids=["manipulator", "flying"])
def test_joint_states_go_where_they_are_asked(flying: bool, count: int | None) -> None:
    """More joints than coordinates, in loops; fewer, on a floating base."""
    path = urdf_file("borinot_flying_arm_2.urdf") if flying else URDF / "manipulator.urdf"
    robot = mbdyn_ros.load(path, floating_base=flying)
    q, v, a = (x[0] if count is None else x[:count] for x in state(robot))
    expected = robot.joint_state(q, v, a)
    assert expected[0].shape[-1] == len(robot.joint_names) != robot.nv
    out = tuple(np.full_like(x, 7.0) for x in expected)
    found = robot.joint_state(q, v, a, out=out)
    for one, place, right in zip(found, out, expected, strict=True):
        assert one is place
        np.testing.assert_array_equal(one, right)
    position, velocity, acceleration = robot.joint_state(q, v, out=(None, out[2], None))
    assert velocity is out[2] and acceleration is None
    np.testing.assert_array_equal(position, expected[0])
    np.testing.assert_array_equal(velocity, expected[1])


def test_joint_states_over_their_inputs(arm: Robot) -> None:
    """Nothing is written before everything is read."""
    q, v, a = state(arm)
    expected = arm.joint_state(q, v, a)
    found = arm.joint_state(q, v, a, out=[v, a, q])
    assert all(one is place for one, place in zip(found, (v, a, q), strict=True))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "out, words",
    [
        (np.zeros((3, N, 6)), "out must be three arrays"),
        ((np.zeros((N, 6)),) * 2, "out must be three arrays"),
        ((None, None, np.zeros((N, 6))), "an array for accelerations, which are not requested"),
        ((np.zeros((N, 6)), np.zeros(6), None), rf"out has shape \(6,\).*needs \({N}, 6\)"),
        ((np.zeros((N, 6)), [0.0], None), "out must be a NumPy array"),
    ],
)
def test_joint_states_that_do_not_fit_are_refused(arm: Robot, out: object, words: str) -> None:
    q, v, _ = state(arm)
    with pytest.raises(InputError, match=words):
        arm.joint_state(q, v, out=out)  # type: ignore[arg-type]
    if isinstance(out, tuple) and isinstance(out[0], np.ndarray):
        assert not out[0].any(), "written before the others were looked at"


def test_a_regressor_goes_where_it_is_asked(row: Robot) -> None:
    q, v, a = state(row)
    expected = row.regressor(q, v, a)
    out = np.empty_like(expected)
    assert row.regressor(q, v, a, out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "out",
    [np.zeros((N, 5)), np.zeros((N, 6), np.float32), np.zeros((6, N)).T, [[0.0]],
     np.broadcast_to(np.zeros(6), (N, 6))],
)  # fmt: skip
def test_an_out_that_does_not_fit_is_refused(arm: Robot, out: object) -> None:
    with pytest.raises(InputError, match="out "):
        arm.inverse_dynamics(*state(arm), out=out)  # type: ignore[arg-type]


def test_inputs_of_other_layouts_types_and_sizes(arm: Robot) -> None:
    q, v, a = (np.round(x * 64) / 64 for x in state(arm))
    expected = arm.inverse_dynamics(q, v[0], a)
    assert np.array_equal(arm.inverse_dynamics(q.astype(np.float32), v[0], a[::1]), expected)
    assert np.array_equal(arm.inverse_dynamics(np.asfortranarray(q), v[0].tolist(), a), expected)
    assert np.array_equal(arm.inverse_dynamics(np.repeat(q, 2, 0)[::2], v[0], a), expected)
    with pytest.raises(InputError, match=f"q {N}.*v {N - 1}"):
        arm.inverse_dynamics(q, v[:-1], a)


@pytest.fixture(scope="module")
def eager() -> Robot:
    """The same arm, which takes all threads it may have, however little there is to do."""
    robot = mbdyn_ros.load(urdf_file("ur5_robot.urdf"))
    robot.calls.options = Options(worth_a_thread=100)
    return robot


@pytest.mark.long
def test_threads_change_nothing(eager: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    x = [np.tile(part, (20, 1)) for part in state(eager)]
    results = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("MBDYN_ROS_THREADS", threads)
        results.append(eager.forward_dynamics(*x))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    for wrong in ("0", "two", "-1"):
        monkeypatch.setenv("MBDYN_ROS_THREADS", wrong)
        with pytest.raises(InputError, match="MBDYN_ROS_THREADS"):
            eager.forward_dynamics(*x)


def test_a_forked_process_computes_on(eager: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MBDYN_ROS_THREADS", "3")
    x = state(eager)
    expected = eager.forward_dynamics(*x)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(eager.forward_dynamics(*x), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(eager.forward_dynamics(*x), expected)


def test_several_callers_at_once(eager: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    """They share the helping threads; each gets its own results."""
    monkeypatch.setenv("MBDYN_ROS_THREADS", "3")
    x = state(eager)
    expected = eager.forward_dynamics(*x), eager.inverse_dynamics(*x)

    def caller(k: int) -> bool:
        method = eager.inverse_dynamics if k % 2 else eager.forward_dynamics
        return all(np.array_equal(method(*x), expected[k % 2]) for _ in range(200))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(caller, range(8)))


def test_helping_threads_take_no_signals(eager: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else Ctrl-C would not interrupt what the main thread waits for."""
    monkeypatch.setenv("MBDYN_ROS_THREADS", "3")
    eager.forward_dynamics(*state(eager))
    known = {str(thread.native_id) for thread in threading.enumerate()}
    blocked = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # others' threads end meanwhile
            if task.name not in known:
                blocked.append((task / "status").read_text().split("SigBlk:")[1].split()[0])
    assert sum(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in blocked) >= 2


def test_where_vectors_do_not_compile_states_run_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = mbdyn_ros.load(urdf_file("ur5_robot.urdf"), gravity=(0, 0, -1))
    x = state(robot)
    robot.inverse_dynamics(*(part[0] for part in x))
    monkeypatch.setattr("mbdyn_ros.compiler.loading.c_source", lambda *_: "no C;")
    with pytest.warns(mbdyn_ros.CompilerWarning, match="one state at a time.*error"):
        result = robot.inverse_dynamics(*x)
    same(result[:2], [robot.inverse_dynamics(*(part[k] for part in x)) for k in (0, 1)])
