"""Elements of an SDF with which nothing here computes, counted by their names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .scope import Scope

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

PLACED = {"pose"}
READ = {
    "world": {"model", "include", "frame", "joint", "gravity", "name"},
    "model": {"link", "joint", "frame", "model", "include", "static", *PLACED},
    "link": {"inertial", "collision", "visual", *PLACED},
    "frame": PLACED,
    "inertial": {"mass", "inertia", *PLACED},
    "joint": {
        "parent", "child", "axis", "axis2", "thread_pitch", "screw_thread_pitch", "gearbox_ratio",
        "gearbox_reference_body", *PLACED,
    },
    "axis": {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"},
    "dynamics": {"damping", "friction", "spring_stiffness", "spring_reference"},
    "limit": {"lower", "upper", "velocity", "effort"},
}  # fmt: skip
READ["axis2"] = READ["axis"]
"""The elements that are read, by the element around them."""

FORCES = ("fluid_added_mass", "velocity_decay", "wind")
"""Elements that act on the motion; so does a link's <gravity>false</gravity>."""


def unused_elements(scope: Scope) -> tuple[Counter[str], Counter[str]]:
    """The elements of a model or world, without inner models: those that act, and all others."""
    forces: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for element in _unread(scope.element):
        tag, owner = str(element.tag), element.getparent()
        text = (element.text or "").strip().lower()
        if tag == "gravity":
            if text in ("false", "0"):
                forces["link without gravity"] += 1
        elif tag in FORCES:
            if len(element) or text not in ("", "0", "0.0", "false"):
                forces[tag] += 1
        elif owner is not None:
            others[f"{owner.tag}/{tag}" if owner.tag in ("axis", "limit", "joint") else tag] += 1
    return forces, others


def _unread(element: Element) -> list[Element]:
    read = READ.get(str(element.tag), set())
    found = []
    for child in element:
        if child.tag not in read:
            found.append(child)
        elif child.tag in READ and child.tag not in ("model", "include"):
            found += _unread(child)
    return found
