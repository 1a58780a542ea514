"""The laws of control of a robot in C: modes of the table in export/cpp/mbdyn_ros/model.h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..names import in_c_string
from .c_library import CLibrary


@dataclass(frozen=True)
class CMode:
    """A mode of control: its name and program, and its reference: "joints", "pose" or "".

    link : that the pose is of; else "". gains : inputs of the program by the names of the gains;
        "" for one of each joint that is not the program's.
    """

    name: str
    law: str
    follows: str
    link: str
    gains: tuple[tuple[str, str], ...]


FOLLOWS = {"": "MBDYN_ROS_NOTHING", "joints": "MBDYN_ROS_JOINTS", "pose": "MBDYN_ROS_POSE"}
"""References of modes, in C."""


def mode_text(library: CLibrary, modes: Sequence[CMode]) -> str:
    """The laws of control and their list."""
    parts, rows = [], []
    for k, mode in enumerate(modes):
        function = library.function(mode.law)
        assert function is not None
        sizes = dict(function.arguments[:-1])
        counts = [(name, sizes.get(given, sizes["v"])) for name, given in mode.gains]
        places = {"q": "q", "v": "v", "parameters": "parameters"}
        totals = {"wanted": 0, "gains": 0}
        for (_, given), (_, count) in zip(mode.gains, counts, strict=True):
            places[given] = f"gains + {totals['gains']}"
            totals["gains"] += count
        for name, size in sizes.items():
            if name not in places:
                places[name] = f"wanted + {totals['wanted']}"
                totals["wanted"] += size
        inputs = {"q": sizes["q"], "v": sizes["v"], **totals}
        inputs["parameters"] = sizes.get("parameters", 0)
        parts.append(
            MODE.format(
                k=k,
                unused="".join(f"  (void){name};\n" for name, size in inputs.items() if not size)
                + ("" if library.closing is not None else "  (void)memory;\n"),
                function=function.name,
                loops="memory, " if library.closing is not None else "",
                passed=", ".join(places[name] for name in sizes),
                checked=" ||\n                ".join(
                    f"not_finite({name}, {size})" for name, size in inputs.items() if size
                ),
                gains=", ".join(f"{{{in_c_string(name)}, {count}}}" for name, count in counts),
            )
        )
        rows.append(
            f"  {{{in_c_string(mode.name)}, {FOLLOWS[mode.follows]}, {in_c_string(mode.link)}, "
            f"{totals['wanted']}, {len(mode.gains)}, gains_of_{k}, mode_{k}}}"
        )
    if rows:
        listed = ",\n".join(rows)
        parts.append(f"static const mbdyn_ros_mode modes[] = {{\n{listed}\n}};\n")
    return "\n".join(parts)


MODE = """static const mbdyn_ros_gain gains_of_{k}[] = {{{gains}}};

static int mode_{k}(void *memory, const double *q, const double *v, const double *wanted,
    const double *gains, const double *parameters, double *effort) {{
{unused}  const int failed = {function}({loops}{passed}, effort);
  if (!failed) return MBDYN_ROS_OK;
  return reason(memory, failed,
                {checked}, q, parameters);
}}
"""
