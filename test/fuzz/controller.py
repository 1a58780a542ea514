"""Joint states, references and gains that no controller should believe."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import mbdyn_ros
from mbdyn_ros.control import MODES

from .robots import robot

if TYPE_CHECKING:
    from mbdyn_ros.ros.nodes.control_loop import ControlLoop

CYCLES, PERIOD = 12, 0.01
WILD = (0.0, 1e-9, -1.0, 1e12, 1e300, math.nan, math.inf)


def controller(dice: random.Random) -> Callable[[], None]:
    """`computed_torque` on measured states of which some are wrong, its mode and gains changed."""
    made = robot(dice.choice(("boom.urdf", "four_bar.urdf", "manipulator.urdf")))

    def call() -> None:
        from mbdyn_ros.ros.nodes.control_loop import ControlLoop, Doubts
        from mbdyn_ros.ros.nodes.follower import Conditions

        conditions = Conditions(1.0, 60.0, 0.1, True, 0.1, dice.choice((0.0, 0.2)))
        doubts = Doubts(dice.choice((0.0, 0.01)), dice.choice((0.0, 0.1)))
        given = {"link": made.model.links[-1].name, "measured_joints": [], "thresholds": [],
                 "centers": [], "observer_time_constant": 0.01}  # fmt: skip
        loop = ControlLoop(made, (), conditions, doubts, given)
        refused: mbdyn_ros.MbdynError | None = None
        acts = (_measure, _change) if dice.random() < 0.7 else (_measure,)
        for k in range(CYCLES):
            now = 5.0 + k * PERIOD
            for act in acts:
                try:
                    act(loop, now, dice)
                except mbdyn_ros.MbdynError as error:
                    assert str(error).strip()
                    refused = error
            try:
                efforts = loop.rest() if loop.idle_reason(now) else loop.efforts(now)
            except mbdyn_ros.MbdynError as error:  # a fault of the node, which sends zeros
                refused, efforts = error, loop.rest()
                loop.drop()
            bound = loop.limits.bound[loop.order]
            assert (np.abs(efforts) <= bound).all(), f"{loop.control.mode}: {efforts}"
        if refused is not None:
            raise refused

    return call


def _measure(loop: ControlLoop, now: float, dice: random.Random) -> None:
    """A message of joint states, wrong in one respect as often as not."""
    from sensor_msgs.msg import JointState

    made = loop.robot
    q = made.home_position + 0.01 * math.sin(3 * now)
    position, velocity, _ = made.joint_state(q, np.full(made.nv, 0.03 * math.cos(3 * now)))
    message = JointState(name=list(made.joint_names), position=position.tolist())
    message.velocity = velocity.tolist()
    place, sent = dice.randrange(len(message.name)), now
    wrong: dict[int, Callable[[], Any]] = {
        0: lambda: message.name.pop(place),
        1: lambda: message.name.__setitem__(place, dice.choice(("", "ghost", message.name[0]))),
        2: lambda: message.position.__setitem__(place, dice.choice((0.5, *WILD))),
        3: lambda: message.velocity.__setitem__(place, dice.choice((30.0, *WILD))),
        4: lambda: message.position.pop(),
        5: lambda: message.velocity.append(0.0),
    }
    chosen = dice.randrange(14)
    if chosen in wrong:
        wrong[chosen]()
    elif chosen == 6:
        sent += dice.choice((-60.0, -0.2, 0.05, 1e9))
    loop.take(message, now, sent)


def _change(loop: ControlLoop, now: float, dice: random.Random) -> None:
    """Another mode, gain, target or reference."""
    from mbdyn_ros.motion.reference import Reference

    made, control = loop.robot, loop.control
    chosen = dice.randrange(6)
    if chosen == 0:
        loop.switch(dice.choice(control.modes), now)
    elif chosen == 1:
        gain = dice.choice([one for mode in MODES.values() for one in mode.gains])
        control.set_gains(**{gain: [dice.choice((5.0, *WILD)) for _ in range(dice.randrange(3))]})
    elif chosen == 2:
        place, turn = np.array([dice.choice((0.0, *WILD)) for _ in range(3)]), np.eye(4)[3]
        loop.aim(control.place + place if dice.random() < 0.5 else place, turn, now)
    elif chosen == 3:
        start = made.home_position + dice.choice((0.0, 0.01, *WILD))
        loop.follow(Reference(np.array([0.0, 0.1]), np.array([start, start + 0.01])), now, now)
