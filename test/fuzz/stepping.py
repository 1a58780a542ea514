"""Compiled steps, bound calls and rollouts with wrong numbers between right ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from interpreting import compiling

import mbdyn_ros

from .mutation import wrong_array

FLOOR = mbdyn_ros.Surface.plane(restitution=0.4, friction=0.6)
FALLING = {"boom": True, "four_bar": False}
"""Robots of the box, and whether they fall on a floor."""

ACTS = 12
"""Of a case, one after the other on the same Stepper."""


@lru_cache
def _compiled(name: str) -> tuple[mbdyn_ros.Robot, mbdyn_ros.Stepper]:
    with compiling():
        made = mbdyn_ros.example(name, floating_base=FALLING[name])
        walls = mbdyn_ros.Environment([FLOOR]) if FALLING[name] else None
        return made, mbdyn_ros.Stepper(made, 1e-3, walls)


def stepping(dice: random.Random) -> Callable[[], None]:
    """A Stepper that is moved, driven, and assigned to; a state that it keeps is finite.

    The outcome is that of the last act; after all of them the Stepper still takes steps.
    """
    name = dice.choice(sorted(FALLING))

    def call() -> None:
        with compiling():
            made, stepper = _compiled(name)
            home = made.home_position.copy()
            if FALLING[name]:
                home[2] += 0.6

            def begin() -> None:
                stepper.step, stepper.wrenches = 1e-3, {}
                stepper.set_state(home, np.zeros(made.nv))
                stepper.effort = np.zeros(len(made.effort_labels))

            begin()
            refused = None
            for _ in range(ACTS):
                try:
                    refused = None
                    _act(made, stepper, dice)
                except mbdyn_ros.MbdynError as error:
                    assert str(error).strip()
                    refused = error
                    if not np.isfinite([*stepper.q, *stepper.v]).all():
                        stepper.set_state(home, np.zeros(made.nv))
            begin()
            stepper.advance(3)
            assert np.isfinite([*stepper.q, *stepper.v]).all()
            if refused is not None:
                raise refused

    return call


def _act(made: mbdyn_ros.Robot, stepper: mbdyn_ros.Stepper, dice: random.Random) -> None:
    nq, nv, efforts = len(stepper.q), made.nv, len(stepper.effort)
    link = dice.choice([one.name for one in made.model.links])
    actions: tuple[Callable[[], Any], ...] = (
        lambda: stepper.advance(dice.choice((0, 1, 7, 300))),
        lambda: stepper.advance(dice.choice((-1, 1.5, "1", None, 10**30, True))),  # type: ignore[arg-type]
        lambda: stepper.set_state(wrong_array(nq, dice), wrong_array(nv, dice)),
        lambda: setattr(stepper, dice.choice("qv"), wrong_array(nq, dice)),
        lambda: setattr(stepper, "effort", wrong_array(efforts, dice)),
        lambda: setattr(stepper, "step", dice.choice((1e-4, 0.0, -1.0, np.nan, 1e300, 10**400))),
        lambda: setattr(stepper, "wrenches", {link: wrong_array(6, dice)}),
        lambda: stepper.effort.__setitem__(0, dice.choice((1.0, 1e300, np.nan))),
        lambda: stepper.take_impacts(),
        lambda: [one.force for one in stepper.contacts],
        lambda: made.inverse_dynamics(*(wrong_array(n, dice) for n in (nq, nv, nv))),
        lambda: _bound(made, dice),
        lambda: made.rollout(
            made.home_position, wrong_array(nv, dice),
            np.zeros((dice.choice((1, 3)), dice.choice((0, 4)), efforts)), 1e-3,
            environment=stepper.environment,
        ),
    )  # fmt: skip
    dice.choice(actions)()


def _bound(made: mbdyn_ros.Robot, dice: random.Random) -> None:
    bound = made.bind("inverse_dynamics")
    bound.q = wrong_array(len(made.home_position), dice)
    bound()
