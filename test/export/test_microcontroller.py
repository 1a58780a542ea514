"""C of float: what it computes against C of double, and what it costs on an emulated Cortex-M4."""

from __future__ import annotations

import csv
import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from c_tools import GCC, STRICT, URDF, command, needs_gcc
from click.testing import CliRunner

import mbdyn_ros
from benchmarks import microcontroller
from benchmarks.closed_form_growth import chain
from mbdyn_ros.__main__ import main
from mbdyn_ros.export.c_export import in_single_precision
from mbdyn_ros.export.c_library import CProgram

pytestmark = pytest.mark.usefixtures("interpreted")
DOCS = Path(__file__).parents[2] / "docs"


def table(name: str) -> list[list[str]]:
    """The rows of a table of the book, without its headings, which are those of today."""
    head, *rows = csv.reader((DOCS / f"{name}.csv").read_text(encoding="utf-8").splitlines())
    assert tuple(head) in (microcontroller.HEADINGS, microcontroller.OF_CHAINS)
    return rows


ROBOT = {row[0].strip("`"): row for row in table("microcontroller")}


def test_text_of_float() -> None:
    code = 'x = 2. * sin(a1) + 1e-300 - 1.5e3 * asin(a2[10]); /* 1.0 sin(x) */ printf("1.0 %d");'
    expected = (
        'x = 2.f * sinf(a1) + 0.0f - 1.5e3f * asinf(a2[10]); /* 1.0 sin(x) */ printf("1.0 %d");'
    )
    assert in_single_precision(code) == expected
    assert in_single_precision("double x = (double)NAN; for (i = 0; i < 12; ++i) x = a1;") == (
        "float x = (float)NAN; for (i = 0; i < 12; ++i) x = a1;"
    )
    assert in_single_precision("fabs(x) <= DBL_MAX") == "fabsf(x) <= FLT_MAX"


@pytest.mark.long
@needs_gcc
def test_errors_are_those_of_the_page(tmp_path: Path) -> None:
    modules = []
    for precision in ("double", "single"):
        folder = tmp_path / precision
        folder.mkdir()
        module, names = microcontroller.exported(folder, precision)
        modules.append(module)
        sources = [folder / "piezo_robot.c", folder / "test_piezo_robot.c"]
        command(GCC, *STRICT, "-O0", *sources, "-o", folder / "test", "-lm")
        assert command(folder / "test").count("ok ") == len(names) == 8
    found = microcontroller.errors(modules[0], modules[1], names, 40)
    for name, worst in found.items():
        median, largest = map(float, re.findall(r"[\d.]+e-\d+", ROBOT[name][-1]))
        assert worst[:, 0].max() <= 1.01 * largest, name
        assert median / 3 < np.median(worst[:, 0]) < 3 * median, name
        assert name.startswith("pulse") or worst[:, 0].min() > 1e-9


def test_cycles_of_instructions() -> None:
    for mnemonic, operands, taken, cycles in (
        ("vmul.f32", "s0, s1, s2", False, 1), ("vdiv.f32", "s0, s1, s2", False, 14),
        ("push", "{r4, r5, r6, lr}", False, 5), ("vpush", "{d8-d15}", False, 17),
        ("ldr", "r0, [r1]", False, 2), ("vldr", "d0, [r1]", False, 3), ("bne.n", "10", True, 4),
        ("bne.n", "10", False, 1), ("ldmia.w", "sp!, {r4-r8, pc}", True, 7 + TAKEN),
    ):  # fmt: skip
        assert microcontroller.cycles_of(mnemonic, operands, taken) == cycles, mnemonic
    loop = {0: ("movs", "r0, #3", 2), 2: ("subs", "r0, #1", 2), 4: ("bne.n", "2", 2)}
    assert microcontroller.counted([0, 2, 4, 2, 4, 2, 4], loop) == (7, 7 + 3 * TAKEN)


TAKEN = microcontroller.TAKEN


@needs_gcc
@pytest.mark.skipif(
    bool(microcontroller.missing()), reason=f"missing: {', '.join(microcontroller.missing())}"
)
def test_counts_on_a_cortex_m4(tmp_path: Path) -> None:
    """Compilers differ a little from release to release."""
    found = microcontroller.measured(tmp_path, "single")
    for name, (instructions, cycles) in found.items():
        cells = [int(cell) for cell in ROBOT[name][3:5]]
        assert [instructions, cycles] == pytest.approx(cells, rel=0.1), name


@needs_gcc
@pytest.mark.skipif(
    bool(microcontroller.missing()), reason=f"missing: {', '.join(microcontroller.missing())}"
)
def test_counts_of_a_chain(tmp_path: Path) -> None:
    """The first row of the table of closed form and recursion."""
    row = table("microcontroller_chains")[0]
    found = microcontroller.grown(tmp_path, 6)
    cells = [int(one) for one in re.findall(r"\d+", " ".join(row))[1:]]
    assert np.ravel(list(found.values())) == pytest.approx(cells, rel=0.1)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(mbdyn_ros.InputError, match="choose of double, single"):
        mbdyn_ros.load(URDF / "boom.urdf").generate_c(tmp_path, precision="half")
    robot = str(URDF / "piezo_robot.yaml")
    done = CliRunner().invoke(main, ["codegen", robot, "--closed-form", "--precision", "single"])
    assert done.exit_code == 2 and "--precision goes with C code" in done.output
    call = ["codegen", str(URDF / "boom.urdf"), "--precision", "single", "-o", str(tmp_path / "b")]
    assert CliRunner().invoke(main, call).exit_code == 0
    assert "float: single precision" in (tmp_path / "b" / "boom.h").read_text()


@needs_gcc
def test_a_long_function_is_cut_without_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit; short functions stay as they are."""
    monkeypatch.setattr(microcontroller, "LONGEST", 300)
    monkeypatch.setattr(microcontroller, "PIECE", 70)
    form = CProgram(microcontroller.closed_efforts, None, "By the closed form.", {})
    chain(6).generate_c(tmp_path, [], more=[form], precision="single")
    text = (tmp_path / "chain_6.c").read_text()
    pieces = microcontroller.cut(text)
    names = re.findall(r"noinline\)\) void (\w+)\(", pieces)
    assert [one for one in names if "closed" in one] == [
        f"chain_6_closed_efforts_{k}" for k in range(sum("closed" in one for one in names))
    ]
    assert len(names) > 8 and "chain_6_inverse_dynamics_0" not in names
    results, state = [], np.random.default_rng(0).normal(size=(3, 6)).astype(np.float32)
    for name, source in (("whole", text), ("pieces", pieces)):
        (tmp_path / f"{name}.c").write_text(source)
        library = tmp_path / f"{name}.so"
        command(GCC, "-O1", "-fPIC", "-shared", tmp_path / f"{name}.c", "-o", library, "-lm")
        effort = np.zeros(6, np.float32)
        given = [one.ctypes.data_as(ctypes.c_void_p) for one in (*state, effort)]
        assert ctypes.CDLL(str(library)).chain_6_closed_efforts(*given) == 0
        results.append(effort)
    assert results[0].tolist() == results[1].tolist() and np.abs(results[0]).max() > 0.01
