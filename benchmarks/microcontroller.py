r"""Instructions and cycles of exported C on an emulated Cortex-M4, and its errors in float.

    python -m benchmarks.microcontroller --write docs/microcontroller.csv
    python -m benchmarks.microcontroller --joints 6 9 12 15 18 \
        --write docs/microcontroller_chains.csv

The C of the paper's piezo robot (`mbdyn piezo --codegen`), in double and in single precision, is
compiled by arm-none-eabi-gcc -O2 for a Cortex-M4 with its FPU (of float alone), and run on
`qemu-system-arm -M mps2-an386` one instruction at a time; every instruction executed is counted.
Cycles are an estimate: QEMU has no clock. Each instruction is given the cycles of the Cortex-M4's
reference manual (ARM DDI 0439, section 3.3.1 and 7.2.2) in the worst case of those that depend on
their surroundings: a branch that is taken refills the pipeline in 3, no load is hidden behind
another, flash has no wait states. What is missing is said, and nothing is run.

With --joints it is the C of chains of that many joints (`benchmarks.closed_form_growth`): inverse
dynamics and mass matrix by recursion and by closed form, in single precision. The closed form of
18 is one function of 52 000 lines, which gcc -O2 does not finish in ten minutes: functions as long
are cut into several of 500 lines.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import mbdyn_ros
from benchmarks.book_table import write_table
from benchmarks.closed_form_growth import ANY, chain
from mbdyn_ros.array import Array
from mbdyn_ros.equations.algebra.spatial import SX
from mbdyn_ros.equations.system import System
from mbdyn_ros.export.c_library import CProgram
from mbdyn_ros.export.closed_form_program import closed_form_efforts
from mbdyn_ros.piezo import Rotor, generate_c
from mbdyn_ros.program.program import program as declared

URDF = Path(__file__).resolve().parent.parent / "urdf"
ROTOR, LINK = Rotor(0.002, 0.005, 1000.0), "gripper"
TOOLS = ("arm-none-eabi-gcc", "arm-none-eabi-objdump", "qemu-system-arm")
TARGET = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
CLOCK = 168e6
"""Hz of a common Cortex-M4."""

TAKEN = 3
"""Cycles more of a branch that is taken, at most."""

SLOW = {"sdiv": 12, "udiv": 12, "vdiv": 14, "vsqrt": 14, "vfma": 3, "vmla": 3, "vmls": 3,
        "vfms": 3, "vnmla": 3, "vnmls": 3, "vfnma": 3, "vfnms": 3}  # fmt: skip
"""Cycles of instructions that take more than one, except for those on memory."""

LONGEST, PIECE = 20_000, 500
"""Lines of a function of straight lines that gcc -O2 compiles in minutes, and lines of the
functions that a longer one is cut into."""

START = """
#include "%(robot)s.h"
extern unsigned _stack;
void start(void);
__attribute__((section(".vectors"), used)) static void *const vectors[] = {&_stack, start};
__attribute__((noinline)) void begin(void) { __asm volatile(""); }
__attribute__((noinline)) void end(void) { __asm volatile(""); }
%(arrays)s
void start(void) {
  *(volatile unsigned *)0xE000ED88 |= 0xFu << 20; /* the FPU */
  __asm volatile("dsb\\n isb");
%(calls)s
  __asm volatile("mov r0, #0x18\\n ldr r1, =0x20026\\n bkpt 0xAB"); /* exit */
  for (;;) {}
}
"""

MEMORY = """ENTRY(start)
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 4M  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.data*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .bss : { *(.bss*) *(COMMON) } > RAM
  _stack = ORIGIN(RAM) + LENGTH(RAM);
}
"""


def missing() -> list[str]:
    """The tools that this machine does not have."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def program(
    robot: str, functions: list[tuple[str, list[tuple[str, Array]], int]], real: str
) -> str:
    """C that calls every function once between marks. Each: name, inputs, size of the result."""
    arrays, calls = [], []
    for name, inputs, size in functions:
        for key, values in inputs:
            listed = ", ".join(repr(float(x)) for x in values)
            arrays.append(f"static const {real} {name}_{key}[] = {{{listed}}};")
        arrays.append(f"static {real} {name}_result[{size}];")
        given = ", ".join([*(f"{name}_{key}" for key, _ in inputs), f"{name}_result"])
        calls.append(f"  begin();\n  (void){name}({given});\n  end();")
    return START % {"robot": robot, "arrays": "\n".join(arrays), "calls": "\n".join(calls)}


