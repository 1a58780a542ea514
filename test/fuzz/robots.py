"""Robots of the project, for the fuzzer."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path

import mbdyn_ros

ROOT = Path(__file__).resolve().parent.parent.parent


@lru_cache
def text_of(name: str) -> str:
    """The text of a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


@lru_cache
def robot(name: str) -> mbdyn_ros.Robot:
    """A robot of the project."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mbdyn_ros.load(str(ROOT / "urdf" / name), floating_base=name == "tree_robot.urdf")
