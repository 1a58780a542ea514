"""mbdyn ops: the operations in a robot's equations, next to published counts."""

from __future__ import annotations

import click

from .options import RobotOptions, robot_argument, robot_options
from .printing import print_json, print_table


@click.command()
@robot_argument
@robot_options
def ops(source: str, options: RobotOptions, as_json: bool) -> None:
    """Count the operations of every program and formulation, next to published counts.

    Each is traced on this robot, with its numbers folded in. A doubling counts as an addition, a
    change of sign as nothing, the sine and the cosine of an angle as two functions. The
    literature's formulas count the same equations for any numbers.

    \b
    Examples:
      mbdyn ops ur5
      mbdyn ops piezo_robot --json | jq .counts.inverse_dynamics
    """
    from ..export.operation_count import literature_tables
    from ..program.program import COUNTED_KINDS

    robot = options.read(source)
    counts = robot.operation_counts()
    tables = {} if robot.dependent_joints else literature_tables(robot.system.tree, counts)
    if as_json:
        print_json({"robot": robot.model.name, "counts": counts, "literature": tables})
        return
    rows = [(name, *(str(one[kind]) for kind in COUNTED_KINDS)) for name, one in counts.items()]
    heads = ("", "products", "sums", *list(COUNTED_KINDS)[2:])
    print_table(f"{robot.model.name}, nv {robot.nv}", heads, rows)
    for title, lines in tables.items():
        cells = [tuple("-" if cell is None else str(cell) for cell in line) for line in lines]
        print_table(title, ("authors", "principle", "products", "sums"), cells, 2)
