"""Contacts in noise: none where nothing touches, each within 20 ms, and what may have been hit."""

from __future__ import annotations

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.control import ContactDetector, Controller, Observer, Reaction, Thresholds
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.read.installed import find_robot

STEP = 1e-3
NOISE = {"position": 2e-5, "velocity": 2e-3, "effort": 0.2}
"""rad, rad/s and N m of an arm's encoders and torques."""

WAY = np.array([0.6, 0.5, 0.6, 0.5, 0.5, 0.6])
START = np.array([0.2, -1.2, 1.4, -0.6, 1.1, 0.3])


@pytest.fixture(scope="module")
def arm() -> mbdyn_ros.Robot:
    robot = mbdyn_ros.load(find_robot("ur5"), variable=["armature"])
    for joint in robot.independent_joints:
        robot.set_armature(joint, 0.1)
    return robot


class Recording:
    """An arm that follows its motion exactly, as sensors with noise measure it."""

    def __init__(self, robot: mbdyn_ros.Robot, begin: float, duration: float, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.time = begin + STEP * np.arange(round(duration / STEP))
        rates = 1.3 * np.sqrt([1.0, 1.3, 1.7, 2.1, 2.3, 2.9])
        phase = self.time[:, None] * rates
        self.q, self.v = START + WAY * np.sin(phase), WAY * rates * np.cos(phase)
        self.effort = robot.inverse_dynamics(self.q, self.v, -WAY * rates**2 * np.sin(phase))
        self.noise = [size * random.normal(size=self.q.shape) for size in NOISE.values()]

    def observed(self, robot: mbdyn_ros.Robot, push: Array | None = None) -> Array:
        """External efforts (N, nv), under pushes (N, nv) as joints feel them."""
        observer = Observer(robot)
        effort = self.effort if push is None else self.effort - push
        pairs = zip((self.q, self.v, effort), self.noise, strict=True)
        rows = zip(self.time, *(exact + noise for exact, noise in pairs), strict=True)
        result = np.zeros_like(self.q)
        for k, (t, q, v, torque) in enumerate(rows):
            observer.q[:], observer.v[:], observer.effort[:] = q, v, torque
            result[k] = observer.cycle(t)
        return result


@pytest.fixture(scope="module")
def thresholds(arm: mbdyn_ros.Robot) -> Thresholds:
    return Thresholds.learn(arm.velocity_labels, Recording(arm, 0.0, 20.0, 0).observed(arm))


@pytest.mark.parametrize(
    "minutes", [0.5, pytest.param(10.0, marks=pytest.mark.long)]
)  # fmt: skip
def test_no_false_alarm(arm: mbdyn_ros.Robot, thresholds: Thresholds, minutes: float) -> None:
    """In another stretch of the motion, whose poses are all others."""
    free, detector = Recording(arm, 100.0, 60 * minutes, 1), ContactDetector(arm, thresholds)
    for t, q, external in zip(free.time, free.q, free.observed(arm), strict=True):
        assert detector.update(t, q, external) is None


@pytest.mark.parametrize("direction", range(6))
def test_a_push_at_the_tool_is_seen_within_20_ms(
    arm: mbdyn_ros.Robot, thresholds: Thresholds, direction: int
) -> None:
    """20 N along and against each axis; and the tool can have been hit."""
    part, sign = direction % 3, 1 - 2 * (direction // 3)
    moving, detector = Recording(arm, 200.0, 2.0, 2), ContactDetector(arm, thresholds)
    columns = arm.jacobian(moving.q, "tool0")[:, part] * 20.0 * sign
    hit = moving.time[0] + 1.0
    push = columns * (moving.time >= hit)[:, None]
    seen = []
    for t, q, external in zip(moving.time, moving.q, moving.observed(arm, push), strict=True):
        contact = detector.update(t, q, external)
        if contact is not None:
            seen.append(contact)
    assert len(seen) == 1
    (contact,) = seen
    assert hit <= contact.time <= hit + 0.02
    assert contact.began <= hit + 0.01
    assert "wrist_3_link" in contact.links


def test_which_link_can_have_been_hit(arm: mbdyn_ros.Robot, thresholds: Thresholds) -> None:
    """The forearm moves three joints: two before cannot explain it, nor do links behind more."""
    q, detector = START, ContactDetector(arm, thresholds)
    external = arm.jacobian(q, "forearm_link").T @ np.array([0, 0, -60.0, 0, 9, 0])
    contact = detector.update(0.0, q, thresholds.center + external)
    assert contact is not None
    assert contact.links[0] == "forearm_link" and contact.farthest == "elbow_joint"
    both = external + arm.jacobian(q, "wrist_3_link").T @ np.array([0, 0, 0, 8.0, 5, 9])
    assert "forearm_link" not in detector.links(q, thresholds.center + both)


def test_it_ends_when_nothing_touches(arm: mbdyn_ros.Robot, thresholds: Thresholds) -> None:
    detector, pushed = ContactDetector(arm, thresholds), thresholds.center + 2 * thresholds.joint
    assert detector.update(0.0, START, pushed) is not None
    assert detector.update(0.01, START, pushed) is None and detector.contact is not None
    for k in range(2, 10):
        detector.update(0.01 * k, START, thresholds.center)
    assert detector.contact is None
    assert detector.update(0.2, START, pushed) is not None


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("kind", ["stop", "float", "retract"])
def test_reactions(kind: str) -> None:
    """A moving arm stops, gives way, or goes back to where it was half a second before."""
    robot = mbdyn_ros.load(find_robot("ur5"), variable=["armature"])
    for joint in robot.independent_joints:
        robot.set_armature(joint, 0.5)
    control = Controller(robot)
    control.set_gains(joint_stiffness=[800.0], joint_damping=[60.0], guiding_damping=[5.0])
    reaction = Reaction(control, kind)
    control.q[:], control.v[:] = START, 0.4
    control.switch("joint_impedance")
    control.wanted_v[:] = 0.4
    path, hit = [], 0.6
    for k in range(2600):
        t = STEP * k
        if t < hit:
            control.wanted_q[:] = START + 0.4 * t
            reaction.remember(t)
        elif not path:
            path, speed = [control.q.copy()], control.v.copy()
            reaction.begin(t)
        a = robot.forward_dynamics(control.q, control.v, reaction.cycle(t))
        control.v += STEP * a
        control.q += STEP * control.v
    at_hit = path[0]
    if kind == "float":
        assert (control.q > at_hit + 0.005).all() and np.abs(control.v).max() < np.abs(speed).max()
    else:
        back = 0.2 if kind == "retract" else 0.0
        np.testing.assert_allclose(control.q, at_hit - back, atol=0.01)
        np.testing.assert_allclose(control.v, 0, atol=0.01)


def test_bad_input(arm: mbdyn_ros.Robot, thresholds: Thresholds) -> None:
    labels = arm.velocity_labels
    for rows, words in (
        (np.zeros((10, 6)), r"shape \(10, 6\)"),
        (np.zeros((200, 6)), "shoulder_pan_joint is constant"),
        (np.full((200, 6), np.nan), "NaN"),
    ):
        with pytest.raises(InputError, match=words):
            Thresholds.learn(labels, rows)
    cart = mbdyn_ros.load(find_robot("slider_crank"))
    with pytest.raises(InputError, match="the thresholds are of shoulder_pan_joint"):
        ContactDetector(cart, thresholds)
    with pytest.raises(InputError, match="there is no reaction 'run'"):
        Reaction(Controller(arm), "run")
    with pytest.raises(InputError, match="holds no joints"):
        Reaction(Controller(arm), "stop", "gravity_compensation")
