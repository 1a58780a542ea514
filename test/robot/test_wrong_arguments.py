"""Wrong arguments of every public method end in an error of ours, or an answer; nothing else."""

import inspect

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros import identification, motion

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning"),
]


class Rude:
    """Something that raises whenever it is asked for anything."""

    def _raise(self, *_args, **_kwargs):
        raise RuntimeError("rude")

    __array__ = __float__ = __len__ = __iter__ = __bool__ = __index__ = __repr__ = _raise


def wrong():
    """Return wrong arguments of about thirty kinds, new ones each time: `out` is written into."""
    return [
        None, True, -1, 0, 1.5, 10**400, -(10**400), float("nan"), float("inf"), 1j, "", "abc",
        "\n", b"x", [], {}, (), {"a": 1}, {1: 2}, [None], ["abc"], [[1], [1, 2]], np.zeros(0),
        np.zeros((2, 3, 4)), np.zeros((3, 1)), np.array("x"), np.ma.array([1.0], mask=[True]),
        object(), Rude(), set(), len, range(3), np.zeros((2, 3), complex), np, [float("nan")] * 6,
    ]  # fmt: skip


def right(robot, name, folder):
    """Return arguments of every name that fit a robot."""
    q, v, effort = robot.home_position, np.zeros(robot.nv), np.zeros(len(robot.effort_labels))
    base = q[: 7 * robot.floating_base]
    return {
        "q": q, "q0": q, "q1": q, "v": v, "a": v, "dv": v, "v0": v, "effort": effort, "t": 0.5,
        "link": robot.moving_links[-1], "efforts": np.zeros((2, len(effort))), "dt": 0.01,
        "position": np.concatenate([base, robot.joint_state(q)[0]]), "mass": 1.0,
        "com": [0, 0, 0], "inertia": np.eye(3), "joint": robot.joint_names[-1], "damping": 1.0,
        "armature": 1.0, "stiffness": 1.0, "gravity": [0, 0, -9.81], "pose": np.eye(4),
        "joints": list(robot.independent_joints), "home": dict(robot.home), "other": robot,
        "at": robot.links[-1], "length": 1.0, "directory": folder / "x", "path": folder / "x.urdf",
        "name": "mass_matrix" if name in ("bind", "casadi") else robot.joint_names[0],
    }  # fmt: skip


LONG = ("generate_c", "generate_cpp", "closed_form", "inverse_dynamics_second_derivatives",
        "forward_dynamics_second_derivatives", "base_parameters", "operation_counts",
        "compile")  # fmt: skip
"""Methods that take long with right arguments: only others than arrays are wrong there."""

METHODS = [
    name
    for name, one in inspect.getmembers(mbdyn_ros.Robot)
    if not name.startswith("_")
    and inspect.isfunction(one)
    and len(inspect.signature(one).parameters) > 1
]


def foreign(call, arguments, positional=()):
    """Return what went wrong with a call, or nothing."""
    try:
        call(*positional, **arguments)
    except mbdyn_ros.MbdynError as error:
        assert str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def faults(robot, name, folder):
    """Return every wrong argument of a method that ends in another exception than ours."""
    found = []
    parameters = inspect.signature(getattr(robot, name)).parameters.values()
    fitting = right(robot, name, folder)
    needed = {
        one.name: fitting.get(one.name, "abc")
        for one in parameters
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    }
    for parameter in parameters:
        for value in wrong():
            if parameter.name == "starts" and isinstance(value, int) and value > 1:
                continue  # as many as asked for, and that takes its time
            arguments, positional = {**needed, parameter.name: value}, ()
            if parameter.kind is parameter.VAR_POSITIONAL:
                arguments, positional = {}, (value,)
            elif parameter.kind is parameter.VAR_KEYWORD:
                arguments = {**needed, "xyz": value}
            elif name in ("generate_c", "generate_cpp") and _is_right(parameter, value):
                continue
            if text := foreign(getattr(robot, name), arguments, positional):
                found.append((parameter.name, type(value).__name__, text))
    if not name.startswith("set_"):
        return found
    robot.set_gravity([0, 0, -9.81])
    return found


def _is_right(parameter, value):
    """Whether it is a right argument of code generation after all, which takes seconds."""
    if isinstance(value, np.ndarray):
        return False
    return value is None or value == parameter.default or value in ([], {}, "", "abc", "\n")


@pytest.mark.sparse
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_a_loop_refuse_in_words(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not faults(mbdyn_ros.example("four_bar"), name, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("robot", ["ur5", "excavator", "quadruped"])
@pytest.mark.parametrize("name", METHODS)
def test_methods_refuse_in_words(robot, name, tmp_path, monkeypatch):
    if name in LONG:
        pytest.skip("the same for every robot")
    monkeypatch.chdir(tmp_path)
    loaded = mbdyn_ros.example(robot, floating_base=robot == "quadruped" or None)
    assert not faults(loaded, name, tmp_path)


def test_motions_refuse_in_words():
    robot = mbdyn_ros.example("four_bar")
    joint = list(robot.independent_joints)
    points = np.zeros((3, 1))
    functions = {
        motion.MeasuredJoints: {"robot": robot, "joints": joint},
        motion.JointSpace: {"robot": robot, "joints": joint},
        motion.convert_trajectory: {"robot": robot, "joints": joint, "position": points},
        motion.resample_efforts: {
            "robot": robot, "time": [0, 1, 2], "position": points, "velocity": points,
        },
        motion.first_violation: {"robot": robot, "given": {"position": (joint, points)}},
        identification.identify: {
            "robot": robot, "q": points, "v": points, "a": points, "effort": points,
        },
        mbdyn_ros.example: {"name": "four_bar"},
        mbdyn_ros.load: {"source": "<robot name='a'><link name='b'/></robot>"},
    }  # fmt: skip
    found = []
    for function, needed in functions.items():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            for value in wrong():
                if text := foreign(function, {**needed, parameter.name: value}):
                    found.append((function.__name__, parameter.name, type(value).__name__, text))
    assert not found


def test_measured_joints_refuse_wrong_states():
    measured = motion.MeasuredJoints(mbdyn_ros.example("four_bar"), ["crank_joint"])
    found = [foreign(measured.update, {"position": value}) for value in wrong()]
    found += [foreign(measured.update, {"position": [0], "velocity": one}) for one in wrong()]
    assert not [text for text in found if text]


def test_names_of_other_types_are_refused_as_names():
    robot = mbdyn_ros.example("ur5")
    for call in (robot.locked, lambda one: robot.with_independent(one, {})):
        with pytest.raises(mbdyn_ros.InputError, match="list of names"):
            call([None])
    assert robot.locked({}).nv == robot.locked([]).nv == 6
    boom = mbdyn_ros.example("four_bar")
    assert boom.locked({}).joint_names == boom.joint_names
    with pytest.raises(mbdyn_ros.InputError, match=r"shape \(2, 2\)"):
        boom.undetermined_wrenches(np.zeros((2, 2)))
    with pytest.raises(mbdyn_ros.InputError, match="must name a file"):
        boom.save_urdf(".")
    with pytest.raises(mbdyn_ros.InputError, match="rng must be from 0"):
        boom.random(-1)
    with pytest.raises(mbdyn_ros.InputError, match="a positive number of seconds"):
        boom.rollout([0], [0], [[0]], dt=10**400)
