"""Couplings: the `<coupling>` of URDF+ between two links, and ours between joints by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...errors import ModelError, suggestion
from ...number import to_finite
from ..model import Combination, Coupling, Model
from ..motion_law import LAWS, MotionLaw
from ..split_joints import joints_of_parts, parts, split_joints
from .urdf_joint import read_end
from .xml_source import Remarks, XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ZERO_RATIO = (
    "a ratio of 0 would hold the successor still; give the turns of the successor for one of "
    "the predecessor"
)
ZERO_FACTOR = "a factor of 0 leaves the joint out; leave it out, or give its factor in the sum"


def read_coupling(
    document: XmlSource, element: Element, remarks: Remarks
) -> Coupling | Combination:
    """Read one `<coupling>`; its type (URDF+ writes "rolling") means nothing, as in URDF+.

    With `<joint name factor>` elements it is between these joints, else between two links.
    """
    name = document.read_name(element)
    joints = list(element.iterchildren("joint"))
    if joints:
        return _read_combination(document, element, name, joints)
    if "offset" in element.keys():
        remarks.add(element, "a coupling of links has no offset; not used")
    ends = []
    for role in ("predecessor", "successor"):
        ends.append(read_end(document, element, role))
        if (origin := document.child(element.find(role), "origin")) is not None:
            remarks.add(origin, "a coupling has no frames, only turns; not used")
    ratio = document.child(element, "ratio")
    if ratio is None:
        raise document.error(element, 'has no <ratio>; add <ratio value="..."/>')
    value = document.number(ratio, "value")
    if value == 0.0:
        raise document.error(ratio, ZERO_RATIO)
    return Coupling(name, ends[0], ends[1], value, element.sourceline)


def _read_combination(
    document: XmlSource, element: Element, name: str, joints: Sequence[Element]
) -> Combination:
    for role in ("predecessor", "successor", "ratio"):
        if (other := document.child(element, role)) is not None:
            raise document.error(
                other, "couples links, while <joint> couples joints; keep one of the two"
            )
    factors, powers, laws = [], [], []
    for joint in joints:
        more, own = document.numbers(joint, "powers"), _read_laws(document, joint)
        curved = any(more) or bool(own)
        factor = document.number(joint, "factor", 0.0 if curved else None)
        if factor == 0.0 and not curved:
            raise document.error(joint, ZERO_FACTOR)
        factors.append((document.read_name(joint), factor))
        laws += [(document.read_name(joint), law) for law in own]
        if any(more):
            powers.append((document.read_name(joint), more))
    offset = document.number(element, "offset", 0.0)
    line = element.sourceline
    return Combination(name, tuple(factors), offset, line, tuple(powers), tuple(laws))


def _read_laws(document: XmlSource, joint: Element) -> list[MotionLaw]:
    """The laws of motion of a coupled joint: names with their numbers, between semicolons."""
    laws: list[MotionLaw] = []
    for text in filter(str.strip, joint.get("laws", "").split(";")):
        name, *words = text.split()
        values = [value for word in words if (value := to_finite(word)) is not None]
        if name not in LAWS or len(values) != len(words) or len(values) != 3:
            raise document.error(
                joint,
                f'laws="{text.strip()}" is not a law of motion; there are "sine AMPLITUDE RATE '
                'PHASE" and "rise HEIGHT START LENGTH", with numbers',
            )
        if name == "rise" and values[2] <= 0.0:
            raise document.error(joint, f'laws="{text.strip()}" rises within no length')
        laws.append(LAWS[name](*values))
    return laws


def couple_joints(model: Model, placed: Iterable[tuple[str, Coupling | Combination]]) -> Model:
    """The model with the joints of several coordinates split whose parts couplings name.

    Parameters
    ----------
    placed : couplings of the model, each with what messages call its place.

    Raises
    ------
    ModelError
        A coupling of joints names one that is not there, does not move, has several coordinates,
        or is named twice; or it names one alone.
    """
    combinations = [(place, one) for place, one in placed if isinstance(one, Combination)]
    if not combinations:
        return model
    named = [name for _, one in combinations for name, _ in one.factors]
    model = split_joints(model, joints_of_parts(model, named))
    joints = {joint.name: joint for joint in model.joints}
    for place, one in combinations:
        names = [name for name, _ in one.factors]
        for name in names:
            if name not in joints:
                raise ModelError(
                    f'{place}: "{name}" is not a joint of this robot{suggestion(name, joints)}; '
                    "correct the name"
                )
            kind = joints[name].kind
            if not kind.nv:
                raise ModelError(f'{place}: joint "{name}" is fixed and has no position')
            if kind.nv > 1:
                raise ModelError(
                    f'{place}: joint "{name}" is {kind.name} and has several positions; name '
                    f"those that are meant: {', '.join(parts(joints[name]))}"
                )
            if names.count(name) > 1:
                raise ModelError(f'{place}: names the joint "{name}" twice; add up its factors')
        if len(names) < 2:
            raise ModelError(
                f'{place}: would hold the joint "{names[0]}" still; name the joints that it moves '
                "with, or make it fixed"
            )
        if (one.powers or one.laws) and not one.followers:
            curved = "powers" if one.powers else "laws"
            raise ModelError(
                f"{place}: has {curved} of all of its joints; leave one of them without {curved}: "
                "its position follows from the others'"
            )
    return model
