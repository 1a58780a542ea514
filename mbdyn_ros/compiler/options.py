"""Tuning of the compiler: one frozen record, part of what a kernel is known by."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .block import Lane


@dataclass(frozen=True)
class Options:
    """Limits between which the passes decide; the defaults are what was fastest when measured.

    Attributes
    ----------
    lanes : float64 in a vector; 0 for as many as the compiler's have.
    longest_block : operations of the longest block that stays one C function, of numbers.
    longest_vector_block : the same of vectors, whose values fill the first cache sooner. Compilers
        take minutes over blocks ten times as long.
    piece : operations of a C function of a block that is split.
    written_out : operations up to which a staged program is faster as one block, with the robot's
        numbers folded in, than as loops over tables.
    unrolled : factors up to which an elimination is written line by line.
    fewest_preset : results known beforehand from which on they are copied from a table, where they
        are half of all.
    fewest_passes : passes that make a loop.
    least_saved : lines that a loop must save: for fewer it is not worth its way through memory.
    longest_pass : lines of the longest pass that is looked for.
    window : lines that two passes must have alike to be compared.
    periods : periods that are tried, those of most lines.
    longest_wait : passes for which a value may wait in a variable; others go through memory.
    shortest_overlap, longest_overlap : lines of the shortest and longest pass that the next may
        overlap. In a longer one enough can be done at once as it stands, and values that wait
        longer ask for more registers than there are.
    interpret : whether CasADi's interpreter runs programs although a compiler is there; so it does
        where the environment variable `MBDYN_INTERPRET` is 1.
    worth_a_thread : operations of a batch that are worth a thread of their own: 25 us.
    """

    lanes: int = 0
    longest_block: int = 5000
    longest_vector_block: int = 10000
    piece: int = 500
    written_out: int = 3000
    unrolled: int = 1000
    fewest_preset: int = 400
    fewest_passes: int = 4
    least_saved: int = 200
    longest_pass: int = 2000
    window: int = 24
    periods: int = 8
    longest_wait: int = 4
    shortest_overlap: int = 10
    longest_overlap: int = 199
    worth_a_thread: int = 500_000
    interpret: bool = False

    @property
    def interpreted(self) -> bool:
        """Whether programs are to be interpreted, by these options or by the environment."""
        return self.interpret or os.environ.get("MBDYN_INTERPRET", "") not in ("", "0")

    def longest(self, lane: Lane) -> int:
        """Operations of the longest block that is not split."""
        return self.longest_vector_block if lane is Lane.VECTOR else self.longest_block


STANDARD = Options()
"""Options that the programs of robots are compiled with."""
