"""Elements of a URDF that other programs read, and drives in their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import Model
from ..read.transmissions import ROTORS
from .elements import element, number

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def write_foreign(robot: Element, model: Model) -> None:
    """Elements for other programs, where they stood; and drives that no file has said yet."""
    owners = {(one.tag, one.get("name")): one for one in robot}
    said: set[str] = set()
    for foreign in model.foreign:
        one = foreign.element()
        for transmission in one.iter("transmission"):
            _drop_idle_rotors(transmission, model)
        owners.get((foreign.owner, foreign.name), robot).append(one)
        if one.tag in ("transmission", "ros2_control"):
            said |= {name for what, name in foreign.names() if what == "joint"}
    single = {one.joints[0]: one for one in model.transmissions if len(one.joints) == 1}
    for name in dict.fromkeys([*_unsaid(model, said), *single]):
        if name not in said:
            gear = single.get(name)
            called = gear.name if gear is not None else f"{name}_drive"
            transmission = element(robot, "transmission", name=called)
            element(transmission, "type").text = "transmission_interface/SimpleTransmission"
            element(transmission, "joint", name=name)
            if gear is not None:
                motor = element(transmission, "actuator", name=gear.motors[0])
                element(motor, "mechanicalReduction").text = number(float(gear.rates[0, 0]))


def _unsaid(model: Model, said: set[str]) -> tuple[str, ...]:
    """Joints that are driven, but for those of which the actuators say it, in the same order."""
    moved = [one.joint for one in model.actuators if one.joint not in said]
    others = tuple(name for name in model.driven if name not in moved)
    return others if (*others, *moved) == model.driven else model.driven


def _drop_idle_rotors(transmission: Element, model: Model) -> None:
    """Leave out rotors of joints that have no armature any more: a reader would add it again."""
    joints = [one.get("name") for one in transmission.iterchildren("joint")]
    if not any(joint.armature for joint in model.joints if joint.name in joints):
        for rotor in [one for one in transmission.iter(*ROTORS)]:
            rotor.getparent().remove(rotor)
