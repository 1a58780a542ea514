"""The validation of the MechAnalyzer paper (its figure 6) again, and the times of mechanisms.

    python benchmarks/mechanism.py --plot docs/mechanism_validation.png

Inverse dynamics without gravity, and the speed of the joints under forward dynamics, of a
four-bar: ours, Pinocchio's tree with the pin's constraint in a bordered system, and MuJoCo, whose
constraints are soft. Prints the largest differences, then the times that a page or a search for a
design waits for: the least of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import click
import mujoco
import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from mbdyn_ros.equations.programs import inverse_dynamics
from mbdyn_ros.mechanisms import Analysis, FourBar, Link, Mechanism, constant_speed
from mbdyn_ros.mechanisms.forward import move
from mbdyn_ros.mechanisms.parametric import run
from mbdyn_ros.mechanisms.sweep import sweep

Array = np.ndarray
SPEED, TORQUE, DURATION, SAMPLES = 20.0, 1.2, 0.6, 601
STEP = 2e-5
"""Of MuJoCo, s."""

AXES = pin.LOCAL_WORLD_ALIGNED


@dataclass
class Peer:
    """Pinocchio's tree of a four-bar, its pin held in the plane x z."""

    model: pin.Model

    @staticmethod
    def of(mechanism: FourBar, gravity: float) -> Peer:
        model = pin.buildModelFromXML(mechanism.urdf())
        model.gravity.linear = np.array([0.0, 0.0, -gravity])
        for link, length in (("coupler", mechanism.coupler), ("rocker", mechanism.rocker)):
            body = model.frames[model.getFrameId(link, pin.BODY)]
            end = body.placement * pin.SE3(np.eye(3), np.array([length.length, 0.0, 0.0]))
            model.addFrame(pin.Frame(f"{link}_end", body.parentJoint, end, pin.OP_FRAME))
        return Peer(model)

    def bordered(self, x: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """Mass matrix, velocity and gravity terms, constraint rows and their drift."""
        model, data = self.model, self.model.createData()
        q = np.concatenate([[np.cos(one), np.sin(one)] for one in x])
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        bias = pin.nonLinearEffects(model, data, q, v)
        pin.computeJointJacobians(model, data, q)
        pin.forwardKinematics(model, data, q, v, np.zeros(3))
        pin.updateFramePlacements(model, data)
        ends = [model.getFrameId(f"{link}_end") for link in ("coupler", "rocker")]
        rows, drift = (
            one[[0, 2]]
            for one in (
                np.subtract(*(pin.getFrameJacobian(model, data, k, AXES)[:3] for k in ends)),
                np.subtract(
                    *(pin.getFrameClassicalAcceleration(model, data, k, AXES).linear for k in ends)
                ),
            )
        )
        return mass, bias, rows, drift

    def index(self, joint: str) -> int:
        """Velocity coordinate of a joint."""
        return int(self.model.joints[self.model.getJointId(joint)].idx_v)

    def positions(self, mechanism: Mechanism, q: Array) -> Array:
        """Joint positions (N, 3) in Pinocchio's order."""
        ours = mechanism.joint_state(q)[0]
        order = np.argsort([self.index(name) for name in mechanism.joint_names])
        return ours[:, order]

    def velocity(self, x: Array, rate: float) -> Array:
        """Joint velocities (3,) at a crank speed."""
        _, _, rows, _ = self.bordered(x, np.zeros(3))
        crank = self.index("crank_joint")
        others = [k for k in range(3) if k != crank]
        v = np.zeros(3)
        v[crank] = rate
        v[others] = np.linalg.solve(rows[:, others], -rows[:, crank] * rate)
        return v

    def torque(self, x: Array, rate: float) -> float:
        """Driving torque at constant crank speed."""
        mass, bias, rows, drift = self.bordered(x, self.velocity(x, rate))
        drive = np.zeros((1, 3))
        drive[0, self.index("crank_joint")] = 1.0
        # M a - J^T l - S^T torque = -bias;  J a = -drift;  S a = 0
        both = np.vstack([rows, drive])
        matrix = np.block([[mass, -both.T], [both, np.zeros((3, 3))]])
        return float(np.linalg.solve(matrix, np.concatenate([-bias, -drift, [0.0]]))[-1])

    def motion(self, x: Array, torque: float, times: Array) -> Array:
        """Joint velocities (N, 3) from rest under a constant torque at the crank."""
        crank = self.index("crank_joint")

        def rate(t: float, state: Array) -> Array:
            mass, bias, rows, drift = self.bordered(state[:3], state[3:])
            matrix = np.block([[mass, rows.T], [rows, np.zeros((2, 2))]])
            right = np.concatenate([-bias, -drift])
            right[crank] += torque
            return np.concatenate([state[3:], np.linalg.solve(matrix, right)[:3]])

        start = np.concatenate([x, np.zeros(3)])
        done = solve_ivp(rate, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13)
        return done.y[3:].T


def by_mujoco(mechanism: FourBar, torque: float, times: Array) -> dict[str, Array]:
    """Joint velocities (N,) from rest by joint, the pin a soft constraint."""
    spec = mujoco.MjSpec.from_string(mechanism.urdf())
    ends = {"coupler": mechanism.coupler, "rocker": mechanism.rocker}
    for name, link in ends.items():
        spec.body(name).add_site(name=f"{name}_end", pos=[link.length, 0.0, 0.0])
    pin_of_coupler = spec.add_equality()
    pin_of_coupler.type = mujoco.mjtEq.mjEQ_CONNECT
    pin_of_coupler.objtype = mujoco.mjtObj.mjOBJ_SITE
    pin_of_coupler.name1, pin_of_coupler.name2 = (f"{name}_end" for name in ends)
    pin_of_coupler.solref[:] = [2 * STEP, 1.0]
    pin_of_coupler.solimp[:] = [0.9999, 0.9999, 0.001, 0.5, 2.0]
    spec.option.timestep, spec.option.gravity = STEP, [0.0, 0.0, -mechanism.gravity]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    model = spec.compile()
    data = mujoco.MjData(model)
    rows = {name: model.joint(name).dofadr[0] for name in mechanism.joint_names}
    (start,) = mechanism.joint_state(np.zeros((1, 1)))[0]
    for name, position in zip(mechanism.joint_names, start, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = position
    data.qfrc_applied[rows["crank_joint"]] = torque
    result = np.empty((len(times), model.nv))
    for k, instant in enumerate(times):
        while data.time < instant - STEP / 2:
            mujoco.mj_step(model, data)
        result[k] = data.qvel
    return {name: result[:, row] for name, row in rows.items()}


def least(action: Callable[[], object], rounds: int) -> float:
    """Seconds of the quickest of several rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


@dataclass
class Validation:
    """Figure 6 of the paper: torque (361,) at constant speed without gravity, ours and Pinocchio's;
    speeds of the joints (N, 3) from rest by ours, Pinocchio, ours by RK45, and MuJoCo."""

    analysis: Analysis
    torque: Array
    names: tuple[str, ...]
    turns: float
    times: Array
    speeds: Array
    others: dict[str, Array]

    @property
    def torque_gap(self) -> float:
        """Largest difference of the torques, N m."""
        return float(np.abs(self.torque - self.analysis.torque[:, 0]).max())

    @property
    def speed_gaps(self) -> dict[str, float]:
        """Largest differences of the speeds from ours, rad/s."""
        return {name: np.abs(one - self.speeds).max() for name, one in self.others.items()}


def validated() -> Validation:
    """Move the paper's four-bar by all of them."""
    mechanism = FourBar(
        ground=0.32, crank=Link(0.1, 0.35), coupler=Link(0.3, 0.6), rocker=Link(0.25, 0.7)
    )
    weightless = mechanism.replaced(gravity=0.0)
    analysis = Analysis(weightless, constant_speed(SPEED))
    peer = Peer.of(weightless, 0.0)
    positions = peer.positions(weightless, analysis.motion.q)
    torque = np.array([peer.torque(x, SPEED) for x in positions])

    times = np.linspace(0.0, DURATION, SAMPLES)
    ours = move(
        mechanism, [0.0], [0.0], DURATION, [TORQUE], "DOP853", rtol=1e-12, atol=1e-13, times=times
    )
    ode45 = move(mechanism, [0.0], [0.0], DURATION, [TORQUE], "RK45", times=times)
    peer = Peer.of(mechanism, mechanism.gravity)
    start = peer.positions(mechanism, np.zeros((1, 1)))[0]
    motion = peer.motion(start, TORQUE, times)
    names = mechanism.joint_names
    speeds = mechanism.joint_state(ours.q, ours.v)[1]
    rough = mechanism.joint_state(ode45.q, ode45.v)[1]
    assert speeds is not None and rough is not None
    soft = by_mujoco(mechanism, TORQUE, times)
    others = {
        "Pinocchio": motion[:, [peer.index(name) for name in names]],
        "ours by RK45, rtol 1e-8": rough,
        f"MuJoCo, steps of {STEP:g} s": np.stack([soft[name] for name in names], axis=1),
    }
    return Validation(
        analysis, torque, names, ours.q[-1, 0] / (2 * np.pi), times, speeds, others
    )


def print_validation(found: Validation) -> None:
    """Print the differences."""
    click.echo(f"inverse dynamics without gravity, 361 points at {SPEED:g} rad/s:")
    peak = np.abs(found.torque).max()
    click.echo(f"  largest difference to Pinocchio {found.torque_gap:.1e} N m of {peak:.3g} N m")
    click.echo(
        f"joint speeds from rest under {TORQUE:g} N m, {found.turns:.3g} turns in {DURATION:g} s:"
    )
    top = np.abs(found.speeds).max()
    for text, gap in found.speed_gaps.items():
        click.echo(f"  largest difference to {text} {gap:.1e} rad/s of {top:.3g} rad/s")


def draw(path: str, found: Validation) -> None:
    """Both comparisons, plotted over each other."""
    from mbdyn_ros.view.figure import INK, color_of, figure_of, legend_beside, tidy

    figure = figure_of(1, 2, (5.8, 3.8))
    left, right = figure.subplots(1, 2)
    angle = np.degrees(found.analysis.motion.q[:, 0])
    left.plot(angle, found.analysis.torque[:, 0], color=color_of(0), label="mbdyn_ros")
    left.plot(angle[::15], found.torque[::15], "o", mfc="none", color=color_of(1),
              label="Pinocchio")  # fmt: skip
    left.set(xlabel="crank angle (deg)", ylabel="driving torque without gravity (N m)")
    left.set_xticks(range(0, 361, 90))
    motion, _, soft = found.others.values()
    for k, name in enumerate(found.names):
        color = color_of(k)
        right.plot(found.times, found.speeds[:, k], color=color, label=name.removesuffix("_joint"))
        right.plot(found.times[::25], motion[::25, k], "o", mfc="none", color=color, markersize=5)
        right.plot(found.times[12::25], soft[12::25, k], "x", color=color, markersize=4)
    right.plot([], [], "o", mfc="none", color=INK, label="Pinocchio")
    right.plot([], [], "x", color=INK, label="MuJoCo")
    right.set(xlabel="time (s)", ylabel=f"joint speed under {TORQUE:g} N m (rad/s)")
    for axes in (left, right):
        tidy(axes)
        axes.margins(x=0.01)
        legend_beside(axes)
    figure.savefig(path)


def measure() -> None:
    """What a page, and a search for a design, wait for."""
    motion = constant_speed(10.0, points=360)
    mechanism = FourBar()

    def redraw() -> None:
        changed = Analysis(mechanism.replaced(coupler_length=0.31), motion)
        _ = changed.torque, changed.joints, changed.reactions
        for part in changed.mechanism.layout().parts:
            changed.pose.outline(part.name)

    redraw()
    program = least(lambda: run(mechanism, inverse_dynamics, motion.q, motion.v, motion.a), 50)
    call = least(lambda: mechanism.inverse_dynamics(motion.q, motion.v, motion.a), 50)
    drawn = least(redraw, 30)
    click.echo(f"inverse dynamics of 360 points: {1e3 * program:.3f} ms, by call {1e3 * call:.3f}")
    click.echo(f"all data of a changed mechanism's turn of 360 points: {1e3 * drawn:.1f} ms")
    turn = constant_speed(10.0, turn=2 * np.pi * 71 / 72, points=72)
    axes = {
        "coupler_length": np.linspace(0.25, 0.45, 400),
        "crank_length": np.linspace(0.05, 0.15, 250),
    }
    seconds = least(lambda: sweep(mechanism, axes, turn), 3)
    click.echo(f"100000 designs, 72 points each: {seconds:.2f} s")


@click.command()
@click.option("--plot", metavar="FILE", help="Plot the validation.")
def main(plot: str | None) -> None:
    """Print the differences and the times."""
    found = validated()
    print_validation(found)
    if plot is not None:
        draw(plot, found)
        click.echo(f"wrote {plot}")
    measure()


if __name__ == "__main__":
    main()
