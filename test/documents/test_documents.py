"""Every block of the documents runs as it is written: Python, and what `mbdyn` is asked.

The blocks of a page run one after the other in one namespace, in a folder with what a reader has:
`urdf/`, and the small files that pages speak of.
"""

from __future__ import annotations

import importlib
import re
import shlex
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from interpreting import COMPILED, interpreting_by_day
from night import at_night, is_night

import mbdyn_ros
from mbdyn_ros import control, mechanisms, piezo
from mbdyn_ros.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKING = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LASTING = ("view", "bench", "--page", "--gif", "--sweep", "--compare", "MBDYN_DUMP")
"""What serves until Ctrl-C, or takes its time and has its own test."""

NIGHTLY = r"--fit|--pareto|piezo .*(--position '|--holding)"
"""Lines of seconds that others repeat in part: `make test-all` runs them too."""

LONG_PAGES = [
    ROOT / f"docs/{name}.md"
    for name in (
        "actuators", "cheat_sheet", "contact", "exercises", "first_hour", "how_to",
        "identification", "impacts", "mechanisms", "piezo", "time_optimal", "tutorial_identify",
        "tutorial_machine", "tutorial_push",
    )
]  # fmt: skip
"""Pages that take long, or whose lines other tests run too; they run with all tests."""

SHORTER = "--duration 0.5"
"""Of a robot's motion that the page shows for seconds, and by day is computed for less."""

SECONDS = ["--duration", "0.02"]
"""Of a piezo robot's motion: `make test-all` takes the minutes that those of the pages take."""

FLOOR = "surfaces:\n  - {name: floor, type: plane, restitution: 0.4, friction: 0.7}\n"


def named(pages: list[Path]) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages name."""
    for folder in ("urdf", "config"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "floor.yaml").write_text(FLOOR)
    (tmp_path / "walls.yaml").write_text(FLOOR)
    turns = np.linspace(0, 2 * np.pi, 25)
    path = np.column_stack([0.1 + 0.05 * np.cos(turns), 0.1 + 0.03 * np.sin(turns)])
    np.savetxt(tmp_path / "path.csv", path, delimiter=",", header="x,y", comments="")
    (tmp_path / "poses.csv").write_text("x,y,angle\n0,0,0\n0.1,0.05,0.3\n0.2,0.02,0.5\n")
    pairs = "crank,rocker\n0.5236,1.0472\n1.0472,1.2566\n1.5708,1.4835\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    (tmp_path / "law.csv").write_text("time,effort/crank\n0,0.2\n6,0.2\n")
    joints = ",".join(f"position/{one}_joint" for one in ("slew", "boom", "jib", "telescope"))
    (tmp_path / "plan.csv").write_text(f"time,{joints}\n0,0,0,0,0\n1,0.1,0.05,-0.05,0.05\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(text: str) -> list[str]:
    """The lines of `mbdyn` in a block, as a shell reads them."""
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    lines = [line for line in lines if re.match(r"(\$ )?mbdyn [a-z]", line)]
    return [line for line in lines if not any(word in line for word in LASTING)]


def obey(line: str) -> None:
    """Do what a line asks of `mbdyn`."""
    command = re.sub(r"^\$ ", "", line).partition(" | ")[0]
    if not is_night() and " excite " not in command:  # whose motion must excite something
        command = re.sub(r"--duration [1-9]\S*", SHORTER, command)
        command = re.sub(r"(simulate quadruped .*--duration) \S+", r"\1 0.02", command)
    words = shlex.split(command, comments=True)[1:]
    moves = words[0] == "piezo" and not {"--codegen", "--equations"} & set(words)
    if moves and not is_night():
        if "--duration" in words:  # given once only
            place = words.index("--duration")
            del words[place : place + 2]
        words += SECONDS
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, f"{line}\n{result.output}{result.exception!r}"


with_blocks = [
    page for page in PAGES
    if any(kind == "python" or asked(text) for kind, text in BLOCK.findall(page.read_text()))
]  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [page for page in with_blocks if page not in LONG_PAGES] + at_night(*LONG_PAGES),
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_blocks(page: Path, desk: Path) -> None:
    """As a reader's: compiled, which by day is left to the README and to pages that step."""
    steps = page.name == "README.md" or COMPILED.search(page.read_text())
    with nullcontext() if steps else interpreting_by_day():
        run_blocks(page, desk)


def run_blocks(page: Path, desk: Path) -> None:
    space: dict[str, object] = {"__name__": "page"}
    for text in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        if name := re.match(r"name: (\w+)$", text, re.MULTILINE):
            (desk / f"{name[1]}.yaml").write_text(text)
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(text, str(page), "exec"), space)
        else:
            for line in asked(text):
                if is_night() or not re.search(NIGHTLY, line):
                    obey(line)


def test_every_page_is_in_the_book() -> None:
    contents = "".join((ROOT / "docs" / name).read_text() for name in ("index.md", "api.md"))
    for page in PAGES[1:]:
        name = str(page.relative_to(ROOT / "docs")).removesuffix(".md")
        assert name == "index" or re.search(rf"^{name}$|<{name}>", contents, re.MULTILINE), name


@pytest.fixture
def api_page(monkeypatch: pytest.MonkeyPatch) -> str:
    """The API reference with the names that its lists find in the code."""
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    page: str = importlib.import_module("names").filled((ROOT / "docs/api.md").read_text())
    return page


