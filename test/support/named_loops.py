"""A four-bar whose loop is named in its URDF."""

from __future__ import annotations

TREE = """<robot name="r">
<link name="base"/> <link name="crank"/> <link name="coupler"/> <link name="rocker"/>
<link name="tip"/>
<joint name="j1" type="continuous"><parent link="base"/><child link="crank"/><axis/></joint>
<joint name="j2" type="continuous"><parent link="crank"/><child link="coupler"/><axis/></joint>
<joint name="j4" type="continuous"><parent link="base"/><child link="rocker"/><axis/></joint>
<joint name="weld" type="fixed"><parent link="coupler"/><child link="tip"/></joint>
{}
</robot>"""
CLOSED = '<predecessor link="coupler"/><successor link="rocker"/>'


def four_bar(closing: str = "", **marks: str) -> str:
    """Four links and a tip on the coupler; what closes them is in line 8."""
    text = TREE.format(closing)
    for name, mark in marks.items():
        text = text.replace(f'name="{name}"', f'name="{name}" independent="{mark}"')
    return text


def loop(children: str = CLOSED, kind: str = "revolute", name: str = "pin") -> str:
    return f'<loop name="{name}" type="{kind}">{children}</loop>'


SECOND = (
    '<joint name="j3" type="revolute"><origin xyz="1 2 3" rpy="0 0 1"/><axis xyz="0 0 2"/>'
    '<parent link="coupler"/><child link="rocker"/>{}</joint>'
)
