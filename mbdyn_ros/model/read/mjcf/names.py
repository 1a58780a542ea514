"""Names of the elements of an MJCF, which need not have any, and their lines."""

from __future__ import annotations

from .compiled import Compiled


class ElementNames:
    """Names for bodies and joints as links and joints need them.

    Parameters
    ----------
    compiled : the MJCF.

    Attributes
    ----------
    bodies, joints : a name for each, by number.
    """

    def __init__(self, compiled: Compiled) -> None:
        model = compiled.model
        self.bodies = _distinct(
            [compiled.name_of("BODY", k) for k in range(model.nbody)],
            [f"body{k}" for k in range(model.nbody)],
        )
        bodies = model.jnt_bodyid.tolist()
        self.joints = _distinct(
            [compiled.name_of("JOINT", k) for k in range(model.njnt)],
            [
                f"{self.bodies[body]}/joint{k - model.body_jntadr[body] + 1}"
                if model.body_jntnum[body] > 1
                else f"{self.bodies[body]}/joint"
                for k, body in enumerate(bodies)
            ],
        )
        self._lines = {
            (str(element.tag), name): element.sourceline
            for element in compiled.document.root.iter("body", "joint", "freejoint")
            if (name := element.get("name"))
        }

    def line(self, tag: str, name: str) -> int | None:
        """The line of an element in the main file; None where it is not there."""
        return self._lines.get((tag, name))


def _distinct(given: list[str], otherwise: list[str]) -> list[str]:
    """The given names, and unused ones for what has no name."""
    taken = set(given)
    result = []
    for name, other in zip(given, otherwise, strict=True):
        while not name and other in taken:
            other += "_"
        taken.add(other)
        result.append(name or other)
    return result
