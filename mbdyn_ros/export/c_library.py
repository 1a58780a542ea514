"""The C99 library of a robot: its header, its equations, and the closing of its loops.

Loops without closed form start from their last positions, which the caller keeps. The answers
either depend on q and home alone, or follow a motion (`runtime/following.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..compiler.c_loops import c_loops, close_all, newton_text
from ..compiler.printers.c99 import c99_body
from ..compiler.printers.operations import number
from ..equations.frames import Frame
from ..model.model import Array
from ..names import in_c_comment
from ..program.program import Closing, Declaration, Program, Subject

SPOKEN = {
    "inverse_dynamics": "Efforts that cause the accelerations a, friction included.",
    "forward_dynamics": "Accelerations that the efforts cause, friction included.",
    "mass_matrix": "Mass matrix.",
    "gravity_vector": "Efforts that hold the robot at rest against gravity.",
}


@dataclass(frozen=True, eq=False)
class CFunction:
    """One function of the library: its name, program, and values at some states.

    arguments : name and number of elements of each input, then of the result.
    shape : of the result, as the Python loader returns it.
    records : for each state all inputs, then the result.
    text : its result, for the header; nothing where the program is known there.
    """

    name: str
    program: Program
    arguments: tuple[tuple[str, int], ...]
    shape: tuple[int, ...]
    records: tuple[tuple[Array, ...], ...]
    text: str = ""


@dataclass(frozen=True, eq=False)
class CProgram:
    """A program beyond those of every robot, to be exported with them.

    declaration, about : the program. text : its result, for the header.
    examples : values of its own inputs at which its test is recorded, by name, each for a robot
        at a position: the state -> (n,).
    subject : a system of its own, with symbols for numbers of the robot; None for the robot's.
    name : of the function, after the library's prefix; empty: that of the program.
    """

    declaration: Declaration
    about: object
    text: str
    examples: Mapping[str, Callable[[Mapping[str, Array]], Array]]
    subject: Subject | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class CLibrary:
    """All that the files say.

    prefix : of every name. robot : name of the robot.
    gravity : (3,), m/s^2. nq, nv : numbers of positions and velocities.
    positions : name and unit of each. velocities : name, unit, and unit of the acceleration.
    efforts, parameters : name and unit of each. functions : in the order of the header.
    omitted : quantities without a function, and the reasons.
    precision : "double", or "single" for C of float.
    closing : how loops without closed form are closed; None where there are none. closed_at : the
        parameters with which they are closed at home.
    follows : whether they follow from where they were last, on that branch; else answers depend
        on q and home alone.
    """

    prefix: str
    robot: str
    gravity: tuple[float, ...]
    nq: int
    nv: int
    positions: tuple[tuple[str, str], ...]
    velocities: tuple[tuple[str, str, str], ...]
    efforts: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    functions: tuple[CFunction, ...]
    omitted: tuple[str, ...]
    closing: Closing | None
    closed_at: tuple[float, ...] = ()
    precision: str = "double"
    follows: bool = False

    @property
    def remembered(self) -> int:
        """How many numbers remember where loops were closed last, and with which parameters."""
        closing = self.closing
        if closing is None:
            return 0
        home = closing.kept + closing.nz if closing.kept else 0
        return max(1, closing.ny) + closing.nz + home  # C has no empty arrays

    def function(self, program: str) -> CFunction | None:
        """The function of a program; None where it has no answer for this robot."""
        named = (one for one in self.functions if one.program.name == program)
        return next(named, None)

    def around(self, name: str) -> dict[str, str]:
        """Arguments that a function takes before and after those of its own."""
        function = next(one for one in self.functions if one.name == name)
        given = any(argument == "parameters" for argument, _ in function.arguments)
        loops = "memory, " if self.closing is not None else ""
        return {"loops": loops, "parameters": "parameters, " if given else ""}


def header(described: CLibrary) -> str:
    """The header: units, order of the joints, prototypes."""
    upper = described.prefix.upper()
    gravity = " ".join(f"{x:g}" for x in described.gravity) + " m/s^2 in the world"
    if any(name == "gravity/x" for name, _ in described.parameters):
        gravity = "among the parameters"
    lines = [
        "/*",
        f" * Dynamics of the robot {in_c_comment(described.robot)}.",
        " *",
        f" * SI units; gravity {gravity}. Matrices are stored row by row.",
        " *",
        *_table("q", [(one, unit or "of a unit quaternion") for one, unit in described.positions]),
        *_table("v, a", [(name, f"{v}, {a}") for name, v, a in described.velocities]),
        *_table("effort", list(described.efforts)),
        *(_table("parameters", list(described.parameters)) if described.parameters else []),
        " *",
        " * Every function fills its last argument and returns 0. It returns 1 where a result is",
        " * not finite: an input is not, a loop cannot be closed there, or a number is too large.",
        " * Functions keep nothing to themselves, allocate nothing, and may run in several threads",
        " * and interrupts at once. Arrays must not overlap.",
        *([FOLLOWS] if described.follows and described.closing is not None else []),
        *([SINGLE] if described.precision == "single" else []),
        *(f" *\n * There is no {in_c_comment(text)}." for text in described.omitted),
        " */",
        f"#ifndef {upper}_H",
        f"#define {upper}_H",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"#define {upper}_NQ {described.nq}",
        f"#define {upper}_NV {described.nv}",
        f"#define {upper}_EFFORTS {len(described.efforts)}",
        "",
    ]
    if described.closing is not None:
        lines.append(declared_loops(described, described.closing))
    for function in described.functions:
        text = _spoken(described, function)
        lines += [f"/* {text} */", f"{_prototype(described, function)};", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


FOLLOWS = " *\n * Where a loop that is searched cannot be closed they return 2."
"""A line of the header of C whose loops follow their motion."""

SINGLE = " *\n * Numbers are float: single precision."
"""A line of the header of C of float."""


def library(described: CLibrary) -> str:
    """The equations."""
    parts = [
        f'#include "{described.prefix}.h"\n\n#include <float.h>\n#include <math.h>\n#include '
        "<stddef.h>\n",
        FINITE,
    ]
    if described.closing is not None:
        parts.append(walk(described, described.closing))
    for function in described.functions:
        output, size = function.arguments[-1]
        inputs = list(function.program.symbols)
        body = c99_body(function.program.function, inputs, [output])
        start = ""
        if described.closing is not None:
            start = opening(described.closing, output, size, described.follows)
        end = f"  return not_finite({output}, {size});\n"
        parts.append(f"{_prototype(described, function)} {{\n{start}{body}{end}}}\n")
    return "\n".join(parts)


FINITE = """/* 1 where any of n numbers is NaN or infinite, else 0. */
static int not_finite(const double *x, size_t n) {
  size_t i;
  for (i = 0; i < n; ++i) {
    if (!(fabs(x[i]) <= DBL_MAX)) return 1;
  }
  return 0;
}
"""


def _prototype(described: CLibrary, function: CFunction) -> str:
    *inputs, (output, size) = function.arguments
    listed = [f"{described.prefix}_loops *loops"] if described.closing is not None else []
    listed += [f"const double {name}[{length}]" for name, length in inputs]
    return f"int {function.name}({', '.join([*listed, f'double {output}[{size}]'])})"


def _spoken(described: CLibrary, function: CFunction) -> str:
    program, counts = function.program, function.program.operations
    text = in_c_comment(function.text) or SPOKEN.get(program.name, "")
    if isinstance(program.about, Frame):
        text = (
            f"Jacobian (6 x {described.nv}) of the origin of link "
            f"{in_c_comment(program.about.link)}:\n"
            "   linear, then angular velocity in world axes, times v."
        )
    listed = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return f"{text}\n   {listed or 'no operations'}."


def _table(array: str, rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(in_c_comment(name)) for name, _ in rows), default=0)
    lines = [
        f" *   [{k}] {in_c_comment(name):{width}}  {unit}" for k, (name, unit) in enumerate(rows)
    ]
    return [f" * {array}:", *(line.rstrip() for line in lines)]


def declared_loops(described: CLibrary, closing: Closing) -> str:
    """C of the memory of loops, for the header."""
    most_y, most_z = (max(1, *counts) for counts in zip(*closing.counts, strict=True))
    follows = described.follows
    home = f"\n  double parameters[{closing.kept}], home[{closing.nz}];" if closing.kept else ""
    return (FOLLOWED if follows else LAST).format(
        prefix=described.prefix,
        home=home,
        ny=max(1, closing.ny) if not follows else most_y,
        nz=closing.nz if not follows else most_z,
        square=most_z * most_z,
        by_y=most_z * most_y,
        count=len(closing.counts),
    )


def walk(described: CLibrary, closing: Closing) -> str:
    """The C that fills z, the dependent positions of all loops, at q; the caller has its memory."""
    ny, home, kept, prefix = closing.ny, closing.home, closing.kept, described.prefix
    follows, count = described.follows, len(closing.counts)
    followed = f"#define followed {prefix}_followed\n\n" if follows else ""
    text = c_loops(closing, followed + newton_text(follows, kept))
    start, closed = (FOLLOWED_FROM_HOME, TRACKED) if follows else (WALKED_FROM_HOME, WALKED)
    taken = ""
    if kept:
        start += HOME_AS_DESCRIBED
        again = LAST_FROM_THERE if follows else LAST_AT_HOME
        taken = (HOME_PARAMETERS + TAKE_PARAMETERS).format(
            prefix=prefix, count=count, nz=closing.nz,
            again=again.format(count=count, nz=closing.nz, room=max(1, ny)),
            home_p=", ".join(map(number, described.closed_at)),
        )  # fmt: skip
        closed = f"take_parameters(loops, p) && {closed}"
    closed = closed.format(count=count, home="loops->home" if kept else "home_z")
    numbers = HOME.format(
        home_y=", ".join(map(number, home[:ny])) or "0.0", home_z=", ".join(map(number, home[ny:]))
    )
    return (
        text
        + numbers
        + taken
        + AT_HOME.format(prefix=prefix, start=start.format(count=count))
        + close_all(closing, CLOSE.format(prefix=prefix), f"  return {closed};\n")
    )


def opening(closing: Closing, output: str, size: int, follows: bool) -> str:
    """The C with which a function begins: z, or no answer where a loop stays open."""
    code = "2" if follows else "1"
    p = "parameters" if closing.kept else "0"
    return OPEN.format(nz=closing.nz, output=output, size=size, code=code, p=p)


LAST = """/* Where the loops were closed last: the way to the next positions starts there.
   Each thread needs one of its own, set by {prefix}_home before anything else. */
