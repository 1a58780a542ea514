"""docs/urdf_plus.md has every name that the readers know, and an example of each closing joint."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from mbdyn_ros.model.actuators import TYPES
from mbdyn_ros.model.closing_types import CLOSING_TYPES
from mbdyn_ros.model.joints.types import JOINT_TYPES
from mbdyn_ros.model.read import side_car, side_car_joints
from mbdyn_ros.model.read.vocabulary import ATTRIBUTES, CHOICES, NUMBERS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "urdf_plus.md").read_text()
SECTIONS = {
    title: text for title, text in re.findall(r"^### (.*)\n((?:(?!^##).*\n?)*)", PAGE, re.MULTILINE)
}


def named(section: str) -> set[str]:
    """What a section's list names."""
    return set(re.findall(r"^- `<?(\w+)", SECTIONS[section], re.MULTILINE))


def test_every_attribute_is_reported() -> None:
    rows = re.findall(r"^\| (`[^|]*) \| (`[^|]*) \|", PAGE.partition("## Every element")[2], re.M)
    for tag, names in ATTRIBUTES.items():
        cells = [attributes for elements, attributes in rows if f"`{tag}`" in elements]
        assert set(re.findall(r"`(\w+)`", " ".join(cells))) == names, tag
    assert named("Choices") == set(CHOICES)


def test_every_key_is_reported() -> None:
    records = SECTIONS["Records of a side-car file"]
    rows = re.findall(r"^- (?:of `)?([\w ]+)`?: (`.*`)$", records, re.MULTILINE)
    reported = {record: set(re.findall(r"`(\w+)`", keys)) for record, keys in rows}
    assert reported == {
        "the file": set(side_car.KEYS),
        "loops": set(side_car.LOOP_KEYS),
        "couplings": set(side_car.COUPLING_KEYS),
        "joints": set(side_car_joints.KEYS),
    }
    actuators = (DOCS / "actuators.md").read_text()
    for kind in TYPES.values():
        for one in dataclasses.fields(kind):
            assert one.name == "line" or f"{one.name}:" in actuators, one.name


def test_every_closing_joint_has_its_example() -> None:
    shown = set[str]()
    for title, text in SECTIONS.items():
        words, colon, _ = title.partition(": ")
        kinds = words.split(", ")
        if colon:
            assert any(f'loop("{kind}"' in text or f'type="{kind}"' in text for kind in kinds)
            shown |= set(kinds)
    assert shown == set(CLOSING_TYPES) | set(NUMBERS)
    joints = (DOCS / "joints.md").read_text()
    assert all(f"| `{kind}`" in joints or f", `{kind}`" in joints for kind in JOINT_TYPES)
