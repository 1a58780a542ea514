"""Cases of the fuzzer: a target and a seed make an input, and an outcome."""

from __future__ import annotations

import random
import tempfile
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import MECHANISMS

from .controller import controller
from .lives import node_lives
from .mutation import mutated_word, mutated_xml, mutated_yaml, torn, wrong_array
from .robots import ROOT, robot, text_of
from .stepping import stepping

FINDINGS = Path(__file__).resolve().parent.parent / "fuzz_findings"

SIDE_CAR = """
loops:
  - {name: pin, type: revolute, axis: [0, -1, 0],
     predecessor: {link: coupler, xyz: [0.3, 0, 0]},
     successor: {link: rocker, xyz: [0.25, -0.015, 0]}}
independent: [crank_joint]
actuated: [crank_joint]
home: {crank_joint: 0.1}
"""


def exercise(made: mbdyn_ros.Robot, dice: random.Random) -> None:
    """Ask a robot that was accepted for answers, and look at them."""
    made.report()
    if made.nv > 12:
        return
    q = made.home_position
    v, a = (np.array([dice.gauss(0, 1) for _ in range(made.nv)]) for _ in range(2))
    effort = made.inverse_dynamics(q, v, a)
    assert np.isfinite(effort).all(), f"inverse dynamics: {effort}"
    inertia = made.mass_matrix(q)
    assert np.isfinite(inertia).all(), f"mass matrix: {inertia}"
    assert np.allclose(inertia, inertia.T, rtol=1e-9, atol=1e-9 * np.abs(inertia).max(initial=0))


def _load(text: str, dice: random.Random, **options: Any) -> None:
    made = mbdyn_ros.load(text, **options)
    exercise(made, dice)


def urdf(dice: random.Random) -> Callable[[], None]:
    """A URDF of ours, mutated."""
    names = ("boom", "four_bar", "manipulator", "parallelogram_arm", "slider_crank", "tree_robot")
    text = text_of(f"urdf/{dice.choice(names)}.urdf")
    text = torn(text, dice) if dice.random() < 0.15 else mutated_xml(text, dice)
    floating = dice.random() < 0.1
    return lambda: _load(text, dice, floating_base=floating)


def side_car(dice: random.Random) -> Callable[[], None]:
    """Loops added to a URDF."""
    text = mutated_yaml(SIDE_CAR, dice) if dice.random() < 0.9 else torn(SIDE_CAR, dice)
    plain = text_of("urdf/four_bar.urdf")
    start, end = plain.index("<loop"), plain.rindex("</loop>") + len("</loop>")
    return lambda: _load(plain[:start] + plain[end:], dice, mechanism="\n" + text)


def dh_table(dice: random.Random) -> Callable[[], None]:
    """A table of Denavit and Hartenberg."""
    text = "\n" + mutated_yaml(text_of("urdf/piezo_robot.yaml"), dice)
    return lambda: _load(text, dice)


def walls(dice: random.Random) -> Callable[[], None]:
    """Walls from YAML."""
    text = "\n" + mutated_yaml(text_of("config/tree_robot_walls.yaml"), dice)
    return lambda: str(mbdyn_ros.read_environment(text)) and None


METHODS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("q", "v", "v"),
    "forward_dynamics": ("q", "v", "e"),
    "mass_matrix": ("q",),
    "gravity_vector": ("q",),
    "energy": ("q", "v"),
    "joint_state": ("q", "v", "v"),
    "regressor": ("q", "v", "v"),
    "inverse_dynamics_derivatives": ("q", "v", "v"),
}


EXPRESSIONS = (
    "1+2", "pi/2", "[1,2][0]", "2**10", "9**9**9", "'a'*10**9", "lambda: 0", "().__class__",
    "(lambda: [c for c in ().__class__.__base__.__subclasses__()])()", "__import__('os').getpid()",
    "open('/etc/passwd').read()", "'{0.__class__}'.format(1)", "getattr(1, 'real')", "vars()",
    "max(1, 2)", "math.sin(1)", "a if True else b", "[x for x in range(3)][1]", "x.y.z", "1/0",
)  # fmt: skip


