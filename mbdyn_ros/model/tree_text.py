"""The tree of links and joints, drawn with characters."""

from __future__ import annotations

from .model import Joint, Model


def tree_text(model: Model) -> str:
    """The links from the root on, one a line, each behind the joint that carries it.

    A link that a loop ties to another one says so behind its name.

    Examples
    --------
    >>> from mbdyn_ros.model import Joint, Link, Loop, Model
    >>> links = (Link("base"), Link("arm"), Link("tool"), Link("lamp"))
    >>> joints = (Joint("turn", "revolute", "base", "arm"), Joint("grip", "fixed", "arm", "tool"),
    ...           Joint("lit", "fixed", "base", "lamp"))
    >>> loops = (Loop("wire", "spherical", "lamp", "tool"),)
    >>> print(tree_text(Model("demo", "base", links, joints, loops=loops)))
    base
    ├─ turn (revolute) → arm
    │  └─ grip (fixed) → tool
    └─ lit (fixed) → lamp ⇢ tool (wire, spherical)
    """
    carried: dict[str, list[Joint]] = {}
    for joint in model.joints:
        carried.setdefault(joint.parent, []).append(joint)
    lines = [_link(model, model.root)]
    # a stack, not a recursion: descriptions may be thousands of links deep
    stack = [("", joint, k == 0) for k, joint in enumerate(reversed(carried.get(model.root, [])))]
    while stack:
        indent, joint, last = stack.pop()
        branch = "└─ " if last else "├─ "
        lines.append(f"{indent}{branch}{joint.name} ({joint.type}) → {_link(model, joint.child)}")
        indent += "   " if last else "│  "
        heirs = reversed(carried.get(joint.child, []))
        stack += [(indent, heir, k == 0) for k, heir in enumerate(heirs)]
    return "\n".join(lines)


def _link(model: Model, name: str) -> str:
    inertia = model.link(name).inertia
    mass = f", {inertia.mass:.4g} kg" if inertia is not None and inertia.mass else ""
    ties = [
        f" ⇢ {loop.successor} ({loop.name}, {loop.type})"
        for loop in model.loops
        if loop.predecessor == name
    ]
    return name + mass + "".join(ties)
