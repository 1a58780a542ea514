"""Time of exported C on this machine, and its size on a Cortex-M4.

    python benchmarks/exported_c.py            # or with paths of robots

Prints nanoseconds a call of every function as gcc -O2 and clang -O2 compile it (the best of 20
rounds), and the bytes of code and constants that arm-none-eabi-gcc -Os makes for a Cortex-M4. A
column stays empty where a compiler is missing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import mbdyn_ros
from mbdyn_ros.export.c_library import CLibrary
from mbdyn_ros.robot.c_description import describe

URDF = Path(__file__).resolve().parent.parent / "urdf"
CALLS, ROUNDS = 20_000, 20
ARM = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
       "-mfpu=fpv4-sp-d16", "-Os")  # fmt: skip


def timer(described: CLibrary) -> str:
    """A C program that prints the time of every function."""
    lines = [f'#include "{described.prefix}.h"', "#include <stdio.h>", "#include <time.h>",
             "int main(void) {", "  struct timespec from, to;"]  # fmt: skip
    for function in described.functions:
        arrays = [f"static double {name}[{size}];" for name, size in function.arguments]
        fill = [
            f"for (int i = 0; i < {size}; ++i) {name}[i] = ((const double[]){{"
            f"{', '.join(repr(float(x)) for x in values)}}})[i];"
            for (name, size), values in zip(
                function.arguments[:-1], function.records[0], strict=False
            )
        ]
        call = f"{function.name}({', '.join(name for name, _ in function.arguments)})"
        lines += [
            "  {", *arrays, *fill, "double best = 1e9;",
            f"for (int r = 0; r < {ROUNDS}; ++r) {{",
            "clock_gettime(CLOCK_MONOTONIC, &from);",
            f"for (int k = 0; k < {CALLS}; ++k) {call};",
            "clock_gettime(CLOCK_MONOTONIC, &to);",
            "double s = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (to.tv_nsec - from.tv_nsec);",
            f"if (s < best) best = s; }} printf(\"%.0f\\n\", 1e9 * best / {CALLS});", "  }",
        ]  # fmt: skip
    return "\n".join([*lines, "  return 0;", "}", ""])


def times(folder: Path, described: CLibrary, compiler: str) -> list[str]:
    """Nanoseconds a call of every function."""
    if shutil.which(compiler) is None:
        return [""] * len(described.functions)
    target = folder / f"time_{compiler}"
    sources = [str(folder / "time.c"), str(folder / f"{described.prefix}.c")]
    command = [compiler, "-std=gnu99", "-O2", *sources, "-o", str(target), "-lm"]
    subprocess.run(command, check=True)
    return subprocess.run([target], capture_output=True, text=True, check=True).stdout.split()


def main() -> None:
    """Export, compile, run, print."""
    paths = sys.argv[1:] or [str(URDF / name) for name in ("piezo_robot.yaml", "manipulator.urdf")]
    for path in paths:
        robot = mbdyn_ros.load(path)
        described = describe(robot, None)
        if described.closing is not None:
            print(f"{path}: its loops are closed step by step; such robots are not timed here")
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            robot.generate_c(folder)
            (folder / "time.c").write_text(timer(described), encoding="ascii")
            columns = [times(folder, described, compiler) for compiler in ("gcc", "clang")]
            print(f"{robot.model.name:40} {'gcc':>8} {'clang':>8}  ns a call")
            for function, *cells in zip(described.functions, *columns, strict=True):
                print(f"  {function.name:38} {cells[0]:>8} {cells[1]:>8}")
            if shutil.which(ARM[0]):
                source, target = folder / f"{described.prefix}.c", folder / "arm.o"
                subprocess.run([*ARM, "-c", str(source), "-o", str(target)], check=True)
                listed = subprocess.run(
                    ["arm-none-eabi-size", target], capture_output=True, text=True, check=True
                )
                print(f"  Cortex-M4: {listed.stdout.split()[6]} bytes")


if __name__ == "__main__":
    main()