def xacro_expressions(dice: random.Random) -> Callable[[], None]:
    """Expressions of xacro in a file that does not look like one."""
    chosen = dice.choice(EXPRESSIONS)
    expression = mutated_word(chosen, dice) if dice.random() < 0.4 else chosen
    for mark, written in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;")):
        expression = expression.replace(mark, written)
    name = f"l${{{expression}}}" if dice.random() < 0.8 else expression
    text = (
        '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<xacro:property name="a" value="${{{expression}}}"/><link name="{name}"/></robot>'
    )

    def call() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(text, encoding="utf-8", errors="replace")
            mbdyn_ros.load(path).report()

    return call


FORMATS = (
    "%s%s%s", "%n", "%p %p", "{0}", "{}", "%1$s", "${HOME}", "$(id)", "\\n", "*/", "//", "a b",
)  # fmt: skip


def names_in_formats(dice: random.Random) -> Callable[[], None]:
    """Names that are formats elsewhere: read, and written in every format of ours."""
    name = "".join(dice.choice(FORMATS) for _ in range(dice.randint(1, 2)))
    attribute = dice.choice(("name", "class", "childclass", "material"))
    mjcf = (
        f'<mujoco><worldbody><body {"name" if attribute == "name" else "childclass"}="{name}">'
        f'<joint name="j"/><geom {attribute if attribute != "childclass" else "class"}="{name}" '
        'size="1"/></body></worldbody></mujoco>'
    )
    one = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    urdf = (
        f'<robot name="r"><link name="base"/><link name="{name}">{one}</inertial></link>'
        f'<joint name="j{name}" type="continuous"><parent link="base"/><child link="{name}"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    text, ending = dice.choice((mjcf, urdf)), dice.choice(("urdf", "mjcf", "sdf"))

    def call() -> None:
        made = mbdyn_ros.load(text)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"robot.{'xml' if ending == 'mjcf' else ending}"
            getattr(made, f"save_{ending}")(path)
            assert mbdyn_ros.load(path).nv == made.nv

    return call


def rows_from_threads(dice: random.Random) -> Callable[[], None]:
    """Rows of a parameter that another thread changes while batches run.

    An answer is of one set of rows; where every set has the batch's number of rows, all answer.
    """
    made = mbdyn_ros.example("boom", variable=["gravity"])
    q = np.zeros((dice.choice((1, 7, 64)), made.nv))
    once = made.gravity_vector(q[0])
    fitting = dice.random() < 0.5
    sizes = [len(q) if fitting else dice.choice((len(q), 2, 500)) for _ in range(12)]
    shares = [dice.uniform(0.1, 2.0) for _ in sizes]

    def change() -> None:
        for size, share in zip(sizes, shares, strict=True):
            made.set_gravity(np.tile([0.0, 0.0, -9.81 * share], (size, 1)))

    def ask() -> None:
        answer = made.gravity_vector(q)
        of_sets = [np.abs(answer - share * once).max() for share in (1.0, *shares)]
        assert min(of_sets) < 1e-9 * np.abs(once).max(), f"rows of no set, or of two: {answer}"

    def call() -> None:
        refused: list[mbdyn_ros.MbdynError] = []
        with ThreadPoolExecutor(1) as other:
            done = other.submit(change)
            while not done.done():
                try:
                    ask()
                except mbdyn_ros.InputError as error:
                    refused.append(error)
            done.result()
        assert not (fitting and refused), refused[0]
        ask()

    return call


def arguments(dice: random.Random) -> Callable[[], None]:
    """Methods with wrong arrays."""
    made = robot(dice.choice(("tree_robot.urdf", "boom.urdf", "four_bar.urdf")))
    sizes = {
        "q": len(made.position_labels), "v": made.nv, "e": len(made.effort_labels)
    }  # fmt: skip
    name = dice.choice(sorted(METHODS))
    given = [wrong_array(sizes[one], dice) for one in METHODS[name]]

    def call() -> None:
        answer = getattr(made, name)(*given)
        parts = answer if isinstance(answer, tuple) else (answer,)
        numbers = [one for one in parts if one is not None]  # what was not given has none
        if all(np.ndim(one) < 2 for one in given):
            assert all(np.isfinite(np.asarray(one, dtype=float)).all() for one in numbers), answer

    return call


def mechanism(dice: random.Random) -> Callable[[], None]:
    """Settings of a planar linkage."""
    made = MECHANISMS[dice.choice(sorted(MECHANISMS))]()
    names = dice.sample(sorted(made.settings), dice.randint(1, 3))
    values: dict[str, Any] = {}
    for name in names:
        word = mutated_word(repr(float(np.asarray(made.settings[name]))), dice)
        try:
            values[name] = float(word)
        except ValueError:
            values[name] = dice.choice((word, None, [1.0, 2.0], True))
    return lambda: str(made.replaced(**values).urdf()) and None


def command_line(dice: random.Random) -> Callable[[], None]:
    """Options of the verbs."""
    path = str(ROOT / "urdf" / dice.choice(("boom.urdf", "four_bar.urdf")))
    joint = robot(Path(path).name).velocity_labels[0]
    words = [
        f"{joint}=0.1", "[0.1]", "{}", f'{{"{joint}": 0.1}}', "1", "a=b", "[", "[[1],[2]]",
        f"{joint}=0.1,{joint}=0.2", "nofile.csv", "[null]", '["x"]', "0,0,0,0,0,0",
        "base=0,0,0,0,0,0",
    ]  # fmt: skip
    verb = dice.choice(("id", "fd", "inspect"))
    options = ["--position", "--velocity", "--home", "--wrench"]
    options += {"id": ["--acceleration"], "fd": ["--effort"], "inspect": []}[verb]
    given = [verb, path]
    for option in dice.sample(options, dice.randint(1, 2)):
        word = dice.choice(words)
        given += [option, mutated_word(word, dice) if dice.random() < 0.5 else word]

    def call() -> None:
        result = CliRunner().invoke(main, given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if result.exit_code:
            assert result.exit_code in (1, 2) and result.output.strip(), given
            raise mbdyn_ros.InputError(result.output)

    return call


def request(dice: random.Random) -> Callable[[], None]:
    """Joints and numbers of a service's request, and references."""
    from mbdyn_ros.ros.messages.joint_commands import JointCommands, NamedCommand
    from mbdyn_ros.ros.messages.layout import Layout

    made = robot(dice.choice(("tree_robot.urdf", "boom.urdf", "manipulator.urdf")))
    names = list(made.independent_joints)
    if dice.random() < 0.5:
        names[dice.randrange(len(names))] = dice.choice(("", "world", *made.joint_names))
    size = dice.choice((0, 1, made.nv, len(made.position_labels)))
    numbers = [dice.choice((0.1, -1.0, float("nan"), 1e308, 1e300)) for _ in range(size)]
    kind, quantity = dice.randrange(3), dice.choice(("position", "velocity", "effort"))
    cuts = {one: dice.choice((0, size)) for one in ("position", "velocity", "effort")}

    def call() -> None:
        if kind == 0:
            Layout(made, names).state(numbers, numbers[: made.nv])
        elif kind == 1:
            fields = {one: numbers[:cut] for one, cut in cuts.items()}
            JointCommands(made).set_named(NamedCommand(names, **fields), 0.0)
        else:
            JointCommands(made).set_array(numbers, 0.0, quantity=quantity)

    return call


Target = Callable[[random.Random], Callable[[], None]]

TARGETS: dict[str, Target] = {
    one.__name__: one
    for one in (
        urdf, side_car, dh_table, walls, arguments, mechanism, command_line, request, controller,
        xacro_expressions, names_in_formats, rows_from_threads, stepping,
        node_lives,
    )  # fmt: skip
}


def run_case(name: str, seed: int) -> str:
    """Run a case: "answered", "refused", or what is wrong with it."""
    case = TARGETS[name](random.Random(seed))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            case()
        except mbdyn_ros.MbdynError as error:
            return "refused" if str(error).strip() else "refused without a word"
        except Exception:
            return traceback.format_exc()
    return "answered"


def save_finding(name: str, seed: int, outcome: str) -> Path:
    """Keep a case that must be mended; the first line says which it is."""
    FINDINGS.mkdir(exist_ok=True)
    path = FINDINGS / f"{name}-{seed}.txt"
    path.write_text(f"{name} {seed}\n{outcome}\n", encoding="utf-8")
    return path