def cycles_of(mnemonic: str, operands: str, taken: bool) -> int:
    """Cycles of one instruction, at most."""
    base = mnemonic.split(".")[0]
    if base in SLOW:
        return SLOW[base]
    if re.match(r"(push|pop|ldm|stm|vpush|vpop|vldm|vstm)", base):
        count = sum(
            1 if "-" not in one else abs(int(re.sub(r"\D", "", one.split("-")[1]))
                                         - int(re.sub(r"\D", "", one.split("-")[0]))) + 1
            for one in operands.split("{")[-1].rstrip("}").split(",")
        )  # fmt: skip
        doubled = 2 if base.startswith("v") and "d" in operands.split("{")[-1] else 1
        return 1 + doubled * count + TAKEN * taken
    if base in ("ldrd", "strd"):
        return 3
    if base.startswith(("ldr", "str", "vldr", "vstr")):
        return (3 if base.startswith("v") and operands.startswith("d") else 2) + TAKEN * taken
    return 1 + TAKEN * taken


def cut(text: str) -> str:
    """C in which functions of more than LONGEST straight lines call one function after the other.

    What one of them computes for a later one lies in an array in memory.
    """
    pattern = re.compile(r"^int (\w+)\((.*)\) \{\n((?:  [^\n]*\n)*?)(  return [^\n]*\n\}\n)", re.M)
    return pattern.sub(_cut, text)


def _cut(found: re.Match[str]) -> str:
    name, arguments, body, end = found.groups()
    lines = body.splitlines()
    if len(lines) <= LONGEST:
        return found.group()
    parts = [lines[at : at + PIECE] for at in range(0, len(lines), PIECE)]
    read, made = zip(*map(_read_and_made, parts), strict=True)
    wanted: list[set[str]] = [set()]  # by the parts after each, from the last one on
    for before, after in zip(reversed(read), reversed(made), strict=True):
        wanted.append((wanted[-1] - after) | before)
    wanted.reverse()
    functions, calls = [], []
    given = ", ".join(re.findall(r"(\w+)\[", arguments))
    for k, part in enumerate(parts):
        taken = [f"  float a{one} = w[{one}];" for one in sorted(read[k])]
        new = sorted(made[k] - read[k])
        own = [f"  float {', '.join(f'a{one}' for one in new)};"] if new else []
        left = [f"  w[{one}] = a{one};" for one in sorted(made[k] & wanted[k + 1])]
        plain = [line.replace("  float a", "  a") for line in part]
        head = f"static __attribute__((noinline)) void {name}_{k}({arguments}, float *w) {{"
        functions += [head, *taken, *own, *plain, *left, "}"]
        calls.append(f"  {name}_{k}({given}, w);")
    size = 1 + max(int(one) for some in made for one in some)
    return "\n".join([*functions, f"int {name}({arguments}) {{", f"  static float w[{size}];",
                      *calls, end])  # fmt: skip


def _read_and_made(lines: list[str]) -> tuple[set[str], set[str]]:
    """Numbers of the variables that lines read before they make them, and of those they make."""
    read, made = set[str](), set[str]()
    for line in lines:
        result, _, formula = line.partition(" = ")
        read.update(set(re.findall(r"\ba(\d+)\b", formula)) - made)
        made.update(re.findall(r"\ba(\d+)$", result))
    return read, made


