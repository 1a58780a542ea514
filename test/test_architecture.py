"""The house: folders import downwards, files are small, and the core knows no application."""

from __future__ import annotations

import ast
import functools
import io
import re
import runpy
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

import mbdyn_ros
from mbdyn_ros.compiler.pipeline import PASSES
from mbdyn_ros.robot.core import Core

pytestmark = pytest.mark.usefixtures("without_collector")  # the trees of all files stay

PACKAGE = Path(mbdyn_ros.__file__).parent
LONGEST = 300
"""Lines of code of the longest file: one algorithm stands whole in one."""

APPLICATIONS = ("mechanisms", "piezo")
"""Folders that stand on the core, and that only the command line's entry and the package know."""

Path_ = tuple[str, ...]
"""A module as the names of its folders and its own."""


def modules() -> dict[Path_, Path]:
    """Every module of the package by its path."""
    return {
        path.relative_to(PACKAGE).with_suffix("").parts: path for path in PACKAGE.rglob("*.py")
    }


@functools.cache
def parsed(path: Path) -> ast.Module:
    """A file of the package, read once for all tests."""
    return ast.parse(path.read_text())


@functools.cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a file, however deep."""
    return tuple(ast.walk(tree))


@functools.cache
def relative_imports(tree: ast.Module) -> list[ast.ImportFrom]:
    """What a module imports by dots, wherever in it, for annotations too."""
    return [node for node in nodes(tree) if isinstance(node, ast.ImportFrom) and node.level]


def imports(module: Path_, tree: ast.Module, known: dict[Path_, Path]) -> Iterator[Path_]:
    """The modules that a module imports from the package."""
    for node in relative_imports(tree):
        base = module[: len(module) - node.level]
        source = (*base, *(node.module.split(".") if node.module else ()))
        for alias in node.names:
            whole = (*source, alias.name)
            is_module = whole in known or (*whole, "__init__") in known
            yield whole if is_module else source


def edges(known: dict[Path_, Path]) -> dict[Path_, dict[str, set[str]]]:
    """For every folder, which of its entries import which others."""
    result: dict[Path_, dict[str, set[str]]] = {}
    for module, path in known.items():
        for target in imports(module, parsed(path), known):
            depth = 0
            while depth < min(len(module), len(target)) and module[depth] == target[depth]:
                depth += 1
            inside = depth < len(module) and depth < len(target)
            if inside and module[-1] != "__init__":
                entries = result.setdefault(module[:depth], {})
                entries.setdefault(module[depth], set()).add(target[depth])
    return result


def circles(graph: dict[str, set[str]]) -> list[str]:
    """The entries from which imports lead back to them."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            for target in graph.get(waiting.pop(), ()):
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    return sorted(entry for entry in graph if entry in reached(entry))


def test_circles_are_found() -> None:
    """The judge of the test below: one circle of two, and what only leads there."""
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
    known = {("x", "a"): Path("a"), ("y", "b"): Path("b"), ("y", "__init__"): Path("y")}
    late = "def f():\n    from ..y.b import c\n"
    assert list(imports(("x", "a"), ast.parse(late), known)) == [("y", "b")]
    typed = "if TYPE_CHECKING:\n    from ..y import b\n"
    assert list(imports(("x", "a"), ast.parse(typed), known)) == [("y", "b")]


def test_folders_import_downwards() -> None:
    """At every level, the entries of a folder import each other in no circle."""
    for folder, graph in edges(modules()).items():
        assert not circles(graph), f"mbdyn_ros/{'/'.join(folder)}"


def lines_of_code(path: Path) -> int:
    """Lines of Python or C except for comments, blanks, docstrings and imports."""
    text = path.read_text()
    if path.suffix != ".py":
        text = re.sub(r"/\*.*?\*/|//[^\n]*|#include[^\n]*", "", text, flags=re.DOTALL)
        return sum(bool(line.strip()) for line in text.splitlines())
    aside = {
        line
        for node in nodes(parsed(path))
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    spaces = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in spaces | {tokenize.ENDMARKER}
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - aside)


def _is_docstring(node: ast.AST) -> TypeGuard[ast.Expr]:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def test_lines_of_code_are_counted(tmp_path: Path) -> None:
    """The judge of the test below: of each language what is executed, and nothing else."""
    python, c = tmp_path / "a.py", tmp_path / "a.c"
    python.write_text('"""One\ntwo."""\n\nimport os\n\nx = [  # a list\n    1,\n]\n# end\n')
    c.write_text("#include <a.h>\n/* One\n   two. */\nint a;  // one\n\nint b;\n")
    assert lines_of_code(python) == 3 and lines_of_code(c) == 2


def knots(known: dict[Path_, Path]) -> set[str]:
    """Files from which imports lead back to them, annotations' and those through packages too."""
    graph: dict[str, set[str]] = {}
    for module, path in known.items():
        if module[-1] == "__init__":
            continue
        targets = graph.setdefault("/".join(module), set())
        for node in relative_imports(parsed(path)):
            base = module[: len(module) - node.level]
            source = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                targets.update(_defined_in(source, alias.name, known))
    return set(circles(graph))


