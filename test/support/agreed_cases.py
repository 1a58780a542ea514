"""Robots with closed loops whose values three independent methods agree on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mbdyn_ros
from mbdyn_ros import Robot

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
HOMES = {"A1_fourbar": {"J1": 0.9, "J2": -0.1, "J4": 1.8}, "B_boom": {"rod_joint": 0.3}}


@dataclass(frozen=True)
class Case:
    """A robot's record and its golden values."""

    name: str
    record: dict[str, Any]
    golden: dict[str, Any]

    @staticmethod
    def read(name: str) -> Case:
        texts = [(CASES / f"{file}.json").read_text() for file in (name, f"golden_{name}")]
        return Case(name, *(json.loads(text) for text in texts))

    def loop(self, swapped: bool = False) -> dict[str, Any]:
        """The loop record in our words, written either way round."""
        (loop,) = self.record["loops"]
        ends = {"predecessor": loop["parent"], "successor": loop["child"]}
        if swapped:
            ends = dict(zip(ends, reversed(ends.values()), strict=True))
        return {"name": loop["name"], "type": loop["kind"], "axis": loop["axis"], **ends}

    def yaml(self, swapped: bool = False, **choices: list[str]) -> str:
        """The side-car file; `choices` replace the record's joints."""
        loop = self.loop(swapped)
        lines = ["loops:", f"  - name: {loop['name']}", f"    type: {loop['type']}"]
        lines.append(f"    axis: {loop['axis']}")
        for end in ("predecessor", "successor"):
            place = loop[end]
            lines.append(
                f"    {end}: {{link: {place['link']}, xyz: {place['xyz']}, rpy: {place['rpy']}}}"
            )
        for key in ("independent", "actuated"):
            lines.append(f"{key}: [{', '.join(choices.get(key, self.record[key]))}]")
        home = ", ".join(f"{joint}: {value}" for joint, value in HOMES[self.name].items())
        return "\n".join([*lines, f"home: {{{home}}}", ""])

    def urdf_plus(self, swapped: bool = False) -> str:
        """The URDF with a loop and independent joints in it."""
        loop, text = self.loop(swapped), (CASES / self.record["urdf"]).read_text()

        def numbers(values: list[float]) -> str:
            return " ".join(map(repr, values))

        element = f'<loop name="{loop["name"]}" type="{loop["type"]}">'
        for end in ("predecessor", "successor"):
            place = loop[end]
            origin = f'<origin xyz="{numbers(place["xyz"])}" rpy="{numbers(place["rpy"])}"/>'
            element += f'<{end} link="{place["link"]}">{origin}</{end}>'
        element += f'<axis xyz="{numbers(loop["axis"])}"/></loop>\n'
        for joint in self.record["tree_joint_order"]:
            mark = str(joint in self.record["independent"]).lower()
            text = text.replace(
                f'<joint name="{joint}"', f'<joint independent="{mark}" name="{joint}"'
            )
        return text.replace("</robot>", element + "</robot>")

    def load(self, how: str = "yaml", **choices: list[str]) -> Robot:
        swapped = how.endswith("swapped")
        if how.startswith("yaml"):
            return mbdyn_ros.load(CASES / self.record["urdf"], self.yaml(swapped, **choices))
        return mbdyn_ros.load(self.urdf_plus(swapped), home=HOMES[self.name])


def arrays(states: list[dict[str, Any]], *keys: str) -> np.ndarray:
    """One value of all states, stacked."""
    for key in keys:
        states = [state[key] for state in states]
    return np.array(states)
