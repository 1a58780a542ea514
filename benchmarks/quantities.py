"""Times of frames, momentum, Coriolis matrix and inverses against Pinocchio's.

    python -m benchmarks.quantities [URDF ...]

Calls take turns in one process; minima of many blocks. Pinocchio runs as its users call it: the
function that fills its data, then the one that reads the frame.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbdyn_ros
from mbdyn_ros.bench.benchmark import Call, PinocchioPeer, random_state, time_calls

FRAME = "frame, pin.LOCAL_WORLD_ALIGNED"

PEERS = {
    "bias_vector": ("q, v", "pin.nonLinearEffects(model, data, q, v)"),
    "coriolis_matrix": ("q, v", "pin.computeCoriolisMatrix(model, data, q, v)"),
    "inverse_mass_matrix": ("q", "pin.computeMinverse(model, data, q)"),
    "center_of_mass": ("q", "pin.centerOfMass(model, data, q)"),
    "center_of_mass_velocity": ("q, v", "pin.centerOfMass(model, data, q, v)"),
    "center_of_mass_jacobian": ("q", "pin.jacobianCenterOfMass(model, data, q)"),
    "centroidal_momentum": ("q, v", "pin.computeCentroidalMomentum(model, data, q, v)"),
    "centroidal_momentum_matrix": ("q, v", "pin.ccrba(model, data, q, v)"),
    "centroidal_momentum_rate": (
        "q, v, a",
        "pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)",
    ),
    "frame_pose": (
        "q",
        "pin.forwardKinematics(model, data, q); pin.updateFramePlacement(model, data, frame)",
    ),
    "frame_velocity": (
        "q, v",
        f"pin.forwardKinematics(model, data, q, v); pin.getFrameVelocity(model, data, {FRAME})",
    ),
    "frame_acceleration": (
        "q, v, a",
        "pin.forwardKinematics(model, data, q, v, a); "
        f"pin.getFrameClassicalAcceleration(model, data, {FRAME})",
    ),
    "jacobian": ("q", f"pin.computeFrameJacobian(model, data, q, {FRAME})"),
    "jacobian_rate": (
        "q, v",
        "pin.computeJointJacobiansTimeVariation(model, data, q, v); "
        f"pin.getFrameJacobianTimeVariation(model, data, {FRAME})",
    ),
}
"""Our methods, with their arguments, and what gives the same in Pinocchio."""


def compare(path: Path, floating_base: bool) -> None:
    """Print a row for every quantity of a robot."""
    robot = mbdyn_ros.load(path, floating_base=floating_base)
    q, v, a = random_state(robot)
    peer = PinocchioPeer(robot, path.read_text(), q, v, a)
    link = robot.moving_links[-1]
    names = {key: getattr(peer, key) for key in ("pin", "model", "data", "q", "v", "a")}
    names["frame"] = peer.model.getFrameId(link)
    print(f"{robot!r}, microseconds; link {link}")
    print(f"{'':28}{'bound':>8}{'plain':>8}{'Pinocchio':>11}{'ratio':>8}{'plain':>8}")
    for name, (arguments, theirs) in PEERS.items():
        about = (link,) if name.startswith(("frame", "jacobian")) else ()
        robot.compile(name, link=about[0] if about else None)
        bound = robot.bind(name, *about)
        for key in arguments.split(", "):
            if hasattr(bound, key):
                bound.__setattr__(key, {"q": q, "v": v, "a": a}[key])
        inputs = ", ".join(key for key in arguments.split(", ") if hasattr(bound, key))
        listed = ", ".join([inputs, *(["link"] if about else [])])
        calls = {
            "bind": Call("bound()", {"bound": bound}),
            "plain": Call(
                f"robot.{name}({listed})", {"robot": robot, "q": q, "v": v, "a": a, "link": link}
            ),
            "pinocchio": Call(theirs, names),
        }
        bind, plain, peers = (1e6 * one for one in time_calls(calls, 60).values())
        print(
            f"{name:28}{bind:8.3f}{plain:8.3f}{peers:11.3f}{bind / peers:8.3f}{plain / peers:8.3f}"
        )
    assert np.isfinite(bound.result).all()


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        text, _, base = argument.partition(":")
        compare(Path(text), base == "floating")
