"""The compiler's language: what is wrong is said in words, and people can read what is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from mbdyn_ros import InputError
from mbdyn_ros.compiler import passes
from mbdyn_ros.compiler.block import Column, Lane, Operation, StraightBlock, Table
from mbdyn_ros.compiler.from_casadi import function_code
from mbdyn_ros.compiler.ir import Code, Constant, InvalidCode, Map, Put, verify
from mbdyn_ros.compiler.options import STANDARD, Options
from mbdyn_ros.compiler.passes.angles import angles
from mbdyn_ros.compiler.passes.depth_first import depth_first
from mbdyn_ros.compiler.passes.direct import direct
from mbdyn_ros.compiler.passes.fuse import fuse
from mbdyn_ros.compiler.passes.place import place
from mbdyn_ros.compiler.passes.reciprocals import reciprocals
from mbdyn_ros.compiler.passes.split import split
from mbdyn_ros.compiler.pipeline import PASSES, function_text, listing

Q, RESULT = Table.dense("q", 2, 1), Table.dense("result", 1, 1)
SMALL = Options(lanes=4, longest_block=1, piece=2)


def code(*steps: object, result: Table = RESULT) -> Code:
    return Code((Q,), steps, result, Lane.SINGLE)  # type: ignore[arg-type]


def block(
    *lines: Operation, reads: tuple[Table, ...] = (Q,), writes: Table = RESULT
) -> StraightBlock:
    return StraightBlock.of(lines, reads, (writes,), Lane.SINGLE)


def pendulum() -> Code:
    """(sin q0 + cos q0) / q1 and q0 / q1."""
    q = ca.SX.sym("q", 2)
    results = ca.vertcat((ca.sin(q[0]) + ca.cos(q[0])) / q[1], q[0] / q[1])
    return function_code(ca.Function("pendulum", [q], [results], ["q"], ["result"]), Lane.SINGLE)


def wrong() -> dict[str, Code]:
    """Code that cannot be right, by what is said of it."""
    copied = block(Operation(ca.OP_INPUT, (), (0, 0)), Operation(ca.OP_OUTPUT, (0,)))
    table = Table.dense("t0", 1, 1, plain=False)
    late = replace(copied, reads=(table,))
    split_up = split(angles(pendulum(), SMALL), SMALL)
    (cut,) = split_up.blocks
    unmade = replace(cut, pieces=cut.pieces[::-1])
    placed = place(split_up, SMALL)
    (full,) = placed.blocks
    assert full.memory is not None
    lost = replace(full, memory=replace(full.memory, places={}))
    two = Table.dense("t1", 1, 2, plain=False)
    mapped = StraightBlock.of(copied.lines, (Column(two),), (Column(table),), Lane.VECTOR)
    return {
        "value 0 reads value 1 before it is made": code(
            block(Operation(ca.OP_OUTPUT, (1,)), Operation(ca.OP_NEG, (0,)))
        ),
        r"output \(0, 0\) is never written": code(replace(copied, order=(0,))),
        "t0 is read before it is filled": code(late),
        "result is filled twice": code(copied, copied),
        "no step fills the result": code(),
        "t0 has not as many numbers as places": code(Constant(table, (1.0, 2.0)), copied),
        "a map over 1 columns has t1 of 2": code(Constant(two, (1.0, 2.0)), Map(1, (mapped,))),
        "which no piece before makes": replace(split_up, steps=(unmade,)),
        "which has no place in memory": replace(placed, steps=(lost,)),
        "a block of 1 arrays reads array 3": code(
            block(Operation(ca.OP_INPUT, (), (3, 0)), Operation(ca.OP_OUTPUT, (0,)))
        ),
    }


@pytest.mark.parametrize("words", wrong())
def test_code_that_cannot_be_right_is_refused(words: str) -> None:
    with pytest.raises(InvalidCode, match=f"after pass roll: .*{words}"):
        verify(wrong()[words], "roll")


def test_all_passes_are_in_the_list() -> None:
    """A pass a file, of its name."""
    files = {file.stem for file in Path(passes.__file__).parent.glob("*.py")} - {"__init__"}
    assert sorted(one.__name__ for one in PASSES) == sorted(files)
    assert all(one.__module__.endswith(f"passes.{one.__name__}") for one in PASSES)


def test_one_division_for_all_by_the_same_number() -> None:
    def divisions(one: Code) -> list[int]:
        found = [line.code for part in one.blocks for line in part.lines]
        return [code for code in found if code in (ca.OP_DIV, ca.OP_INV)]

    assert divisions(pendulum()) == [ca.OP_DIV, ca.OP_DIV]
    assert divisions(reciprocals(pendulum(), STANDARD)) == [ca.OP_INV]


@pytest.mark.parametrize("lane", [Lane.SINGLE, Lane.VECTOR])
@pytest.mark.parametrize("longest", [5000, 20])
def test_most_of_a_result_is_copied_from_a_table(lane: Lane, longest: int) -> None:
    """Where half of a result is known, if that is a hundred numbers; else they are written one by
    one."""
    q = ca.SX.sym("q", 60)
    known = ca.SX(np.linspace(-1.0, 1.0, 140))
    function = ca.Function("f", [q], [ca.vertcat(known, 2 * q)], ["q"], ["result"])
    options = Options(4, longest_block=longest, longest_vector_block=longest, fewest_preset=100)
    text = function_text(function, "mostly", lane, options)
    assert "mostly_preset0[200]" in text
    assert text.count("res[0][") == 60 + (lane is Lane.VECTOR)
    few = ca.Function("f", [q], [ca.vertcat(known[:50], 2 * q)], ["q"], ["result"])
    assert "preset" not in function_text(few, "hardly", lane, options)


def test_sines_and_cosines_of_inputs_are_taken_at_the_start() -> None:
    (found,) = angles(pendulum(), STANDARD).blocks
    (angle,) = found.early
    assert found.lines[angle].code == ca.OP_INPUT and len(found.turns[angle]) == 2
    assert not set(found.turns[angle]) & set(found.order)


def test_what_needs_most_values_is_made_first() -> None:
    """-q0 waits for the product of two sums, not the sums for it."""
    lines = (
        Operation(ca.OP_INPUT, (), (0, 0)),
        Operation(ca.OP_NEG, (0,)),
        Operation(ca.OP_INPUT, (), (0, 1)),
        Operation(ca.OP_TWICE, (2,)),
        Operation(ca.OP_MUL, (3, 2)),
        Operation(ca.OP_ADD, (1, 4)),
        Operation(ca.OP_OUTPUT, (5,)),
    )
    ordered = depth_first(code(block(*lines)), STANDARD)
    verify(ordered, "depth_first")
    (found,) = ordered.blocks
    made = [found.lines[k].code for k in found.order]
    assert made.index(ca.OP_NEG) > made.index(ca.OP_MUL)


def test_maps_over_equally_many_columns_become_one() -> None:
    """Also across constants; not where something else lies between."""
    tables = [Table.dense(f"t{k}", 1, 3, plain=False) for k in range(5)]
    lines = (Operation(ca.OP_INPUT, (), (0, 0)), Operation(ca.OP_OUTPUT, (0,)))

    def copy(k: int) -> Map:
        column, target = Column(tables[k]), Column(tables[k + 1])
        return Map(3, (StraightBlock.of(lines, (column,), (target,), Lane.VECTOR),))

    first = Constant(tables[0], (1.0, 2.0, 3.0))
    other = Constant(Table.dense("t9", 1, 1, plain=False), (1.0,))
    put = Put(tables[2], replace(RESULT, widths=(3,), filled=np.ones((1, 3), dtype=bool)))
    fused = fuse(code(first, copy(0), other, copy(1), put, result=put.result), STANDARD)
    assert [type(step) for step in fused.steps] == [Constant, Constant, Map, Put]
    verify(fused, "fuse")
    apart = code(first, copy(0), put, copy(2), result=put.result)
    assert len(fuse(apart, STANDARD).steps) == 4
    assert direct(fused, STANDARD) is fused  # no product makes the result


def test_code_is_written_for_people() -> None:
    text = listing(angles(reciprocals(pendulum(), STANDARD), STANDARD))
    assert text.startswith("code of single numbers: q (2, 1) -> result (2, 1)\nblock q -> result\n")
    assert "early sine and cosine of a" in text and "= 1. / a" in text
    placed = listing(place(split(angles(pendulum(), SMALL), SMALL), SMALL))
    assert "piece 1 reads" in placed and " = w[" in placed


def test_what_the_environment_asks_for_is_printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    q = ca.SX.sym("q")
    function = ca.Function("f", [q], [2 * q], ["q"], ["result"])
    monkeypatch.setenv("MBDYN_DUMP", "roll, c")
    text = function_text(function, "doubled", Lane.SINGLE, Options(lanes=4))
    printed = capfd.readouterr().err
    assert printed.count("----") == 2 and "---- doubled after roll\ncode of single" in printed
    assert printed.endswith(f"---- doubled in C\n{text}\n")
    monkeypatch.setenv("MBDYN_DUMP", "rol")
    with pytest.raises(InputError, match="MBDYN_DUMP names rol; there are all, casadi, fuse"):
        function_text(function, "doubled", Lane.SINGLE, Options(lanes=4))
