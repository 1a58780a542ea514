"""The frames of an SDF: where each is, and the link to which it is attached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....errors import suggestion
from ...model import Pose
from .scope import MODEL_FRAME, WORLD, SdfScope, pose_of, text_of

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


@dataclass(frozen=True)
class SdfFrame:
    """A frame: its pose in another one, and the frame with which it moves.

    placement : the frame inside a model that is at the pose in place of the model's own.
    """

    scope: SdfScope
    element: Element
    pose: Pose
    relative_to: str
    attached_to: str = ""
    placement: str = ""


class SdfFrames:
    """All frames of models by their full names."""

    def __init__(self, scopes: Iterable[SdfScope]) -> None:
        self._frames: dict[str, SdfFrame] = {}
        self._links: set[str] = set()
        self._poses: dict[str, Pose] = {}
        self._carriers: dict[str, str] = {}
        for scope in scopes:
            self._add_model(scope)
            for element in scope.element:
                if element.tag in ("link", "frame", "joint"):
                    self._add(scope, element)
        for name, frame in self._frames.items():
            self.pose(name)
            if frame.attached_to:
                self._link(frame.scope, frame.element, frame.attached_to)

    def pose(self, name: str) -> Pose:
        """Where a frame is in the world; of a lone model, in that model's frame."""
        return self._pose(name, WORLD)

    def between(self, frame: str, other: str) -> Pose:
        """Where `other` is in `frame`."""
        return self.pose(frame).inverse() @ self.pose(other)

    def link(self, scope: SdfScope, element: Element, name: str) -> str:
        """The link to which a frame is attached, by the full name; the world's is its own.

        Raises
        ------
        ModelError
            There is no such frame, or frames are attached in a circle.
        """
        return self._link(scope, element, scope.full(name))

    def frame(self, scope: SdfScope, element: Element, name: str) -> str:
        """The full name of a frame, which must be there."""
        return self._known(scope, element, scope.full(name))

    def joint(self, name: str) -> str:
        """The frame of a joint, by the joint's full name."""
        return f"{name} (joint)" if f"{name} (joint)" in self._frames else name

    def _link(self, scope: SdfScope, element: Element, full: str) -> str:
        passed: dict[str, None] = {}
        name = full
        while full != WORLD and full not in self._links:
            if full in self._carriers:
                full = self._carriers[full]
                break
            self._known(scope, element, full)
            if full in passed:
                raise scope.document.error(element, f'"{name}" is attached to itself')
            passed[full] = None
            full = self._frames[full].attached_to
        self._carriers.update(dict.fromkeys(passed, full))
        return full

    def _known(self, scope: SdfScope, element: Element, full: str) -> str:
        if full != WORLD and full not in self._frames:
            raise scope.document.error(
                element,
                f'there is no link or frame "{full}" here{suggestion(full, self._frames)}; '
                "correct the name",
            )
        return full

    def _add_model(self, scope: SdfScope) -> None:
        if scope.is_world:
            return
        document, relative_to = scope.document, WORLD
        placed = document.child(scope.element, "pose")
        inner = scope.element.get("placement_frame")
        if scope.placed_by is not None:
            element, outer = scope.placed_by
            relative_to = outer.frame
            own = outer.document.child(element, "pose")
            if own is not None:  # that of the included file counts where there is none
                document, placed = outer.document, own
                if own.get("relative_to"):
                    relative_to = outer.full(own.get("relative_to", ""))
            inner = text_of(outer.document, element, "placement_frame") or inner
        self._frames[scope.frame] = SdfFrame(
            scope, scope.element, pose_of(document, placed), relative_to, self._canonical(scope),
            scope.full(inner) if inner else "",
        )  # fmt: skip

    def _canonical(self, scope: SdfScope) -> str:
        """The link that carries a model's frame: the one it names, else its first."""
        named = scope.element.get("canonical_link")
        if named:
            return scope.full(named)
        if scope.is_static:
            return WORLD
        first = scope.element.find("link")
        if first is not None:
            return scope.full(first.get("name", ""))
        for inner in scope.element.iterchildren("model", "include"):
            name = inner.findtext("name") if inner.tag == "include" else inner.get("name")
            if name:
                return scope.full(name.strip())
        return WORLD

    def _add(self, scope: SdfScope, element: Element) -> None:
        document = scope.document
        name = document.read_name(element)
        full = scope.full(name)
        if full in self._links and element.tag == "joint" and scope.version < (1, 7):
            full += " (joint)"  # names were of links or of joints then
        if full in self._frames:
            raise document.error(
                element, f'the name "{full}" is taken by a link, a joint or a frame; rename one'
            )
        placed = document.child(element, "pose")
        given = "" if placed is None else placed.get("relative_to", "")
        attached = ""
        otherwise = MODEL_FRAME if not scope.is_world else WORLD
        if element.tag == "joint":
            attached = otherwise = text_of(document, element, "child")
            if not attached:
                raise document.error(element, "names no child; add <child>...</child>")
        elif element.tag == "frame":
            attached = element.get("attached_to", "") or otherwise
            otherwise = attached
        else:
            self._links.add(full)
        self._frames[full] = SdfFrame(
            scope, element, pose_of(document, placed), scope.full(given or otherwise),
            scope.full(attached) if attached else "",
        )  # fmt: skip

    def _pose(self, name: str, base: str) -> Pose:
        """Where a frame is in another one that it is relative to, directly or not."""
        chain: dict[str, SdfFrame] = {}
        while name not in (base, WORLD) and not (base == WORLD and name in self._poses):
            frame = self._frames[name]
            if name in chain:
                passed = list(chain)
                shown = passed if len(passed) < 10 else [*passed[:5], "...", *passed[-4:]]
                raise frame.scope.document.error(
                    frame.element, f"its pose is relative to itself (through {', '.join(shown)})"
                )
            chain[name] = frame
            outer = frame.relative_to
            if outer != WORLD and outer not in self._frames:
                raise frame.scope.document.error(
                    frame.element,
                    f'its pose is relative to "{outer}", and there is no link or frame of that '
                    f"name{suggestion(outer, self._frames)}",
                )
            name = outer
        pose = self._poses[name] if base == WORLD and name in self._poses else Pose()
        for inner, frame in reversed(chain.items()):
            pose = pose @ frame.pose
            if frame.placement:
                if frame.placement not in self._frames:
                    raise frame.scope.document.error(
                        frame.element,
                        f'its placement_frame "{frame.placement}" is not a frame in it',
                    )
                pose = pose @ self._pose(frame.placement, inner).inverse()
            if base == WORLD:
                self._poses[inner] = pose
        return pose