typedef struct {{
  double y[{ny}], z[{nz}];{home}
}} {prefix}_loops;

void {prefix}_home({prefix}_loops *loops);
"""

FOLLOWED = """/* Where a loop was closed last, and the factors that lead on from there. */
struct {prefix}_followed {{
  double y[{ny}], z[{nz}], factors[{square}], by_y[{by_y}], logarithm;
  int pivot[{nz}], sign;
}};

/* Where all loops were closed last: they follow a motion from there, on that branch.
   Each thread needs one of its own, set by {prefix}_home before anything else. With `farthest`
   above 0 (it is 0 at home), positions that are farther (rad or m) from the last stay open, and
   the time of a call is bounded. */
typedef struct {{
  double farthest;
  struct {prefix}_followed last[{count}];{home}
}} {prefix}_loops;

void {prefix}_home({prefix}_loops *loops);
"""

HOME = """
static const double home_y[] = {{{home_y}}};
static const double home_z[] = {{{home_z}}};
"""

AT_HOME = """
void {prefix}_home({prefix}_loops *loops) {{
{start}}}
"""

CLOSE = """\
/* Dependent positions of all loops at q and parameters p; 0 where they stay open. */
static int close_all({prefix}_loops *loops, const double *q, const double *p, double *z)"""

WALKED_FROM_HOME = """  size_t i;
  for (i = 0; i < sizeof loops->y / sizeof loops->y[0]; ++i) loops->y[i] = home_y[i];
  for (i = 0; i < sizeof loops->z / sizeof loops->z[0]; ++i) loops->z[i] = home_z[i];