def _defined_in(source: Path_, name: str, known: dict[Path_, Path]) -> Iterator[str]:
    """The file from which a name comes: past the packages that only hand it on."""
    if (*source, name) in known:
        yield "/".join((*source, name))
    elif source in known:
        yield "/".join(source)
    elif (path := known.get((*source, "__init__"))) is not None:
        for node in relative_imports(parsed(path)):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    base = source[: len(source) + 1 - node.level]
                    inner = (*base, *(node.module.split(".") if node.module else ()))
                    yield from _defined_in(inner, alias.name, known)


def test_knots_are_found(tmp_path: Path) -> None:
    """The judge of the test below: a circle for annotations only, and one through a package."""
    texts = {
        ("a",): "if TYPE_CHECKING:\n    from .room import b\n",
        ("room", "__init__"): "from .b import B as b\n",
        ("room", "b"): "def f():\n    from ..a import c\n",
        ("d",): "from .a import c\n",
    }
    known = {module: tmp_path / "-".join(module) for module in texts}
    for module, text in texts.items():
        known[module].write_text(text)
    assert knots(known) == {"a", "room/b"}


def test_files_import_each_other_in_no_circle() -> None:
    """Not for annotations either."""
    assert not knots(modules())


def test_files_are_small() -> None:
    """A file has one subject."""
    files = [*modules().values(), *PACKAGE.rglob("*.c"), *PACKAGE.rglob("*.h")]
    long = [path for path in files if path.read_text().count("\n") > LONGEST]
    lengths = {path: lines_of_code(path) for path in long}
    assert not {path: length for path, length in lengths.items() if length > LONGEST}


def test_no_test_imports_a_test() -> None:
    """What several share is a library of `test/support`."""
    folder = Path(__file__).parent
    names = {path.stem for path in folder.rglob("test_*.py")}
    assert len(names) > 150
    for path in folder.rglob("*.py"):
        imported = re.findall(r"^ *(?:from|import) +(\w+)", path.read_text(), re.MULTILINE)
        assert not names & set(imported), path


def test_imports_lead_somewhere() -> None:
    """A relative import of what is not there is found when it runs; here it is found at once."""
    known = modules()
    for module, path in known.items():
        for target in imports(module, parsed(path), known):
            assert target in known or (*target, "__init__") in known, (module, target)


def test_the_core_knows_no_application() -> None:
    top = edges(modules())[()]
    clients = {entry for entry, targets in top.items() if targets & set(APPLICATIONS)}
    assert clients <= {*APPLICATIONS, "__main__"}
    assert not top["mechanisms"] & {"piezo"} and not top["piezo"] & {"mechanisms"}


def test_the_compiler_knows_no_robot() -> None:
    top = edges(modules())[()]
    common = {"array", "errors", "integration", "locks"}
    assert top["compiler"] <= {*common, "program"} and top["program"] <= common


def test_the_model_is_data() -> None:
    """It knows nothing of what is computed from it; and it is prepared on numbers alone."""
    top = edges(modules())[()]
    assert top["model"] <= {"array", "errors", "extras", "names", "number"}
    assert top["prepare"] <= {"array", "errors", "model"}
    for module, path in modules().items():
        roots = {
            alias.name.partition(".")[0]
            for node in nodes(parsed(path))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module)])
            if alias.name
        }
        assert module[0] not in ("model", "prepare") or not roots & {"casadi", "scipy"}, module


def test_only_ros_imports_rclpy() -> None:
    """Nothing outside the nodes needs ROS."""
    for module, path in modules().items():
        roots = {
            name.partition(".")[0]
            for node in nodes(parsed(path))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom) and not node.level
                else []
            )
        }
        assert "ros" in module or not roots & {"rclpy", "sensor_msgs", "std_msgs"}, module


def test_a_constant_is_defined_once() -> None:
    """A number has one name, and a name one number, in the whole package."""
    homes: dict[str, list[str]] = {}
    for module, path in modules().items():
        for node in parsed(path).body:
            if not isinstance(node, ast.Assign):
                continue
            pairs = [(target, node.value) for target in node.targets]
            for target, value in pairs:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs += zip(target.elts, value.elts, strict=True)
                elif isinstance(target, ast.Name) and target.id.isupper() and _is_number(value):
                    homes.setdefault(target.id.lstrip("_"), []).append("/".join(module))
    assert not {name: places for name, places in homes.items() if len(places) > 1}


COMPUTES = {
    "linalg": {
        "cond", "det", "eig", "eigvals", "inv", "lstsq", "norm", "pinv", "qr", "solve", "svd",
    },
    "np": {
        "arctan2", "cos", "cross", "diff", "dot", "einsum", "gradient", "hypot", "interp", "matmul",
        "outer", "polyfit", "sin", "sqrt", "trapezoid",
    },
    "math": {"atan2", "cos", "dist", "hypot", "sin", "sqrt"},
}  # fmt: skip
"""Functions of NumPy and Python with which something is computed, by the module that has them."""


