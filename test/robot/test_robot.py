"""The calls of `Robot`: loads, batches, and whatever people pass by mistake."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from interpreting import interpreting
from random_robots import explore
from robot_text import joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import InputError, MbdynError, Robot


def body(name: str) -> str:
    return link(name, 2, (0.3, 0.4, 0.5, 0.01, -0.02, 0.03), "0.1 0.2 0.3")


LOSS = '<dynamics damping="0.2" friction="0.1"/>'
ARM = robot_text(
    *map(body, ("boom", "stick", "bucket", "pad")),
    joint("swing", "world", "boom", "0 0 1", "0 0 1", rpy="0.3 0 0", more=LOSS),
    joint("dig", "boom", "stick", "0 1 0", "1 0 0", rpy="0 0.2 0", kind="prismatic",
          more='<limit effort="9" velocity="9"/>'),
    joint("curl", "stick", "bucket", "1 0 1", "0 1 0",
          more='<mimic joint="dig" multiplier="0.5"/>' + LOSS),
    joint("pad_bolt", "bucket", "pad", at="0.1 0.2 0.3", rpy="1 2 3", kind="fixed"),
    name="arm",
)  # fmt: skip


DRONE = ARM.replace('<link name="world"/>', body("world"))


@pytest.fixture(scope="module", params=[True, False], ids=["compiled", "interpreted"])
def arm(request: pytest.FixtureRequest) -> Robot:
    """Two independent joints, one mimic, one fixed link."""
    return mbdyn_ros.load(ARM) if request.param else interpreted(ARM)


@pytest.fixture(scope="module", params=[True, False], ids=["compiled", "interpreted"])
def drone(request: pytest.FixtureRequest) -> Robot:
    """The same on a floating base."""
    if request.param:
        return mbdyn_ros.load(DRONE, floating_base=True)
    return interpreted(DRONE, floating_base=True)


@pytest.fixture(scope="module", params=["arm", "interpreted arm", "drone", "interpreted drone"])
def robot(request: pytest.FixtureRequest) -> Robot:
    """Each of them."""
    text, floating_base = (DRONE, True) if "drone" in request.param else (ARM, False)
    if "interpreted" in request.param:
        return interpreted(text, floating_base)
    return mbdyn_ros.load(text, floating_base=floating_base)


def interpreted(text: str, floating_base: bool = False) -> Robot:
    """A robot whose programs are built while there is no compiler."""
    with interpreting():
        robot = mbdyn_ros.load(text, floating_base=floating_base)
        robot.compile()
        for loads in (None, {}):
            for friction in (True, False):
                zeros = np.zeros(robot.nv)
                q = np.zeros(robot.nq)
                q[6:7] = 1.0
                robot.inverse_dynamics(q, zeros, zeros, loads, friction)
                robot.forward_dynamics(q, zeros, zeros, loads, friction)
    return robot


def state(robot: Robot, count: int = 1, seed: int = 0) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    q = random.uniform(-1, 1, (count, robot.nq))
    if robot.floating_base:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, random.normal(size=(count, robot.nv)), random.normal(size=(count, robot.nv))


def close(ours: object, theirs: object, tolerance: float = 1e-13) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


# -- calls by name, with how many of (q, v, a) they take ----------------------------------------

CALLS: dict[str, int] = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "coriolis_vector": 2,
    "gravity_vector": 1,
    "friction_vector": 2,
    "energy": 2,
}


def calls(robot: Robot) -> dict[str, tuple[Callable[..., object], int]]:
    found = {name: (getattr(robot, name), count) for name, count in CALLS.items()}
    found["frame_pose"] = (lambda q: robot.frame_pose(q, "pad"), 1)
    found["jacobian"] = (lambda q: robot.jacobian(q, "pad"), 1)
    found["joint_state"] = (robot.joint_state, 3)
    return found


# -- the answers fit each other -----------------------------------------------------------------


@pytest.mark.sparse
def test_forward_undoes_inverse(robot: Robot) -> None:
    loads = {"pad": [1, 2, 3, 4, 5, 6]}
    for q, v, a in zip(*state(robot, 5), strict=True):
        for wrenches in (None, loads):
            for friction in (True, False):
                effort = robot.inverse_dynamics(q, v, a, wrenches, friction)
                close(robot.forward_dynamics(q, v, effort, wrenches, friction), a, 1e-12)


@pytest.mark.sparse(of=3, first=0)  # compiled or not, on a base or not: in pairs
def test_power_balance(robot: Robot) -> None:
    """dE/dt = effort . v - losses, by differences along the motion that the efforts cause."""
    ((q,), (v,), (effort,)) = state(robot)
    a = robot.forward_dynamics(q, v, effort)
    step = 1e-6

    def energy(time: float) -> float:
        rate, moved = v + time * a, q.copy()
        mean = v + time * a / 2
        moved[-2:] += time * mean[-2:]
        if robot.floating_base:
            x, y, z, w = q[3:7]
            turn = robot.frame_pose(q, "world")[:3, :3]
            moved[:3] += time * turn @ mean[:3]
            p, r, s = mean[3:6]
            spin = [w * p + y * s - z * r, w * r + z * p - x * s, w * s + x * r - y * p]
            moved[3:7] += time / 2 * np.array([*spin, -(x * p + y * r + z * s)])
            moved[3:7] /= np.linalg.norm(moved[3:7])
        return float(sum(robot.energy(moved, rate)))

    growth = (energy(step) - energy(-step)) / (2 * step)
    close(growth, v @ effort - v @ robot.friction_vector(q, v), 1e-7)
    assert v @ robot.friction_vector(q, v) > 0


def test_mass_matrix_gives_the_kinetic_energy(drone: Robot) -> None:
    ((q,), (v,), _) = state(drone)
    matrix = drone.mass_matrix(q)
    close(v @ matrix @ v / 2, drone.energy(q, v)[0])
    assert np.array_equal(matrix, matrix.T) and np.linalg.eigvalsh(matrix)[0] > 0


# -- loads ---------------------------------------------------------------------------------------


@pytest.mark.sparse(of=3, first=0)
def test_wrenches_work_through_the_jacobian(robot: Robot) -> None:
    """On a moving link, a link fixed to one, several, one twice as large, and the world."""
    ((q,), (v,), (a,)) = state(robot)
    without = robot.inverse_dynamics(q, v, a)
    loads = {"pad": np.arange(6.0), "boom": [5.0, -1, 2, 0, 3, 1], "world": (9, 8, 7, 6, 5, 4)}

    def work(link: str) -> np.ndarray:
        turn = robot.frame_pose(q, link)[:3, :3]
        wrench = np.array(loads[link], dtype=float).reshape(2, 3) @ turn.T
        return robot.jacobian(q, link).T @ wrench.ravel()

    for chosen in (["pad"], ["boom"], ["world"], ["pad", "boom", "world"], []):
        efforts = robot.inverse_dynamics(q, v, a, {link: loads[link] for link in chosen})
        close(efforts, without - sum((work(link) for link in chosen), np.zeros(robot.nv)), 1e-12)
    moved = np.abs(work("world")).max()
    assert moved > 1 if robot.floating_base else moved == 0


def test_batches_of_wrenches(arm: Robot) -> None:
    q, v, a = state(arm, 4)
    many = np.random.default_rng(1).normal(size=(4, 6))
    one = [1.0, 2, 3, 4, 5, 6]
    efforts = arm.inverse_dynamics(q, v, a, {"pad": many, "boom": one})
    for k in range(4):
        single = arm.inverse_dynamics(q[k], v[k], a[k], {"pad": many[k], "boom": one})
        close(efforts[k], single)
    # a batch of wrenches on one state
    efforts = arm.inverse_dynamics(q[0], v[0], a[0], {"boom": one, "pad": many})
    assert efforts.shape == (4, 2)
    close(efforts[3], arm.inverse_dynamics(q[0], v[0], a[0], {"boom": one, "pad": many[3]}))
    forward = arm.forward_dynamics(q, v, efforts, {"pad": many})
    close(forward[2], arm.forward_dynamics(q[2], v[2], efforts[2], {"pad": many[2]}))


@pytest.mark.parametrize(
    ("wrenches", "message"),
    [
        ({"bukket": np.zeros(6)}, "there is no link 'bukket'.*; the links are world, boom"),
        ({"pad": np.zeros(5)}, r"the wrench on pad has shape \(5,\)"),
        ({"pad": [0, np.nan, 0, 0, 0, 0]}, "the wrench on pad of force y is nan"),
        ({"pad": [0, 0, 0, 0, 0, np.inf]}, "the wrench on pad of torque z is inf"),
        ({"pad": None}, "the wrench on pad"),
        ({"pad": np.zeros((2, 3, 6))}, "the wrench on pad has shape"),
        ({"pad": np.zeros((2, 6)), "boom": np.zeros((3, 6))}, "has 3 rows, another one has 2"),
        ({"pad": "force"}, "the wrench on pad must be numbers"),
        ({3: np.zeros(6)}, "there is no link 3"),
        ([1, 2, 3, 4, 5, 6], "wrenches"),
        ("pad", "wrenches"),
        (5, "wrenches"),
    ],
    ids=str,
)
def test_bad_wrenches(arm: Robot, wrenches: object, message: str) -> None:
    zeros = np.zeros(2)
    for call in (arm.inverse_dynamics, arm.forward_dynamics):
        with pytest.raises(InputError, match=message):
            call(zeros, zeros, zeros, wrenches)


# -- batches -------------------------------------------------------------------------------------


@pytest.mark.sparse
@pytest.mark.parametrize("name", [*CALLS, "frame_pose", "jacobian", "joint_state"])
def test_batches_equal_single_calls(name: str, robot: Robot) -> None:
    call, inputs = calls(robot)[name]
    for count in (0, 1, 5):
        x = state(robot, count)[:inputs]
        many = parts(call(*x))
        for k in range(count):
            for row, single in zip(many, parts(call(*(value[k] for value in x))), strict=True):
                close(row[k], single)
        x = state(robot)[:inputs]
        single = parts(call(*(value[0] for value in x)))
        assert [part.shape for part in many] == [(count, *part.shape) for part in single]
        assert all(part.dtype == np.float64 for part in many + single)


def parts(answer: object) -> list[np.ndarray]:
    return [np.asarray(part) for part in (answer if isinstance(answer, tuple) else (answer,))]


def test_one_input_serves_a_whole_batch(arm: Robot) -> None:
    q, v, a = state(arm, 3)
    for mask in range(1, 8):
        mixed = [x if mask >> k & 1 else x[0] for k, x in enumerate((q, v, a))]
        full = [x if mask >> k & 1 else np.tile(x[0], (3, 1)) for k, x in enumerate((q, v, a))]
        close(arm.inverse_dynamics(*mixed), arm.inverse_dynamics(*full), 0)
        close(arm.forward_dynamics(*mixed), arm.forward_dynamics(*full), 0)


def test_memory_layout_and_type_do_not_matter(arm: Robot) -> None:
    q, v, a = (np.round(x * 64) / 64 for x in state(arm, 6))  # exact in float32 too
    expected = arm.inverse_dynamics(q, v, a)

    def strided(x: np.ndarray) -> np.ndarray:
        wide = np.zeros((12, 4))
        wide[::2, ::2] = x
        return wide[::2, ::2]

    for change in (np.asfortranarray, strided, np.float32, np.ndarray.tolist, np.longdouble):
        found = arm.inverse_dynamics(*(change(x) for x in (q, v, a)))
        close(found, expected, 0)
        found = arm.inverse_dynamics(*(change(x)[2] for x in (q, v, a)))
        close(found, arm.inverse_dynamics(q[2], v[2], a[2]), 0)
    backwards = arm.inverse_dynamics(*(x[::-1] for x in (q, v, a)))
    close(backwards, expected[::-1], 0)
    swapped = arm.inverse_dynamics(*(x[0].astype(">f8") for x in (q, v, a)))
    close(swapped, arm.inverse_dynamics(q[0], v[0], a[0]), 0)
    whole = arm.inverse_dynamics(np.array([1, 0]), (2, 0), [0, 3])
    close(whole, arm.inverse_dynamics([1.0, 0.0], [2.0, 0.0], [0.0, 3.0]), 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", [0, 1, 2])
def test_a_bad_row_spoils_itself_alone(arm: Robot, bad: float, where: int) -> None:
    x = state(arm, 5)
    for call in (arm.inverse_dynamics, arm.forward_dynamics):
        expected = call(*x)
        spoilt = [value.copy() for value in x]
        spoilt[where][3, 1] = bad
        found = call(*spoilt)
        rest = [0, 1, 2, 4]
        assert np.array_equal(found[rest], expected[rest])
        assert not np.isfinite(found[3]).all()


def test_results_are_the_callers_own(arm: Robot) -> None:
    """Neither a later call nor the caller changes what was returned, or what was passed."""
    q, v, a = (x[0] for x in state(arm))
    inputs = [x.copy() for x in (q, v, a)]
    first = arm.inverse_dynamics(q, v, a)
    kept = first.copy()
    second = arm.inverse_dynamics(q, v, a)
    first[:] = 7.0
    third = arm.inverse_dynamics(2 * q, v, a)
    assert np.array_equal(second, kept) and not np.array_equal(third, kept)
    for before, after in zip(inputs, (q, v, a), strict=True):
        assert np.array_equal(before, after)


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("warm", [False, True], ids=["first call", "later call"])
@pytest.mark.parametrize(
    ("place", "bad", "message"),
    [
        (0, [1.0], r"position has shape \(1,\), but the robot has 2 .* order swing, dig"),
        (1, [1.0, 2, 3], r"velocity has shape \(3,\)"),
        (2, np.zeros((4, 3)), r"(acceleration|effort) has shape \(4, 3\)"),
        (0, np.zeros((2, 2, 2)), r"position has shape \(2, 2, 2\)"),
        (0, 1.0, r"position has shape \(\)"),
        (0, [], r"position has shape \(0,\)"),
        (0, [np.nan, 0], "position of swing is nan: every number must be finite"),
        (1, [0, np.inf], "velocity of dig is inf"),
        (2, [0, -np.inf], "(acceleration|effort) of dig is -inf"),
        (1, None, "velocity must be numbers"),
        (1, "fast", "velocity must be numbers"),
        (1, "12", "velocity must be numbers"),
        (1, ["a", "b"], "velocity must be numbers"),
        (1, [[1.0], [1.0, 2.0]], "velocity must be numbers"),
        (1, [None, None], "velocity"),
        (1, {"swing": 1, "dig": 2}, "velocity must be numbers"),
        (1, [1j, 2j], "velocity must be numbers"),
        (1, np.array([1j, 2j]), "velocity must be numbers"),
        (1, ..., "velocity must be numbers"),
        (1, b"\0" * 16, "velocity must be numbers"),
        (1, [10**400, 0], "velocity"),
    ],
    ids=str,
)
def test_bad_numbers(arm: Robot, place: int, bad: object, message: str, warm: bool) -> None:
    for call in (arm.inverse_dynamics, arm.forward_dynamics):
        good: list[object] = [np.zeros(2), np.zeros(2), np.zeros(2)]
        if warm:
            call(*good)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(InputError, match=message):
                call(*good[:place], bad, *good[place + 1 :])


def test_every_call_checks_its_numbers(arm: Robot) -> None:
    for _ in range(2):
        for name, (call, count) in calls(arm).items():
            good = [np.zeros(2)] * count
            call(*good)
            for place in range(count):
                for bad in ([0.0], [0.0, 0.0, 0.0], ["x", "y"], [np.nan, 0.0], [0.0, -np.inf]):
                    bad = np.array(bad)  # what the short way takes
                    with pytest.raises(InputError):
                        call(*good[:place], bad, *good[place + 1 :])
                        pytest.fail(f"{name} took {bad}")


def test_batches_of_different_lengths(arm: Robot) -> None:
    with pytest.raises(InputError, match="different lengths: q 2, v 3"):
        arm.coriolis_vector(np.zeros((2, 2)), np.zeros((3, 2)))
    with pytest.raises(InputError, match="different lengths: q 1, wrenches 3"):
        zeros = np.zeros(2)
        arm.inverse_dynamics(np.zeros((1, 2)), zeros, zeros, {"pad": np.zeros((3, 6))})


def test_orientations_must_be_unit_quaternions(drone: Robot) -> None:
    zeros = np.zeros(drone.nv)
    for quaternion, fits in (
        ([0, 0, 0, 1], True),
        ([0, 0, 0, 0], False),
        ([0, 0, 0, 1.01], False),
        ([0.5, 0.5, 0.5, 0.4999], False),
        ([0, 0, 0, 1 + 1e-7], True),
        ([0.5, -0.5, 0.5, -0.5], True),
    ):
        q = np.zeros(drone.nq)
        q[3:7] = quaternion
        for _ in range(2):  # the short way, once it is there, checks too
            for call in (
                lambda q: drone.gravity_vector(q),
                lambda q: drone.inverse_dynamics(q, zeros, zeros),
                lambda q: drone.mass_matrix(np.array([q, q])),
                lambda q: drone.frame_pose(q, "pad"),
            ):
                if fits:
                    call(q)
                    continue
                with pytest.raises(InputError, match="floating_base must be a unit quaternion"):
                    call(q)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"home": {"swng": 1.0}}, "home names 'swng', which is not a movable joint"),
        ({"home": {"pad_bolt": 1.0}}, "home names 'pad_bolt'"),
        ({"home": {"swing": np.nan}}, "home position of swing is nan"),
        ({"home": {"swing": "left"}}, "home position must be numbers"),
        ({"home": {("swing",): 1.0}}, "home names"),
        ({"home": ["swing"]}, "home"),
        ({"home": "swing"}, "home"),
        ({"home": 3}, "home"),
        ({"gravity": (0, 0)}, r"gravity has shape \(2,\)"),
        ({"gravity": np.zeros((2, 3))}, "gravity"),
        ({"gravity": (0, 0, np.nan)}, "gravity of z is nan"),
        ({"gravity": "down"}, "gravity must be numbers"),
        ({"gravity": 9.81}, "gravity has shape"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mbdyn_ros.load(ARM, **options)


@pytest.mark.parametrize("link", ["Pad", "", None, 3, ["pad"], {"pad": 1}, np.array(["pad"])])
def test_unknown_links(arm: Robot, link: object) -> None:
    for call in (arm.frame_pose, arm.jacobian):
        with pytest.raises(InputError, match="there is no link .*the links are world, boom"):
            call([0, 0], link)
    with pytest.raises(InputError):
        arm.bind("frame_pose", link)


def test_unknown_programs(arm: Robot) -> None:
    for name in ("inverse_dynamic", "", None, 3, ["inverse_dynamics"], "bind"):
        with pytest.raises(InputError, match="there is no program .*inverse_dynamics, "):
            arm.bind(name)
        with pytest.raises(InputError, match="there is no program"):
            arm.compile(name)
    with pytest.raises(InputError, match="jacobian needs link"):
        arm.bind("jacobian")
    with pytest.raises(InputError, match="mass_matrix has no link"):
        arm.bind("mass_matrix", "pad")


def test_a_number_too_large_is_an_error_not_an_infinity(arm: Robot) -> None:
    zeros, large = np.zeros(2), np.array([1e200, 1e200])
    for _ in range(2):
        with pytest.raises(MbdynError, match="velocity of .* is 1e.200, too large"):
            arm.inverse_dynamics(zeros, large, zeros)
        arm.inverse_dynamics(zeros, zeros, zeros)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.dates()
    | st.decimals()
    | st.fractions()
    | st.sampled_from([np.zeros(2), np.zeros((3, 2)), np.nan, object(), type, len, iter(()), ...])
    | st.sampled_from([np.zeros(2, "f4"), np.zeros(2, "M8[s]"), np.zeros(2, "U3"), np.ma.masked])
    | st.sampled_from([np.zeros(2, "i8,f8"), memoryview(b"ab"), np.zeros((2, 0)), range(2)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2) | st.sampled_from(["pad", "boom"]), inner, max_size=2)
        | st.sets(st.integers(), max_size=2)
    ),
    max_leaves=4,
)


@pytest.mark.filterwarnings("ignore")
@explore(50, 200)
@given(st.sampled_from([*CALLS, "joint_state"]), st.lists(ANYTHING, min_size=6, max_size=6))
@example("inverse_dynamics", [[0, 0], [0, 0], [0, 0], {"pad": [0] * 6}, True, None])
def test_anything_else_is_refused_by_our_errors(arm: Robot, name: str, values: list) -> None:
    """Any Python object as any argument: an answer or an error of ours, nothing else."""
    count = calls(arm)[name][1]
    tries = [values[:count]]
    tries += [[[0.5, 0.5]] * k + [values[k]] + [[0.5, 0.5]] * (count - k - 1) for k in range(count)]
    call = getattr(arm, name)
    for arguments in tries:
        attempt(lambda arguments=arguments: call(*arguments))
    good = [[0.5, 0.5]] * 3
    attempt(lambda: arm.inverse_dynamics(*good, values[3]))
    attempt(lambda: arm.forward_dynamics(*good, {"pad": values[3]}))
    attempt(lambda: arm.frame_pose(good[0], values[4]))
    attempt(lambda: arm.jacobian(values[5], "pad"))


@pytest.mark.filterwarnings("ignore")
@settings(
    max_examples=50,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ANYTHING, ANYTHING)
def test_any_options_are_refused_by_our_errors(one: object, two: object) -> None:
    attempt(lambda: mbdyn_ros.load(ARM, home=one))
    attempt(lambda: mbdyn_ros.load(ARM, gravity=two))
    attempt(lambda: mbdyn_ros.load(ARM, home={"swing": two}))
    if not isinstance(one, str | bytes):
        attempt(lambda: mbdyn_ros.load(one))


def attempt(call: Callable[[], object]) -> None:
    try:
        answer = call()
    except MbdynError as error:
        assert re.search(r"\w", str(error))
    else:
        assert answer is not None


# -- the rest of the contract ---------------------------------------------------------------------


def test_warnings_point_at_the_caller() -> None:
    text = ARM.replace('ixx="0.3"', 'ixx="3"', 1)
    text = text.replace('velocity="9"', 'velocity="9" lower="-1" upper="1"')
    with pytest.warns(mbdyn_ros.ModelWarning, match="boom") as caught:
        robot = mbdyn_ros.load(text)
        mbdyn_ros.Robot(robot.model)
    with pytest.warns(mbdyn_ros.SimulationWarning, match="beyond limits") as late:
        mbdyn_ros.simulate(robot, np.full(robot.nq, 1.5), np.zeros(robot.nv), 0.001)
    assert {warning.filename for warning in [*caught, *late]} == {__file__}
    assert robot.warnings and all("boom" in warning for warning in robot.warnings)


@pytest.mark.sparse
def test_operation_counts(arm: Robot) -> None:
    counts = arm.operation_counts()
    assert set(CALLS) <= set(counts)
    for of_one in counts.values():
        assert set(of_one) == {"multiplications", "additions", "divisions", "functions"}
        assert all(isinstance(number, int) and number >= 0 for number in of_one.values())
    assert counts["forward_dynamics"]["divisions"] > 0
    assert counts["inverse_dynamics"]["divisions"] == 0
    # a damper is a product and a sum, a dry friction a sign, a product and a sum; two joints have
    assert counts["friction_vector"]["functions"] == 2
    assert counts["gravity_vector"]["functions"] == 4  # sine and cosine of two angles


def test_gravity_is_the_callers() -> None:
    heavy = mbdyn_ros.load(ARM, gravity=(1.0, 2.0, -20.0))
    light = mbdyn_ros.load(ARM, gravity=np.zeros(3))
    q, v, a = (x[0] for x in state(light))
    np.testing.assert_array_equal(light.gravity_vector(q), [0, 0])
    assert light.energy(q, v)[1] == 0
    effort = light.inverse_dynamics(q, v, a) + heavy.gravity_vector(q)
    close(heavy.inverse_dynamics(q, v, a), effort)
    close(heavy.gravity_vector(q), mbdyn_ros.load(ARM, gravity=(2, 4, -40)).gravity_vector(q) / 2)
    step = 1e-6
    ends = [heavy.energy(q + sign * np.array([0, step]), v)[1] for sign in (1, -1)]
    close((ends[0] - ends[1]) / (2 * step), heavy.gravity_vector(q)[1], 1e-7)
