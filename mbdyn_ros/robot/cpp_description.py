"""The model of a robot that is exported as C++: its equations, names, limits and hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

import casadi as ca
import numpy as np
from casadi import SX

from ..arguments import require_link
from ..equations import control_laws, control_terms
from ..equations.control_modes import MODES
from ..equations.frames import Frame
from ..equations.system import System
from ..equations.variable import Layout
from ..errors import InputError
from ..export.c_gap import Opening
from ..export.c_library import CProgram
from ..export.c_model import CMode, CModel
from ..model.model import Array
from ..model.tree import WORLD
from ..program.declaration import Declaration
from ..program.symbols import serialized
from .c_description import describe
from .configuration import Configurations


@serialized
def describe_model(
    robot: Configurations,
    links: Sequence[str] | None,
    layout: Layout,
    description: str,
    led: str = "",
) -> CModel:
    """Describe the package to be written for a robot.

    Parameters
    ----------
    description : hash of the text that the robot was made of.
    led : link that Cartesian impedance is about; without it there is no such mode.
    """
    modes = _modes(robot, led)
    programs = [*_control_programs(robot), *_laws(modes, led)]
    library = describe(robot, links, layout, programs, follows=True)
    coordinates, closing = robot.system.coordinates, robot.system.closing
    content = hashlib.sha256(f"{robot.system.digest()} {layout!r}".encode())
    content.update(repr((robot.position_labels, robot.effort_labels)).encode())
    content.update(closing.home.tobytes())
    return CModel(
        library=library,
        generator=f"mbdyn_ros {_version()}",
        description=description,
        equations=content.hexdigest(),
        joints=robot.joint_names,
        independent=robot.independent_joints,
        actuated=robot.actuated_joints,
        joint_positions=coordinates.joint_labels,
        joint_velocities=coordinates.joint_rate_labels,
        q_limits=robot.position_limits,
        v_limits=robot.velocity_limits,
        effort_limits=robot.effort_limits,
        home_q=robot.home_position,
        parameter_values=robot._parameters.values(layout),
        joint_turns=tuple(one in robot.system.turning for one in coordinates.joint_labels),
        links=tuple(
            (one.program.about.link, one.name)
            for one in library.functions
            if isinstance(one.program.about, Frame)
        ),
        openings=tuple(_openings(robot.system)),
        modes=modes,
        root=robot.model.root,
    )


def _control_programs(robot: Configurations) -> Iterator[CProgram]:
    """The programs that controllers need beside those of every library."""
    joints = "Positions, velocities and accelerations of all joints, one behind the other."
    yield CProgram(control_terms.joint_motion, None, joints, {})
    if len(robot.effort_labels) < robot.nv:
        return
    rest = "Efforts that hold the robot at rest, against gravity and springs."
    yield CProgram(control_terms.gravity_effort, None, rest, {})
    if robot.system.has_friction or robot._parameters.layout.has("friction"):
        rubbing = "Efforts that overcome damping and dry friction of all joints."
        yield CProgram(control_terms.friction_effort, None, rubbing, {})
    work = "Efforts that do the work of forces at the independent joints."
    forces = {"force": lambda state: state["a"]}
    yield CProgram(control_terms.actuated_effort, None, work, forces)


def _modes(robot: Configurations, led: str) -> tuple[CMode, ...]:
    """The modes of control that the robot has."""
    if len(robot.effort_labels) < robot.nv or robot.system.coordinates.quaternions:
        if led:
            raise InputError(
                f"{robot.model.source}: there is no law of control for link {led!r}: they are for "
                "a fixed base, joints without quaternions, and actuators that determine the motion"
            )
        return ()
    if led:
        require_link(robot.system.tree, led, robot.model.source)
        if robot.system.tree.frames[led][0] == WORLD:
            raise InputError(f"{robot.model.source}: link {led!r} is fixed to the world")
    return tuple(
        CMode(name, mode.law.name, mode.follows, led if mode.follows == "pose" else "",
              tuple(mode.gains.items()))
        for name, mode in MODES.items()
        if mode.follows != "pose" or (led and not robot.massless_links)
    )  # fmt: skip


def _laws(modes: Sequence[CMode], led: str) -> Iterator[CProgram]:
    """The programs of modes, and where the link is that one of them leads."""
    for one in modes:
        law, link = MODES[one.name].law, one.link or None
        yield CProgram(law, link, f"Efforts of the mode {one.name}.", _examples(law))
    if any(one.link for one in modes):
        where = "Place and quaternion (x y z w) of the link that cartesian_impedance leads."
        yield CProgram(control_laws.link_pose, led, where, {})
        error = "Displacement of that link to a wanted pose, linear and angular, world axes."
        yield CProgram(control_laws.link_error, led, error, _examples(control_laws.link_error))


def _examples(law: Declaration) -> dict[str, Callable[[Mapping[str, Array]], Array]]:
    """Values of a law's inputs, other than q and v, for its test."""

    def numbers(seed: int, size: int | None, unit: bool) -> Callable[[Mapping[str, Array]], Array]:
        def of(state: Mapping[str, Array]) -> Array:
            count = len(state["v"]) if size is None else size
            drawn = np.random.default_rng(seed).uniform(0.1, 1.0, count)
            return drawn / np.linalg.norm(drawn) if unit else drawn

        return of

    return {
        name: numbers(seed, law.sized.get(name), name == "turn")
        for seed, name in enumerate(law.inputs)
        if name not in ("q", "v")
    }


def _openings(system: System) -> Iterator[Opening]:
    """The loops that some positions leave open."""
    order = list(system.coordinates.q)
    for linkage in system.linkages:
        if linkage.linear or linkage.stands:
            continue
        rows = system.rows(linkage)
        free, bound = list(linkage.independent), list(linkage.dependent)
        q, z, x = SX.sym("q", len(order)), SX.sym("z", len(bound)), SX(len(rows), 1)
        for k in free:
            x[k] = q[order.index(rows[k])]
        x[bound] = z
        residual = ca.densify(system.residuals[linkage](x))
        by_z = ca.densify(ca.jacobian(residual, z))
        closures = [one.closing for one in linkage.cluster.closures]
        blocks = [size for one in closures for size in (one.slide.rows, one.turn.rows)]
        yield Opening(
            linkage.cluster.name,
            ca.Function("opening", [q, z], [residual, by_z], {"cse": True}),
            tuple(size for size in [*blocks, *(1 for _ in linkage.cluster.gears)] if size),
            system.home[[rows[k] for k in bound]],
        )


def _version() -> str:
    try:
        return version("mbdyn_ros")
    except PackageNotFoundError:
        return "of a source tree"
