"""An identification: all that recordings determine of a machine, and words about it."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import yaml

from ..array import Array
from ..errors import ModelWarning, listed
from ..model.model import ACTING, Joint
from ..robot import Robot
from ..robot.described import described_model, inertia_of
from .linear_form import LinearForm, described_joints, leaned, massive_links
from .soundness import COMPUTED
from .verdict import Verdict

GRADES = (
    (0.03, "good for feed-forward and contact detection"),
    (0.10, "good for feed-forward; external efforts are blurred by what is left"),
    (0.25, "rough: use it for gravity compensation, with feedback"),
    (1e9, "do not use it: the model does not describe this machine; zeros of joints (--zero), "
          "signs or units of the columns may be others"),
)
"""Relative errors up to which a model serves, and for what."""

POORLY_EXPLAINED, COLORED = 0.5, 0.9
"""Share of a joint's variance below which a model says little; correlation of neighbours."""

WRITTEN = "viscous", "Coulomb", "armature", "spring"
"""Terms of drives that robot formats hold; an offset is in the rest of its spring."""

LEAST_STIFFNESS = 1e-6
"""Stiffness (N m/rad or N/m) from which there is a spring."""


@dataclass(frozen=True, eq=False)
class Identification:
    """The result of an identification: a machine as its recordings show it.

    robot : the robot with inertias, viscous and Coulomb friction and armatures found, and the lean
        of its base as gravity.
    names, described, found, deviation : (k,) base parameters, by least squares, with standard
        deviations (NaN of those in `open`).
    open : names of base parameters that the motions leave open; they stay near the description.
    drives : by shaft and term its parameter and standard deviation, of the robot's own units.
    gains : by joint, of those that were unknown, the effort of 1 in its column, and its deviation.
    lean : (2,) rad about the base's x and y axes. delay : s of efforts after positions.
    brings : by part of the model, in order, the relative error of rows not seen once it is there.
    verdict : of held-out rows. fit : of the rows that it was found from.
    cutoff : Hz. remarks : what was concluded, in words.
    """

    robot: Robot
    names: tuple[str, ...]
    described: Array
    found: Array
    deviation: Array
    open: tuple[str, ...]
    drives: dict[str, dict[str, tuple[float, float]]]
    gains: dict[str, tuple[float, float]]
    lean: Array
    delay: float
    brings: dict[str, float]
    verdict: Verdict
    fit: Verdict
    cutoff: float
    remarks: tuple[str, ...]

    def words(self) -> list[str]:
        """Whether one may use it, and where not."""
        error, words = self.verdict.relative, list[str]()
        use = next(text for bound, text in GRADES if error <= bound)
        words.append(f"held out, {error:.2%} of the efforts are left ({self.verdict.described:.0%} "
                     f"by the description alone): {use}")  # fmt: skip
        if self.verdict.described < COMPUTED:
            words.append("efforts agree with the description as no machine does: they look "
                         "computed by it (set-points), not measured")  # fmt: skip
        elif error < GRADES[0][0] and not self._has_friction():
            words.append("no drive has friction beyond twice its deviation: efforts look computed "
                         "by a model (set-points), not measured at a machine")  # fmt: skip
        still = [joint for joint, rms in zip(self.verdict.joints, self.verdict.rms, strict=True)
                 if rms != rms]  # fmt: skip
        if still:
            words.append(f"held-out rows do not move {listed(still)}: nothing is judged there; "
                         "give a recording that does by --test")  # fmt: skip
        for joint, explained, own in zip(
            self.verdict.joints, self.verdict.explained, self.verdict.correlation, strict=True
        ):
            if explained < POORLY_EXPLAINED:
                words.append(f"of {joint} {explained:.0%} of the variance is explained: do not "
                             "rely on it there")  # fmt: skip
            elif own > COLORED and error > GRADES[0][0]:
                words.append(f"residuals of {joint} follow each other (correlation {own:.2f}): "
                             "something that is not in the model acts there")  # fmt: skip
        sure = {k: one for k, one in self.gains.items() if one[1] < abs(one[0])}
        if sure:
            words.append("gains of drives: " + listed([
                f"{joint} {gain:.4g} (deviation {spread:.2g})"
                for joint, (gain, spread) in sure.items()
            ]) + ", at the masses of the description: only a gain or a mass that is known sets "
            "their common scale")  # fmt: skip
        if guessed := [f"{k} ({gain:.2g})" for k, (gain, _) in self.gains.items() if k not in sure]:
            words.append(f"the gain of {listed(guessed)} is not determined: a guess by the "
                         "description's efforts; give it by --gain JOINT=VALUE")  # fmt: skip
        if np.abs(self.lean).max() > 0:
            degrees = np.degrees(np.linalg.norm(self.lean))
            words.append(f"the base leans by {degrees:.2f} degrees: (x {self.lean[0]:.4f}, "
                         f"y {self.lean[1]:.4f} rad)")  # fmt: skip
        short = [one.split(" ")[0] for one in self.open]
        if short:
            words.append(f"the motions do not determine {len(short)} of {len(self.names)} base "
                         f"parameters ({listed(short)}): they stay near the description")
        vague = [name.split(" ")[0] for name, value, spread in
                 zip(self.names, self.found, self.deviation, strict=True) if spread > abs(value)]
        if vague:
            words.append(f"{len(vague)} of {len(self.names)} base parameters have deviations "
                         f"larger than themselves ({listed(vague)})")  # fmt: skip
        return words

    def _has_friction(self) -> bool:
        """Whether any drive has friction that is determined."""
        return any(
            not value < 2 * spread for terms in self.drives.values()
            for value, spread in (terms[one] for one in ("viscous", "Coulomb") if one in terms)
        )  # fmt: skip

    def joint_dynamics(self) -> dict[str, dict[str, float]]:
        """Terms that act on joints, by joint and name, as side-car files and nodes read it."""
        driven = {name.removeprefix("pin ") for name in self.drives}
        return {
            one.name: {
                number: value for number in ACTING if (value := float(getattr(one, number)))
                or number in ("damping", "friction")
            }
            for one in self.robot.model.joints if one.name in driven
        }  # fmt: skip

    def side_car(self) -> dict[str, Any]:
        """Terms of joints as a document of `load(..., mechanism=...)`; without inertias."""
        return {"joints": [{"name": k} | one for k, one in self.joint_dynamics().items()]}

    def node_parameters(self) -> dict[str, Any]:
        """Parameters of the nodes, as `ros2 run ... --params-file` reads them."""
        numbers = yaml.safe_dump(self.joint_dynamics(), default_flow_style=True, width=1e9)
        given = {
            "variable": ["friction", "armature", "springs"], "joint_dynamics": numbers.strip(),
            "gravity": self.robot.gravity.tolist(),
        }  # fmt: skip
        return {"/**": {"ros__parameters": given}}

    def not_in_files(self) -> list[str]:
        """Parts of the model that no robot format holds, in words."""
        left = dict.fromkeys(
            f"{term}s" if name in self.robot.joint_names else name
            for name, terms in self.drives.items() for term in terms
            if not name.startswith("pin ")
            and name not in self.robot.joint_names or term not in WRITTEN
            and not (term == "offset" and self.robot.model.joint(name).spring_stiffness)
        )  # fmt: skip
        return [f"not in robot files: {listed(left)}"] if left else []

    def __repr__(self) -> str:
        """A line about it."""
        return (
            f"<Identification of {self.robot.model.name!r}: relative error "
            f"{self.verdict.relative:.2%} of {self.verdict.rows} rows held out>"
        )