"""

FOLLOWED_FROM_HOME = """  loops->farthest = 0.0;
  start_at_home(loop_table, {count}, home_y, home_z, loops->last);
"""

HOME_AS_DESCRIBED = """  copy(home_p, loops->parameters, PARAMETERS);
  copy(home_z, loops->home, (int)(sizeof home_z / sizeof home_z[0]));
"""

HOME_PARAMETERS = """static const double home_p[] = {{{home_p}}};
"""

TAKE_PARAMETERS = """
/* Keep loops closed with parameters p, at home and where they were last; 0 where home cannot be. */
static int take_parameters({prefix}_loops *loops, const double *p) {{
  double home[{nz}], *z = home;
  const double *y = home_y;
  int k;
  if (equal(p, loops->parameters, PARAMETERS)) return 1;
  copy(home_z, home, {nz});
  for (k = 0; k < {count}; ++k) {{
    if (!reshape(&loop_table[k], y, home_p, p, z)) return 0;
    y += loop_table[k].ny, z += loop_table[k].nz;
  }}
{again}  copy(home, loops->home, {nz});
  copy(p, loops->parameters, PARAMETERS);
  return 1;
}}
"""

LAST_AT_HOME = """  copy(home_y, loops->y, {room});
  copy(home, loops->z, {nz});
"""

LAST_FROM_THERE = """  for (k = 0, y = home_y, z = home; k < {count}; ++k) {{
    struct followed *last = &loops->last[k];
    last->sign = 0;
    if (!reshape(&loop_table[k], last->y, loops->parameters, p, last->z)) {{
      copy(y, last->y, loop_table[k].ny);
      copy(z, last->z, loop_table[k].nz);
    }}
    y += loop_table[k].ny, z += loop_table[k].nz;
  }}
"""

WALKED = "close_loops(loop_table, {count}, y, home_y, {home}, p, loops->y, loops->z, z)"

TRACKED = "follow_loops(loop_table, {count}, y, home_y, {home}, p, loops->last, loops->farthest, z)"

OPEN = """  double z[{nz}];
  if (!close_all(loops, q, {p}, z)) {{
    int i;
    for (i = 0; i < {size}; ++i) {output}[i] = (double)NAN;
    return {code};
  }}
"""
