"""The functions of a robot that are exported as C99 and C++, with values for their tests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import casadi as ca
import numpy as np
from casadi import SX

from ..arguments import checked_names, require_link
from ..compiler.kernel import Bound
from ..compiler.loading import interpret
from ..equations import control_laws, momentum, programs, sensors
from ..equations.control_laws import MODES
from ..equations.frames import Frame, jacobian
from ..equations.loops.linkage import rows_at_positions
from ..equations.programs import actuator_response
from ..equations.system import System
from ..equations.variable import ParameterLayout, with_symbols, without
from ..errors import InputError
from ..export.c_gap import Opening
from ..export.c_library import CFunction, CLibrary, CProgram
from ..export.c_model import CModel
from ..export.c_modes import CMode
from ..model.model import Array
from ..names import identifier, library_name
from ..prepare.tree import WORLD
from ..program.program import Declaration, Program
from ..program.symbols import serialized
from ..units import acceleration_unit, effort_unit, position_unit, velocity_unit
from .configuration import Configurations

State = dict[str, Array]
"""Positions q, dependent positions z, v, a, effort and parameters."""

SOME_BODY = np.array([0.5, 0.05, 0.02, -0.01, 0.03, -0.002, 0.001, 0.04, 0.0005, 0.05])
"""Ten numbers of a body that the test program fastens to links whose inertias are parameters."""

NOTHING = ParameterLayout()
"""No parameters."""

RECORDED_STATES = 3
"""States whose values the test program knows."""


@serialized
def describe(
    robot: Configurations,
    links: Sequence[str] | None,
    layout: ParameterLayout = NOTHING,
    more: Sequence[CProgram] = (),
    follows: bool = False,
) -> CLibrary:
    """Describe the library to be written for a robot, with `more` programs in addition.

    follows : whether loops follow from where they were last.

    Raises
    ------
    InputError
        Unknown links, nothing that moves.
    """
    model, fixed, system = robot.model, robot.system, _symbolic(robot, layout)
    if not robot.nv:
        raise InputError(f"{model.source}: nothing moves, so there is nothing to generate")
    prefix = library_name(model.name)
    named = leaves(robot) if links is None else checked_names("links", links)
    chosen = [require_link(system.tree, link, model.source) for link in dict.fromkeys(named)]
    omitted = []
    wanted = {
        "mass_matrix": Program(programs.mass_matrix, system),
        "gravity_vector": Program(programs.gravity_vector, system),
    }
    if len(robot.effort_labels) < robot.nv:
        omitted.append("inverse_dynamics: the actuated joints do not determine the motion")
    else:
        wanted = {"inverse_dynamics": Program(programs.inverse_dynamics, system), **wanted}
    if robot.massless_links:
        names = ", ".join(robot.massless_links)
        omitted.append(f"forward_dynamics: no mass resists the motion of {names}")
    else:
        wanted["forward_dynamics"] = Program(programs.forward_dynamics, system)
    taken: dict[str, str] = {}
    for link in chosen:
        name = f"jacobian_{identifier(link)}"
        if name in taken:
            raise InputError(
                f"{model.source}: the links {taken[name]!r} and {link!r} would have one "
                f"name in C, {name}; choose one of them"
            )
        wanted[name], taken[name] = Program(jacobian, system, Frame(link, "world")), link
    states = _states(robot, layout)
    functions = [
        _function(f"{prefix}_{name}", _needed(program, fixed), states)
        for name, program in wanted.items()
    ]
    for one in more:
        if one.subject is None:
            program = _needed(Program(one.declaration, system, one.about), fixed)
        else:
            program = Program(one.declaration, one.subject, one.about)
        own = [state | {key: of(state) for key, of in one.examples.items()} for state in states]
        function = _function(f"{prefix}_{one.name or program.name}", program, own)
        functions.append(replace(function, text=one.text))
    return CLibrary(
        prefix=prefix,
        robot=model.name,
        gravity=tuple(float(x) for x in robot.gravity),
        nq=robot.nq,
        nv=robot.nv,
        positions=tuple((one, position_unit(model, one)) for one in robot.position_labels),
        velocities=tuple(
            (one, velocity_unit(model, one), acceleration_unit(model, one))
            for one in robot.velocity_labels
        ),
        efforts=tuple((one, effort_unit(model, one)) for one in robot.effort_labels),
        parameters=tuple(zip(layout.labels, layout.units, strict=True)),
        functions=tuple(functions),
        omitted=tuple(omitted),
        closing=system.closing if system.nz else None,
        closed_at=tuple(robot._parameters.values(layout).tolist()),
        follows=follows,
    )


def _symbolic(robot: Configurations, layout: ParameterLayout) -> System:
    """The robot with symbols for the numbers of a layout."""
    return with_symbols(without(robot.system, layout), layout) if layout else robot.system


def leaves(robot: Configurations) -> tuple[str, ...]:
    """The moving links that carry no other link: where a tool or a foot is."""
    parents = {joint.parent for joint in robot.model.joints}
    ends = [link for link, (body, _) in robot.system.tree.frames.items() if body != WORLD]
    return tuple(link for link in ends if link not in parents)


def _needed(program: Program, fixed: System) -> Program:
    """The program without parameters, where it does not depend on them.

    Where loops have no closed form it depends on those of their geometry.
    """
    symbols, closing = program.subject.parameters, program.subject.closing
    if symbols is None or closing.kept or ca.depends_on(program.result, symbols):
        return program
    return Program(program.declaration, fixed, program.about)


def _function(name: str, program: Program, states: Iterable[State]) -> CFunction:
    function = program.function
    records = []
    for state in states:
        result = np.array(function(*(state[key] for key in program.symbols)))
        columns, rows = result.shape  # stored row by row
        inputs = [key for key in program.symbols if key != "z"]
        records.append((*(state[key] for key in inputs), result.ravel(order="F")))
    signature = program.declaration
    names = (*inputs, signature.output)
    sizes = [(key, array.size) for key, array in zip(names, records[0], strict=True)]
    shape = (rows, columns) if signature.matrix else (rows * columns,)
    return CFunction(name, program, tuple(sizes), shape, tuple(records))


def _states(robot: Configurations, layout: ParameterLayout) -> list[State]:
    """Positions that the loops can take, with velocities, accelerations, efforts, parameters."""
    parameters = robot._parameters.values(layout)
    for link in layout.links:
        parameters[layout.of_link(link)] += SOME_BODY
    system, random = robot.system, np.random.default_rng(0)
    kernel = interpret(Program(programs.joint_position, system))
    closed = Bound(kernel)
    home = np.array([robot.home.get(one, 0.0) for one in robot.position_labels])
    found = []
    for _ in range(RECORDED_STATES):
        away = random.uniform(-1.0, 1.0, robot.nq)
        for share in (1.0, 0.3, 0.1, 0.01, 0.0):
            q = home + share * away
            for start in system.coordinates.quaternions:
                turn = away[start : start + 4]
                q[start : start + 4] = turn / np.linalg.norm(turn)
            closed.q[:] = q
            closed()
            if np.isfinite(closed.result).all():
                break
        v, a = random.normal(size=(2, robot.nv))
        effort = random.normal(size=len(robot.effort_labels))
        z = closed.result[system.numerical_dependent_rows]
        found.append({"q": q, "z": z, "v": v, "a": a, "effort": effort})
        found[-1]["parameters"] = parameters
    return found


@serialized
def describe_model(
    robot: Configurations,
    links: Sequence[str] | None,
    layout: ParameterLayout,
    description: str,
    led: str = "",
    imus: Sequence[str] = (),
    force_torques: Sequence[str] = (),
    felt: Sequence[str] = (),
) -> CModel:
    """Describe the package to be written for a robot.

    Parameters
    ----------
    description : hash of the text that the robot was made of.
    led : link that Cartesian impedance is about; without it there is no such mode.
    imus : links with inertial measurement units. force_torques : joints with sensors in them.
    felt : links at which external wrenches are felt.
    """
    modes = _modes(robot, led)
    units, scales = list(dict.fromkeys(imus)), list(dict.fromkeys(force_torques))
    touched = [_moving(robot, link) for link in dict.fromkeys(felt)]
    programs = [
        *_control_programs(robot), *_laws(modes, led), *_sensors(robot, units, scales),
        *(
            CProgram(jacobian, Frame(link, "local"), f"Jacobian of link {link}, in its axes.", {},
                     name=f"felt_{k}")
            for k, link in enumerate(touched)
        ),
    ]  # fmt: skip
    library = describe(robot, links, layout, programs, follows=True)
    coordinates, closing = robot.system.coordinates, robot.system.closing
    limits, fastest = _joint_limits(robot)
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
            if isinstance(one.program.about, Frame) and one.program.about.axes == "world"
        ),
        openings=tuple(_openings(_symbolic(robot, layout))),
        modes=modes,
        root=robot.model.root,
        joint_limits=np.array(limits).T,
        joint_rate_limits=np.array(fastest),
        imus=tuple((one, f"{library.prefix}_imu_{k}") for k, one in enumerate(units)),
        force_torques=tuple(
            (one, f"{library.prefix}_force_torque_{k}") for k, one in enumerate(scales)
        ),
        v_turns=tuple(
            velocity_unit(robot.model, one) == "rad/s" for one in robot.velocity_labels
        ),
        felt=tuple((one, f"{library.prefix}_felt_{k}") for k, one in enumerate(touched)),
    )


def _moving(robot: Configurations, link: str) -> str:
    """A link that moves; else it is refused."""
    known = require_link(robot.system.tree, link, robot.model.source)
    if robot.system.tree.frames[known][0] == WORLD:
        raise InputError(f"{robot.model.source}: link {known!r} is fixed to the world")
    return known


def _control_programs(robot: Configurations) -> Iterator[CProgram]:
    """The programs that controllers need in addition to those of every library."""
    joints = "Positions, velocities and accelerations of all joints, one after the other."
    yield CProgram(control_laws.joint_motion, None, joints, {})
    if not robot.massless_links and robot.effort_labels:
        freely = "Mobility of the actuated joints, and their accelerations without effort."
        yield CProgram(actuator_response, None, freely, {})
    if robot.effort_labels:
        felt = "Momentum, and its rates under the efforts held until now and from now on (nv, 3)."
        held = {"held": lambda state: -0.5 * state["effort"]}
        yield CProgram(momentum.momentum_balance, None, felt, held)
    if len(robot.effort_labels) < robot.nv:
        return
    rest = "Efforts that hold the robot at rest, against gravity and springs."
    yield CProgram(control_laws.gravity_effort, None, rest, {})
    if robot.system.has_friction or robot._parameters.layout.has("friction"):
        rubbing = "Efforts that overcome damping and dry friction of all joints."
        yield CProgram(control_laws.friction_effort, None, rubbing, {})
    work = "Efforts that do the work of forces at the independent joints."
    forces = {"force": lambda state: state["a"]}
    yield CProgram(control_laws.actuated_effort, None, work, forces)


def _joint_limits(robot: Configurations) -> tuple[list[tuple[float, float]], list[float]]:
    """Lower and upper limits of the positions of all joints, and limits of their velocities.

    Those of joints of one coordinate; others have none.
    """
    positions, velocities = [], []
    for name, block in robot.system.coordinates.joint_blocks.items():
        joint, kind = robot.model.joint(name), block.kind
        bounds = -np.inf, np.inf
        if kind.nq == 1 and not kind.is_endless:
            bounds = joint.limits.lower, joint.limits.upper
        positions += [bounds] * kind.nq
        speed = joint.limits.velocity if kind.nv == 1 else 0.0
        velocities += [speed or np.inf] * kind.nv  # 0 means unknown
    return positions, velocities


def _sensors(
    robot: Configurations, imus: Sequence[str], force_torques: Sequence[str]
) -> Iterator[CProgram]:
    """The programs of sensors."""
    model = robot.model
    for k, link in enumerate(imus):
        require_link(robot.system.tree, link, model.source)
        text = f"Orientation, turning, acceleration and velocity of an IMU on link {link}."
        rate = {"rate": lambda _: np.array([0.1, -0.2, 0.3])}
        yield CProgram(sensors.imu, link, text, rate, name=f"imu_{k}")
    for k, joint in enumerate(force_torques):
        text = f"Force and moment in joint {joint}, by the motion of the links it carries."
        name, carried = f"force_torque_{k}", sensors.CarriedLinks.by(model, joint)
        yield CProgram(sensors.force_torque, carried, text, {}, name=name)


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
        _moving(robot, led)
    return tuple(
        CMode(name, mode.law.name, mode.follows, led if mode.follows == "pose" else "",
              tuple(mode.gains.items()))
        for name, mode in MODES.items()
        if mode.follows != "pose" or (led and not robot.massless_links)
    )  # fmt: skip


def _laws(modes: Sequence[CMode], led: str) -> Iterator[CProgram]:
    """The programs of modes, and where the link is that one of them leads."""
    for one in {mode.law: mode for mode in modes}.values():
        law, link = MODES[one.name].law, one.link or None
        yield CProgram(law, link, f"Efforts of the law {one.law}.", _examples(law))
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
    parameters = SX(0, 1) if system.parameters is None else system.parameters
    for linkage in system.linkages:
        if linkage.linear or linkage.is_rigid:
            continue
        rows = system.rows(linkage)
        free, bound = list(linkage.independent), list(linkage.dependent)
        q, z, x = SX.sym("q", len(order)), SX.sym("z", len(bound)), SX(len(rows), 1)
        for k in free:
            x[k] = q[order.index(rows[k])]
        x[bound] = z
        positions, at = rows_at_positions(system.tree, linkage.cluster)
        residual = ca.densify(ca.substitute(linkage.beyond_tolerances(at.residual), positions, x))
        by_z = ca.densify(ca.jacobian(residual, z))
        closures = [one.closing for one in linkage.cluster.closures]
        blocks = [size for one in closures for size in (one.slide.rows, one.turn.rows)]
        yield Opening(
            linkage.cluster.name,
            ca.Function("opening", [q, z, parameters], [residual, by_z], {"cse": True}),
            tuple(size for size in [*blocks, *(1 for _ in linkage.cluster.gears)] if size),
            system.home[[rows[k] for k in bound]],
        )


def _version() -> str:
    try:
        return version("mbdyn_ros")
    except PackageNotFoundError:
        return "of a source tree"
