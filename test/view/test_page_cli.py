"""`mbdyn view` and `mbdyn mechanism --page` as commands: how they start, refuse and end."""

from __future__ import annotations

import base64
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from browser import require_chromium
from click.testing import CliRunner
from robot_text import EMPTY

from mbdyn_ros.__main__ import main

pytest.importorskip("viser")

ROOT = Path(__file__).resolve().parents[2]


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code in (1, 2), result.output
    return result.output


def test_a_page_is_served_until_ctrl_c(tmp_path: Path) -> None:
    file = tmp_path / "stone.urdf"
    file.write_text(EMPTY)
    command = [sys.executable, "-m", "mbdyn_ros", "view", str(file), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        said = ""
        while not said.endswith("}\n"):
            line = process.stdout.readline()
            assert line, "it ended"
            said += line
        document = json.loads(said)
        assert document["shows"] == "stone"
        with urllib.request.urlopen(document["url"], timeout=10) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stdout.read() == "", "one document and nothing else"


def test_ports_are_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "stone.urdf"
    file.write_text(EMPTY)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"port {port} of 127.0.0.1 is in use" in refused("view", str(file), "--port", port)
    assert "port 99999 does not exist" in refused("view", str(file), "--port", "99999")
    words = refused("view", str(file), "--host", "nowhere.invalid", "--port", "0")
    assert "'nowhere.invalid' is not an address of this machine" in words


def test_what_makes_no_page_is_refused() -> None:
    assert "give a robot, or --ros" in refused("view")
    walls = "--environment", str(ROOT / "config" / "tree_robot_curved_rods.yaml")
    assert "'link1'" in refused("view", "four_bar", *walls)
    assert "in the file of the --world" in refused("view", "four_bar", "--world", *walls)
    assert "it cannot be used with" in refused("view", "--ros", "--home", "a=1")
    words = refused("mechanism", "four_bar", "--page", "--id")
    assert "--id and --page are tasks; give one of them at a time" in words
    words = refused("mechanism", "four_bar", "--page", "--plot", "a.png")
    assert "--page writes no --plot" in words
    words = refused("mechanism", "four_bar", "--page", "--speed", "0", "--port", "0")
    assert "a page starts at 0.5 to 100 rad/s" in words
    words = refused("mechanism", "four_bar", "--page", "--lengths", "1,0.1,0.2,0.3")
    assert "cannot close" in words


def test_the_command_that_helps_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbdyn_ros.view.page.page.NEEDED", ("viser", "no_such_package"))
    assert "pip install 'mbdyn_ros[view]'" in refused("view", "any.urdf")


def test_a_screenshot_is_taken_without_a_screen(tmp_path: Path) -> None:
    """What is asked for is in it: arrows of forces add their colour; the robot fills it.

    A third of the width was left to panels that a picture has not.
    """
    require_chromium()
    import imageio.v3 as images

    file = tmp_path / "four_bar.png"
    command = ["view", "four_bar", "--show", "forces", "--screenshot", str(file)]
    result = CliRunner().invoke(main, [*command, "--size", "320", "240", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"screenshot": str(file), "shows": "four_bar"}
    pixels = images.imread(file).astype(int)
    assert pixels.shape == (240, 320, 3)
    red, green, blue = np.moveaxis(pixels, -1, 0)
    assert ((blue > green + 50) & (red > green + 40)).any(), "purple"
    coloured = np.argwhere(np.ptp(pixels, axis=-1) > 40)  # the floor is grey
    height, width = np.ptp(coloured, axis=0) / (240, 320)
    assert max(height, width) > 0.75
    assert not np.ptp(pixels[[0, -1]], axis=-1).max() > 40, "nothing is cut off"


@pytest.mark.long
def test_a_motion_becomes_an_animation(tmp_path: Path) -> None:
    """All of it is in the picture, and it moves."""
    require_chromium()
    import imageio.v3 as images

    motion, file = tmp_path / "run.csv", tmp_path / "run.gif"
    motion.write_text("time,position/crank_joint\n0,0\n0.1,1.5\n0.2,3\n")
    command = ["view", "four_bar", "--trajectory", str(motion), "--screenshot", str(file)]
    result = CliRunner().invoke(main, [*command, "--size", "240", "180", "--json"])
    assert result.exit_code == 0, result.output
    frames = images.imread(file, index=None).astype(int)[..., :3]
    assert frames.shape == (4, 180, 240, 3)
    for one, other in zip(frames[:-1], frames[1:], strict=True):
        assert (np.abs(one - other).max(axis=-1) > 60).sum() > 50
    assert not np.ptp(frames[:, [0, -1]], axis=-1).max() > 60, "nothing is cut off"
    motion.write_text("time,position/crank_joint\n0,0\n100,3\n")
    assert "2000 pictures, and an animation at most 400, 20 s" in refused(*command)


def test_a_scene_is_one_file_that_moves(tmp_path: Path) -> None:
    """Below 1 MB; the instants of the motion are in it, in order."""
    import msgspec
    import zstandard

    motion, file = tmp_path / "run.csv", tmp_path / "run.html"
    motion.write_text("time,position/crank_joint\n0,0\n0.1,1.5\n0.2,3\n")
    command = ["view", "four_bar", "--trajectory", str(motion), "--screenshot", str(file)]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    text = file.read_text()
    assert len(text) < 1_000_000
    embedded = text.partition('__VISER_EMBED_DATA__="')[2].partition('"')[0]
    packed = base64.b64decode(embedded)[8:]  # after its length
    unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    length = int.from_bytes(unpacked[:8], "little")
    scene = msgspec.msgpack.decode(unpacked[8 : 8 + length])
    assert scene["durationSeconds"] == pytest.approx(0.2)
    times = [time for time, message in scene["messages"] if "Orientation" in message["type"]]
    assert times == sorted(times) and len({*times} - {0.0}) == 3
    assert "none does not exist" in refused(*command[:-1], str(tmp_path / "none" / "run.html"))


def test_screenshots_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "must end in one of .png" in refused("view", "four_bar", "--screenshot", "a.jpg")
    size = "view", "four_bar", "--screenshot", str(tmp_path / "a.png"), "--size", "0", "9"
    assert "--size 0 9: sides have 1 to 4096 pixels" in refused(*size)
    still = "view", "four_bar", "--screenshot", str(tmp_path / "a.gif")
    assert "is an animation; give its motion as --trajectory FILE" in refused(*still)
    monkeypatch.setenv("PATH", str(tmp_path))
    words = refused("view", "four_bar", "--screenshot", str(tmp_path / "a.png"))
    assert "sudo apt install chromium" in words


def test_a_motion_from_a_file_is_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("position/crank_joint\n0\n1\n")
    asked = "view", "four_bar", "--port", "0", "--trajectory", str(file)
    assert "there is no column time" in refused(*asked)
    file.write_text("time,position/crank_joint\n0,0\n0,1\n")
    assert "its time rises from row to row" in refused(*asked)
    both = refused(*asked, "--position", "crank_joint=1")
    assert "--position is one state" in both or "time rises" in both