def test_every_public_name_is_in_the_api_reference(api_page: str) -> None:
    listed = set(re.findall(r"^   ~mbdyn_ros\.([\w.]+)$", api_page, re.M))
    packages = {"": mbdyn_ros, "control.": control, "mechanisms.": mechanisms, "piezo.": piezo}
    for prefix, package in packages.items():
        for name in package.__all__:
            held = getattr(package, name)
            if callable(held) and not name.endswith(("Error", "Warning")):
                at_the_top = getattr(mbdyn_ros, name, None) is held
                assert ("" if at_the_top else prefix) + name in listed, prefix + name
    for name in dir(mbdyn_ros.Robot):
        assert name.startswith("_") or f"Robot.{name}" in listed, name


def test_every_listed_name_is_described_in_full(api_page: str) -> None:
    """With its class, or by itself."""
    shown = re.findall(r"^.. auto(?:class|function):: (\S+)$", api_page, re.M)
    listed = re.findall(r"^   ~(\S+)$", api_page, re.M)
    members = [name for name in listed if name.rpartition(".")[0] in shown]
    assert sorted(shown + members) == sorted(listed) and "mbdyn_ros.Robot" in shown


def test_every_verb_is_on_the_page_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    page = importlib.import_module("verbs").filled((ROOT / "docs/command_line.md").read_text())
    assert sorted(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == sorted(main.commands)
    assert all(f"Usage: mbdyn {verb} " in page for verb in main.commands)


def test_a_pasted_message_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the page of messages, by its words between names and numbers."""
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    pytest.importorskip("sphinx")
    messages = importlib.import_module("messages")
    page = messages.messages()
    text = messages.filled((ROOT / "docs/messages.md").read_text())
    listed = [one for found in page.values() for one in found]
    assert "{messages}" not in text and all(one.text in text for one in listed)
    assert re.findall("^## (.*)$", text, re.MULTILINE) == list(messages.SECTIONS)
    assert not [one for one in listed if not one.cure], "write the cure as the message's last words"
    robot = mbdyn_ros.example("four_bar")
    for wrong in (lambda: robot.inverse_dynamics([0, 0], [0], [0]), lambda: robot.locked(["knee"]),
                  lambda: mbdyn_ros.load("no_such.urdf"), lambda: mbdyn_ros.Surface("z"),
                  lambda: mbdyn_ros.load("<robot name='r'/>"),
                  ):  # fmt: skip
        with pytest.raises(mbdyn_ros.MbdynError) as raised:
            wrong()
        words = str(raised.value)
        matching = [one for one in listed if _says(one.text, words)]
        assert matching, words


@pytest.mark.parametrize(
    ("text", "kind", "cure"),
    [
        ("home holds …; give finite numbers, or leave it out", "InputError",
         "Give finite numbers, or leave it out."),
        ("…: there is no link …; the links are …", "InputError",
         "Use one of the names that the message lists."),
        ("there is no …", "ExpressionError", "Correct that line of the xacro file, or expand it "
         "with xacro itself."),
        ("…: the wheel squeaks", "InputError", ""),
    ],
)  # fmt: skip
def test_a_message_has_a_cure(
    text: str, kind: str, cure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    assert importlib.import_module("cures").cure(text, kind) == cure


def _says(template: str, words: str) -> bool:
    return re.search(".*?".join(map(re.escape, template.split("…"))), words, re.DOTALL) is not None


def test_figures_of_the_readme_are_those_of_the_book() -> None:
    readme = (ROOT / "README.md").read_text()
    table = (ROOT / "docs/contact_cases.csv").read_text()
    rolls = re.search(r"^ball rolls in a bowl of heights,.*? m,(.*?),(.*?),", table, re.MULTILINE)
    said = re.search(r"bowl is within (\S+) of theory, and within (\S+) in these steps", readme)
    assert rolls and said and [*map(float, said.groups())] == [*map(float, rolls.groups())]
    saved = re.search(r"takes (\d+ %) less time", (ROOT / "docs/time_optimal.md").read_text())
    assert saved and f"takes {saved[1]} less time" in readme


def test_the_readme_is_short() -> None:
    """At most 7 kB, and 25 words a sentence."""
    text = (ROOT / "README.md").read_text()
    assert len(text.encode()) <= 7000
    prose = re.sub(r"^(```.*?^```|\|.*?|!\[.*?|#.*?)$", "", text, flags=re.MULTILINE | re.DOTALL)
    for sentence in re.split(r"(?<=[.:;!?])\s|\n\n", re.sub(r"\]\([^)]*\)|`[^`]*`", "x", prose)):
        assert len(sentence.split()) <= 25, sentence


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What a page's headings are called in links, on the web and in the book."""
    text = page.read_text()
    if page.parent == ROOT / "docs":
        text = importlib.import_module("verbs").filled(text)
    headings = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    words = [re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", one).strip().lower() for one in headings]
    return {re.sub(r"[^\w\- ]", "", one).replace(" ", "-") for one in words}


@pytest.mark.parametrize("page", LINKING, ids=named(LINKING))
def test_links_lead_somewhere(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To files that are there, and to headings in them."""
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        if re.match(r"https?:|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target
