"""Remedies for assignments to attributes of a `Robot`."""

from __future__ import annotations

from collections.abc import Collection

from ..errors import suggestion

NO_STATE = "a Robot holds no state: pass {0} to its methods, or step it with mbdyn_ros.Stepper"
INSTEAD = {
    "gravity": "call robot.set_gravity([x, y, z])",
    "home": "use robot.with_home({joint: position}) or load(..., home={joint: position})",
    "home_position": "use robot.with_home({joint: position}) or load(..., home={joint: position})",
    "home_velocity": "give velocities to set_state or simulate",
    "floating_base": "use load(..., floating_base=True or False)",
    "model": "load the other description",
    "joint_names": "use robot.renamed(joints={old: new})",
    "links": "use robot.renamed(links={old: new})",
    "independent_joints": "use robot.with_independent(joints, home)",
    "dependent_joints": "use robot.with_independent(joints, home)",
    "actuated_joints": "list them under `actuated` in a side-car file: load(..., mechanism=file)",
    "nq": "it follows from the joints; robot.locked({joint: position}) removes some",
    "nv": "it follows from the joints; robot.locked({joint: position}) removes some",
    "position_limits": "use robot.with_joint(joint, lower=..., upper=...)",
    "velocity_limits": "use robot.with_joint(joint, velocity=...)",
    "effort_limits": "use robot.with_joint(joint, effort=...)",
    "total_mass": "call robot.set_inertia(link, mass, com, inertia) or robot.set_payload",
    "q": NO_STATE.format("q"),
    "v": NO_STATE.format("v"),
    "a": NO_STATE.format("a"),
    "effort": NO_STATE.format("the efforts"),
}
"""The remedy by the name of the attribute."""

INTERNAL = frozenset({"calls", "require_mass", "require_single", "say_choice", "system"})
"""Attributes for the rest of the library, which `dir` leaves out, as deprecated names."""


def assignment_refusal(name: str, known: Collection[str]) -> str:
    """The message for an assignment to robot.`name`; `known` are the attributes of the class."""
    remedy = INSTEAD.get(name)
    if remedy is None:
        remedy = "a Robot does not change by assignment; its set_... and with... methods change it"
        if name not in known:
            remedy += suggestion(name, [*INSTEAD, *known])
    return f"robot.{name} cannot be set: {remedy}"