def traced(folder: Path, robot: str, names: list[str]) -> dict[str, tuple[int, int]]:
    """Instructions and cycles of every call, in the order of the program."""
    (folder / "memory.ld").write_text(MEMORY, encoding="ascii")
    image, log = folder / "program.elf", folder / "trace.log"
    call = ["arm-none-eabi-gcc", *TARGET, "-O2", "-std=c99", "-nostartfiles", "-specs=nosys.specs",
            "-T", "memory.ld", "start.c", f"{robot}.c", "-lm", "-o", str(image)]  # fmt: skip
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    listing = subprocess.run(["arm-none-eabi-objdump", "-d", str(image)], check=True,
                             capture_output=True, text=True).stdout  # fmt: skip
    places = {n: int(a, 16) for a, n in re.findall(r"^(\w+) <(\w+)>:", listing, re.MULTILINE)}
    code = {
        int(place, 16): (mnemonic, operands.split(";")[0].strip(), len(raw.replace(" ", "")) // 2)
        for place, raw, mnemonic, operands in re.findall(
            r"^ *(\w+):\t([0-9a-f ]+)\t(\S+)\t?(.*)$", listing, re.MULTILINE
        )
    }
    subprocess.run(["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none",
                    "-serial", "none", "-semihosting", "-singlestep", "-d", "exec,nochain",
                    "-D", str(log), "-kernel", str(image)], check=True, timeout=300)  # fmt: skip
    steps = [int(one, 16) for one in re.findall(r"\[\w+/(\w+)/", log.read_text())]
    found: dict[str, tuple[int, int]] = {}
    run: list[int] = []
    for step in steps:
        if step == places["begin"]:
            run = []
        elif step == places["end"]:
            found[names[len(found)]] = counted(run[1:], code)  # without the return of begin
        run.append(step)
    return found


def counted(run: list[int], code: dict[int, tuple[str, str, int]]) -> tuple[int, int]:
    """Instructions and cycles of a stretch of places of instructions; the last one returns."""
    pairs = Counter(zip(run, [*run[1:], run[-1]], strict=True))
    cycles = sum(
        count * cycles_of(code[here][0], code[here][1], after != here + code[here][2])
        for (here, after), count in pairs.items()
    )
    return len(run), cycles


def exported(folder: Path, precision: str) -> tuple[Any, tuple[str, ...]]:
    """The Python module of the exported library, built by gcc, and the names of its functions."""
    robot = mbdyn_ros.load(URDF / "piezo_robot.yaml")
    names = generate_c(robot, folder, ROTOR, LINK, precision).functions
    library = folder / "libpiezo_robot.so"
    subprocess.run(["gcc", "-std=c99", "-O1", "-fPIC", "-shared", str(folder / "piezo_robot.c"),
                    "-o", str(library), "-lm"], check=True)  # fmt: skip
    spec = importlib.util.spec_from_file_location(f"{precision}_robot", folder / "piezo_robot.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, tuple(name.removeprefix("piezo_robot_") for name in names)


def inputs_of(module: Any, name: str, random: np.random.Generator) -> list[tuple[str, Array]]:
    """Arguments of a function at a random state of the robot at work."""
    q = random.uniform(-1.2, 1.2, 6)
    known = {
        "q": q, "v": random.normal(size=6), "a": random.normal(size=6),
        "effort": 0.1 * random.normal(size=6), "torque": 0.1 * random.normal(size=6),
        "wanted_q": q + 2e-3 * random.normal(size=6), "wanted_v": 0.05 * random.normal(size=6),
        "gain": np.array([50.0]), "tolerance": np.array([1e-5]),
        "force": np.array([ROTOR.amplitude]), "speed": np.array([ROTOR.speed]),
    }  # fmt: skip
    return [(key, known[key]) for key, _ in module.PROGRAMS[name][0]]


def errors(double: Any, single: Any, names: tuple[str, ...], states: int) -> dict[str, Array]:
    """Largest errors of float, by function: shares of the largest number of the result.

    Of windows and controller: of the phases, rad, where both free the joint; and how many of all
    joints only one of the two frees.
    """
    random, found = np.random.default_rng(0), {}
    for name in names:
        worst = []
        for _ in range(states):
            given = [values for _, values in inputs_of(double, name, random)]
            exact, rounded = (
                getattr(one.load(), name)(*given).astype(float) for one in (double, single)
            )
            if name.startswith("pulse"):
                wide = [(rows[1] - rows[0]) % (2 * np.pi) > 1e-6 for rows in (exact, rounded)]
                both = wide[0] & wide[1]
                gap = np.abs(exact[:2] - rounded[:2])[:, both]
                gap = np.minimum(gap, 2 * np.pi - gap)
                worst.append((gap.max(initial=0.0), float((wide[0] != wide[1]).sum()), 6))
            else:
                worst.append((np.abs(exact - rounded).max() / np.abs(exact).max(), 0.0, 1))
        found[name] = np.array(worst)
    return found


def measured(folder: Path, precision: str) -> dict[str, tuple[int, int]]:
    """Instructions and cycles of every function of the exported robot."""
    module, names = exported(folder, precision)
    random = np.random.default_rng(1)
    functions = []
    for name in names:
        size = int(np.prod(module.PROGRAMS[name][1]))
        functions.append((f"piezo_robot_{name}", inputs_of(module, name, random), size))
    real = "float" if precision == "single" else "double"
    text = program("piezo_robot", functions, real)
    (folder / "start.c").write_text(text, encoding="ascii")
    return traced(folder, "piezo_robot", list(names))


@declared("q v a", output="effort", internal=True)
def closed_efforts(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Inverse dynamics (nv, 1) by the closed form, however long."""
    return closed_form_efforts(system, q, v, a, ANY)[1]


@declared("q", output="matrix", matrix=True, internal=True)
def closed_mass(system: System, q: SX, z: SX) -> SX:
    """Mass matrix (nv, nv) by the closed form, however long."""
    rest = SX.zeros(system.coordinates.nv)
    return closed_form_efforts(system, q, rest, rest, ANY)[0]


def grown(folder: Path, n: int) -> dict[str, tuple[int, int]]:
    """Instructions and cycles of a chain of n joints, in single precision."""
    robot, random = chain(n), np.random.default_rng(n)
    by_form = closed_efforts, closed_mass
    closed = [CProgram(one, None, "By the closed form.", {}) for one in by_form]
    robot.generate_c(folder, [], more=closed, precision="single")
    q, v, a = random.uniform(-1.2, 1.2, n), random.normal(size=n), random.normal(size=n)
    state = [("q", q), ("v", v), ("a", a)]
    wanted = {"inverse_dynamics": (state, n), "closed_efforts": (state, n),
              "mass_matrix": (state[:1], n * n), "closed_mass": (state[:1], n * n)}  # fmt: skip
    source = folder / f"chain_{n}.c"
    source.write_text(cut(source.read_text(encoding="utf-8")), encoding="utf-8")
    functions = [(f"chain_{n}_{name}", *inputs) for name, inputs in wanted.items()]
    text = program(f"chain_{n}", functions, "float")
    (folder / "start.c").write_text(text, encoding="ascii")
    return traced(folder, f"chain_{n}", list(wanted))


HEADINGS = ("", "double: instructions", "cycles", "single: instructions", "cycles",
            "error of single: median, largest")  # fmt: skip
"""Of the table of the robot's programs."""

OF_CHAINS = ("joints", "inverse dynamics, recursion: instructions (cycles)", "closed form",
             "mass matrix, recursion", "closed form")  # fmt: skip
"""Of the table of chains."""


def main() -> None:
    """Measure, print, and write a table for the book."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--joints", type=int, nargs="+", help="of chains, instead of the robot")
    parser.add_argument("--write", type=Path, help="the file of the table")
    options = parser.parse_args()
    lacking = missing()
    if lacking:
        print(f"missing: {', '.join(lacking)} (apt: gcc-arm-none-eabi qemu-system-arm)")
        return
    lines = [OF_CHAINS if options.joints else HEADINGS]
    for n in options.joints or ():
        with tempfile.TemporaryDirectory() as folder:
            costs = grown(Path(folder), n)
        print(f"{n:3} joints", *(f"{name}: {i}, {c}" for name, (i, c) in costs.items()), sep="   ",
              flush=True)  # fmt: skip
        lines.append((str(n), *(f"{count} ({cycles})" for count, cycles in costs.values())))
    if not options.joints:
        lines += robot_rows()
    if options.write:
        write_table(options.write, lines)


def robot_rows() -> list[tuple[str, ...]]:
    """Print the costs and errors of the robot's programs, and return them as cells."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        double, single = (
            measured(Path(one), kind) for one, kind in ((first, "double"), (second, "single"))
        )
        names = tuple(double)
        modules = [exported(Path(one), kind)[0]
                   for one, kind in ((first, "double"), (second, "single"))]  # fmt: skip
        found = errors(modules[0], modules[1], names, 1000)
    print(f"{'':20} {'double: instr.':>14} {'cycles':>8} {'single: instr.':>14} {'cycles':>8} "
          f"{'us at 168 MHz':>13}   error of single: median, largest")  # fmt: skip
    rows = []
    for name in names:
        error = found[name][:, 0]
        numbers = *double[name], *single[name]
        errors_of = f"{np.median(error):.1e}, {error.max():.1e}{' rad' * name.startswith('pulse')}"
        rows.append((f"`{name}`", *map(str, numbers), errors_of))
        print(
            f"{name:20} {double[name][0]:14} {double[name][1]:8} {single[name][0]:14} "
            f"{single[name][1]:8} {1e6 * single[name][1] / CLOCK:13.1f}   {np.median(error):.1e}, "
            f"{error.max():.1e}"
            + (f" rad; {found[name][:, 1].sum():.0f} of {found[name][:, 2].sum():.0f} joints "
               "freed by one alone" if name.startswith("pulse") else "")
        )  # fmt: skip
    return rows


if __name__ == "__main__":
    main()