def computing(tree: ast.Module) -> Iterator[str]:
    """What a module computes with: CasADi, SciPy, products of matrices, functions of `COMPUTES`."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ({alias.name.split(".")[0] for alias in node.names} & {"casadi", "scipy"})
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = str(node.module).replace("numpy", "np")
            yield from {module.split(".")[0]} & {"casadi", "scipy"}
            names = {alias.name for alias in node.names}
            yield from sorted(names & COMPUTES.get(module.split(".")[-1], set()))
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield "@"
        elif isinstance(node, ast.Attribute):
            of = node.value
            owner = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
            if node.attr in COMPUTES.get(owner, ()):
                yield f"{owner}.{node.attr}"


def test_computing_is_found() -> None:
    """The judge of the test below: functions and products, wherever they come from."""
    text = "import casadi\nfrom scipy.linalg import expm\nfrom numpy.linalg import norm\n"
    text += "x = a @ b\nx @= c\ny = np.linalg.norm(x) + np.abs(x) + math.cos(y)\n"
    found = ["casadi", "scipy", "norm", "@", "@", "linalg.norm", "math.cos"]
    assert sorted(computing(ast.parse(text))) == sorted(found)


def test_nothing_under_ros_computes() -> None:
    """Nodes hand numbers on: what is computed of them is in the rooms that they stand on."""
    # It imports SciPy before others need it.
    early: dict[Path_, set[str]] = {("ros", "node", "robot_node"): {"scipy"}}
    found = {
        module: sorted(set(computing(parsed(path))) - early.get(module, set()))
        for module, path in modules().items()
        if "ros" in module
    }
    assert not {module: words for module, words in found.items() if words}


def test_a_docstring_names_its_noun() -> None:
    """One that begins with "What" sends the reader to the name above it."""
    wordy = [
        (path, node.value.value[:40])
        for path in modules().values()
        for node in nodes(parsed(path))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if str(node.value.value).startswith("What ")
    ]
    assert not wordy


def test_the_page_on_architecture_names_what_is_there() -> None:
    """Every file and folder by its path, from the repository, a package or one of its rooms."""
    root = PACKAGE.parent
    houses = PACKAGE, root / "mbdyn_ros_controllers"
    rooms = [root, *houses, *(one for house in houses for one in house.rglob("*") if one.is_dir())]
    paths = re.findall(r"`([\w./]+(?:/|\.(?:py|md|hpp|h|c|srv)))`", page())
    names = {path.rstrip("/") for path in paths}
    assert len(names) > 40
    assert not {name for name in names if not any((room / name).exists() for room in rooms)}


def page() -> str:
    """The page on the architecture."""
    return (PACKAGE.parent / "docs" / "architecture.md").read_text()


def test_the_picture_of_the_house_is_that_of_its_imports() -> None:
    """Every folder and file of the package has a line in it, and imports none of a later one."""
    top = edges(modules())[()]
    picture = page().split("```")[1].splitlines()
    floors: dict[str, int] = {}
    for entry in top.keys() | set().union(*top.values()):
        folder = "/" if (PACKAGE / entry).is_dir() else ""
        lines = [k for k, line in enumerate(picture) if re.search(rf"\b{entry}\b{folder}", line)]
        assert lines, f"{entry} is not in the picture"
        floors[entry] = lines[0]
    later = {
        (entry, target)
        for entry, targets in top.items()
        for target in targets
        if floors[target] > floors[entry]
    }
    assert not later


def test_the_table_of_passes_is_the_pipeline() -> None:
    extension = runpy.run_path(str(PACKAGE.parent / "docs" / "_extensions" / "passes.py"))
    shown = extension["filled"](page())
    rows = re.findall(r"^\| `(\w+)` \| [A-Z].* \| `(passes/\w+\.py)` \|$", shown, re.MULTILINE)
    run = [(one.__name__, f"passes/{one.__module__.rpartition('.')[2]}.py") for one in PASSES]
    assert rows == run


def test_all_that_robots_do_is_built_on_the_core() -> None:
    """A method of `Robot` is one of a class in `robot/` whose subject it is."""
    for one in mbdyn_ros.Robot.__mro__[1:-1]:
        assert issubclass(one, Core) or one in Core.__mro__, one
        assert one.__module__.startswith("mbdyn_ros.") and one.__doc__, one
    own = {name for name in vars(mbdyn_ros.Robot) if not name.startswith("__")}
    assert not own


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is a number or several: written out, named, or made of such."""
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) and _is_number(value.right)
    if isinstance(value, ast.Tuple):
        return all(_is_number(one) for one in value.elts)
    if isinstance(value, ast.Attribute):
        return ast.unparse(value) in ("math.pi", "math.tau", "np.pi", "math.inf", "np.inf")
    if isinstance(value, ast.Name):
        return value.id.isupper()
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(inner, ast.Constant) and isinstance(inner.value, (int, float))
