"""Joint friction of mechanisms: free bodies solved by SciPy, and the balance of power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve

from mbdyn_ros import InputError
from mbdyn_ros.mechanisms import (
    MECHANISMS,
    Analysis,
    FourBar,
    Friction,
    Parallelogram,
    SliderCrank,
    constant_speed,
)
from mbdyn_ros.mechanisms.view.forces import PlaneMotion

pytestmark = pytest.mark.usefixtures("interpreted")
DRY = Friction(0.15, 0.012, 0.003)


@pytest.mark.parametrize("speed", [12.0, -12.0])
def test_a_slider_crank_by_free_bodies(speed: float) -> None:
    """Eight forces and the torque of three free bodies, friction written where it acts."""
    mechanism = SliderCrank(offset=0.03)
    analysis = Analysis(mechanism, constant_speed(speed, start=0.4, turn=1.0, points=2), DRY)
    moves, pose, row = PlaneMotion(analysis), analysis.pose, 0
    w = {name: analysis.in_plane[1][row, k] for k, name in enumerate(("crank", "coupler"))}
    alpha = {name: analysis.in_plane[2][row, k] for k, name in enumerate(("crank", "coupler"))}
    slide = analysis.in_plane[1][row, 2]
    parts = {part.name: part.piece for part in mechanism.layout().parts}
    center = {name: pose.point(name, piece.middle)[row] for name, piece in parts.items()}
    pull = {name: moves.acceleration(name, piece.middle)[row] + 9.81j
            for name, piece in parts.items()}  # fmt: skip
    pins = [0j, pose.origins["coupler"][row], pose.origins["slider"][row]]

    def turning(force: complex, rate: float) -> float:
        return float(-np.sign(rate) * 0.15 * 0.012 * abs(force) - 0.003 * rate)

    def cross(arm: complex, force: complex) -> float:
        return (arm.conjugate() * force).imag

    def laws(x: np.ndarray) -> list[float]:
        f1, f2, f3 = (complex(x[2 * k], x[2 * k + 1]) for k in range(3))
        normal, torque = x[6:]
        t1 = turning(f1, w["crank"])
        t2 = turning(f2, w["coupler"] - w["crank"])
        t3 = turning(f3, -w["coupler"])  # of the slider in the coupler
        rub = -np.sign(slide) * 0.15 * abs(normal) - 0.003 * slide
        forces = [
            f1 - f2 - parts["crank"].mass * pull["crank"],
            f2 - f3 - parts["coupler"].mass * pull["coupler"],
            f3 + complex(rub, normal) - parts["slider"].mass * pull["slider"],
        ]
        crank = cross(pins[0] - center["crank"], f1) - cross(pins[1] - center["crank"], f2)
        coupler = cross(pins[1] - center["coupler"], f2) - cross(pins[2] - center["coupler"], f3)
        moments = [
            crank + torque + t1 - t2 - parts["crank"].moment * alpha["crank"],
            coupler + t2 - t3 - parts["coupler"].moment * alpha["coupler"],
        ]
        return [part for force in forces for part in (force.real, force.imag)] + moments

    found = fsolve(laws, np.ones(8), xtol=1e-13)
    assert np.abs(laws(found)).max() < 1e-9
    assert analysis.torque[row, 0] == pytest.approx(found[7], rel=1e-8)
    force = analysis.reactions["coupler_joint"][row, :2]
    assert force == pytest.approx(found[2:4], rel=1e-8)
    assert abs(analysis.torque[row, 0] - Analysis(mechanism, analysis.motion).torque[row, 0]) > 1e-2


@pytest.mark.parametrize("name", ["four_bar", "quick_return", "watt", "stephenson_2",
                                  "planetary_gear"])  # fmt: skip
def test_what_the_drive_gives_more_is_lost(name: str) -> None:
    mechanism, motion = MECHANISMS[name](), constant_speed(7.0, points=25)
    rough = Analysis(mechanism, motion, DRY)
    more = ((rough.torque - Analysis(mechanism, motion).torque) * motion.v).sum(axis=1)
    assert rough.joint_friction is not None
    assert more == pytest.approx(rough.joint_friction.power, rel=1e-9, abs=1e-9)
    assert rough.joint_friction.power.min() > 0


def test_friction_of_one_joint_and_none() -> None:
    motion = constant_speed(7.0, points=9)
    smooth = Analysis(FourBar(), motion)
    zero = Analysis(FourBar(), motion, Friction())
    assert zero.torque == pytest.approx(smooth.torque, rel=1e-12)
    own = Analysis(FourBar(), motion, {"crank_joint": Friction(damping=0.2)})
    assert own.torque - smooth.torque == pytest.approx(np.full((9, 1), 1.4), rel=1e-9)


def test_what_friction_is_not() -> None:
    motion = constant_speed(7.0, points=9)
    with pytest.raises(InputError, match="coefficient is -0.1"):
        Friction(-0.1)
    with pytest.raises(InputError, match='did you mean "crank_joint"'):
        _ = Analysis(FourBar(), motion, {"crank_join": DRY}).torque
    with pytest.raises(InputError, match="share of its pins' forces"):
        _ = Analysis(Parallelogram(), motion, DRY).torque
    with pytest.raises(InputError, match="the joints lock"):
        _ = Analysis(FourBar(), motion, Friction(0.9, 0.2)).torque