def identified_robot(form: LinearForm, x: Array, lean: Array, parts: Collection[str]) -> Robot:
    """The robot with inertias, drives and a lean (2,) of x (n,), and the parts of its model."""
    robot = form.robot
    model = described_model(robot)
    ten = x[: len(form.base.standard)].reshape(-1, 10)
    inertias = dict(zip(robot.moving_links, ten, strict=True))
    joints = described_joints(robot, form.shafts[0])
    terms = {
        (one.shaft.name, one.term): float(x[k])
        for k, one in enumerate(form.columns) if one.shaft is not None
    }  # fmt: skip

    def joint(one: Joint) -> Joint:
        if f"pin {one.name}" in parts:
            viscous, dry = (terms[f"pin {one.name}", term] for term in ("viscous", "Coulomb"))
            return replace(one, damping=viscous, friction=dry)
        if one.name not in {shaft.name for shaft in joints}:
            return one
        more: dict[str, Any] = {}
        if "armature" in parts:
            more["armature"] = terms[one.name, "armature"]
        stiffness = one.spring_stiffness + terms[one.name, "spring"]
        if stiffness > LEAST_STIFFNESS:
            slack = one.spring_stiffness * one.spring_reference - terms[one.name, "offset"]
            more |= {"spring_stiffness": stiffness, "spring_reference": slack / stiffness}
        return replace(
            one, damping=terms[one.name, "viscous"], friction=terms[one.name, "Coulomb"], **more
        )

    massive = {robot.moving_links[k.start // 10] for k in massive_links(robot)}
    model = replace(
        model,
        links=tuple(
            replace(one, inertia=inertia_of(one.name, inertias[one.name]))
            if one.name in massive else one
            for one in model.links
        ),
        joints=tuple(map(joint, model.joints)),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return Robot(model, robot.home, False, leaned(robot.gravity, lean).tolist())
