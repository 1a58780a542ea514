"""The functions of a robot that are exported as C99, with values recorded for their test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ..arguments import checked_names, require_link
from ..compiler.bound import Bound
from ..compiler.loading import interpret
from ..equations import programs
from ..equations.frames import Frame, jacobian
from ..equations.system import System
from ..equations.variable import Layout, with_symbols, without
from ..errors import InputError
from ..export.c_library import CFunction, CLibrary, CProgram
from ..model.model import Array
from ..model.tree import WORLD
from ..names import identifier, library_name
from ..program.program import Program
from ..program.symbols import serialized
from ..units import acceleration_unit, effort_unit, position_unit, velocity_unit
from .configuration import Configurations

State = dict[str, Array]
"""Positions q, dependent positions z, v, a, effort and parameters."""

SOME_BODY = np.array([0.5, 0.05, 0.02, -0.01, 0.03, -0.002, 0.001, 0.04, 0.0005, 0.05])
"""Ten numbers of a body that the test program fastens to links whose inertias are parameters."""

NOTHING = Layout()
"""No parameters."""

RECORDED_STATES = 3
"""States whose values the test program knows."""


@serialized
def describe(
    robot: Configurations,
    links: Sequence[str] | None,
    layout: Layout = NOTHING,
    more: Sequence[CProgram] = (),
    follows: bool = False,
) -> CLibrary:
    """Describe the library to be written for a robot, with `more` programs beside the usual ones.

    follows : whether loops follow from where they were last.

    Raises
    ------
    InputError
        Unknown links, nothing that moves.
    """
    model, fixed = robot.model, robot.system
    system = with_symbols(without(fixed, layout), layout) if layout else fixed
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
        wanted[name], taken[name] = Program(jacobian, fixed, Frame(link, "world")), link
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
        function = _function(f"{prefix}_{program.name}", program, own)
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
        follows=follows,
    )


def leaves(robot: Configurations) -> tuple[str, ...]:
    """The moving links that carry no other link: where a tool or a foot is."""
    parents = {joint.parent for joint in robot.model.joints}
    ends = [link for link, (body, _) in robot.system.tree.frames.items() if body != WORLD]
    return tuple(link for link in ends if link not in parents)


def _needed(program: Program, fixed: System) -> Program:
    """The program without parameters, where it does not depend on them."""
    symbols = program.subject.parameters
    if symbols is None or ca.depends_on(program.result, symbols):
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


def _states(robot: Configurations, layout: Layout) -> list[State]:
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
        z = closed.result[system.walked_rows]
        found.append({"q": q, "z": z, "v": v, "a": a, "effort": effort})
        found[-1]["parameters"] = parameters
    return found
