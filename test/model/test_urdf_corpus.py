"""Real robots: what is read equals what Pinocchio reads, joint by joint and body by body."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from corpus import REFUSED, label, readable_urdf_files, urdf_file, urdf_files
from lxml import etree

from mbdyn_ros.model import Inertia, Model, ModelError, Pose, read_urdf

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.skipif(not urdf_files(), reason="example-robot-data is not installed")


def link_poses(model: Model) -> dict[str, Pose]:
    """Placement of every link in the root with all joints at zero."""
    poses = {model.root: Pose()}

    def pose(link: str) -> Pose:
        if link not in poses:
            joint = model.joint_to(link)
            poses[link] = pose(joint.parent) @ joint.origin
        return poses[link]

    for link in model.links:
        pose(link.name)
    return poses


def moving_joint(model: Model, link: str) -> str:
    """The movable joint that carries a link, "universe" where none does."""
    while (joint := model.joint_to(link)) is not None and joint.type == "fixed":
        link = joint.parent
    return "universe" if joint is None else joint.name


def spatial(inertia: Inertia, pose: Pose) -> np.ndarray:
    """Mass, first moment and moments about the origin, in the frame `pose` is given in."""
    center = pose.rotation @ inertia.center + pose.translation
    moments = pose.rotation @ inertia.moments @ pose.rotation.T
    moments = moments + inertia.mass * (center @ center * np.eye(3) - np.outer(center, center))
    return np.concatenate([[inertia.mass], inertia.mass * center, moments.ravel()])


@pytest.mark.sparse
@pytest.mark.parametrize("path", readable_urdf_files(), ids=label)
def test_same_as_pinocchio(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = read_urdf(path)
    assert capfd.readouterr() == ("", "")
    judge = pin.buildModelFromUrdf(str(path))
    data = judge.createData()
    zero = pin.neutral(judge)
    pin.framesForwardKinematics(judge, data, zero)
    pin.computeJointJacobians(judge, data, zero)

    movable = {joint.name for joint in model.joints if joint.nv}
    assert sum(joint.nv for joint in model.joints) == judge.nv
    assert movable == set(judge.names) - {"universe"}

    joint_frames = {
        frame.name: placement
        for frame, placement in zip(judge.frames, data.oMf, strict=True)
        if frame.type in (pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT)
    }
    poses = link_poses(model)
    for joint in model.joints:
        expected = joint_frames[joint.name]
        np.testing.assert_allclose(poses[joint.child].rotation, expected.rotation, atol=2e-14)
        np.testing.assert_allclose(poses[joint.child].translation, expected.translation, atol=2e-14)
        if joint.name not in movable or joint.nv > 1:
            continue
        assert abs(np.linalg.norm(joint.axis) - 1) < 1e-15
        index = judge.getJointId(joint.name)
        column = pin.getJointJacobian(judge, data, index, pin.LOCAL)[:, judge.idx_vs[index]]
        part = column[:3] if joint.type == "prismatic" else column[3:]
        np.testing.assert_allclose(joint.axis, part, atol=1e-15)
        assert joint.damping == judge.damping[judge.idx_vs[index]]
        assert joint.friction == judge.friction[judge.idx_vs[index]]

    lumped = {name: np.zeros(13) for name in judge.names}
    for link in model.links:
        if link.inertia is not None:
            lumped[moving_joint(model, link.name)] += spatial(link.inertia, poses[link.name])
    for index, name in enumerate(judge.names):
        body = data.oMi[index].act(judge.inertias[index])
        expected = spatial(Inertia(body.mass, body.lever, body.inertia), Pose())
        scale = np.abs(expected).max()
        np.testing.assert_allclose(lumped[name], expected, rtol=0, atol=1e-12 * scale, err_msg=name)
    total = sum(link.inertia.mass for link in model.links if link.inertia is not None)
    assert total == pytest.approx(sum(inertia.mass for inertia in judge.inertias), rel=1e-12)


@pytest.mark.sparse
@pytest.mark.parametrize("path", readable_urdf_files(), ids=label)
def test_document_order_and_lines(path: Path) -> None:
    model = read_urdf(path)
    for elements, tag in ((model.links, "<link"), (model.joints, "<joint")):
        lines = [element.line for element in elements]
        assert lines == sorted(lines)
        text = path.read_bytes().split(b"\n")
        for element in elements:
            # libxml2 gives the line in which the opening tag ends
            opening = b" ".join(text[max(0, element.line - 6) : element.line]).decode()
            assert tag in opening and f'"{element.name}"' in opening.replace("'", '"')


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_refused(name: str, reason: str) -> None:
    path = urdf_file(name)
    with pytest.raises(ModelError, match="index_q1|no <link>") as refusal:
        read_urdf(path)
    assert str(refusal.value).startswith(f"{path}:")
    with pytest.raises(Exception, match="mimic joint is not in|valid URDF"):
        pin.buildModelFromUrdf(str(path), mimic=True)


@pytest.mark.parametrize(
    ("name", "links"),
    {
        "romeo_laas_small.urdf": {
            "LShoulderYaw_link": "triangle",
            "LElbowYaw_link": "triangle",
            "body": "positive",
            "LHipPitch_link": "positive",
            "RHipPitch_link": "positive",
        },
        "bolt.urdf": {"FL_FOOT": "no mass", "FR_FOOT": "no mass"},
        "pr2.urdf": {"sensor_mount_link": "triangle", "double_stereo_link": "triangle"},
        "ur5_robot.urdf": {},
        "solo12.urdf": {},
        "g1_29dof_rev_1_0.urdf": {},
    }.items(),
)
def test_impossible_inertias_are_named(name: str, links: dict[str, str]) -> None:
    reported = read_urdf(urdf_file(name)).warnings
    warnings = [one for one in reported if "<transmission " not in one]
    assert len(warnings) == len(links)
    for warning, (link, problem) in zip(warnings, links.items(), strict=True):
        assert f"{name}:" in warning and f'<link name="{link}">' in warning and problem in warning


def test_unknown_bounds_of_a_real_file() -> None:
    """Romeo's fingers have velocity="0" effort="0": nobody's torque may be clamped to 0."""
    model = read_urdf(urdf_file("romeo.urdf"))
    assert model.joint("LFinger12").limits.effort == np.inf
    (warning,) = model.warnings
    assert '<joint name="LHand"> <limit>' in warning and warning.endswith(" and 3 more")


@pytest.mark.parametrize("name", ["talos_full_v2.urdf", "ur5_robot.urdf"])
def test_not_long_beside_what_lxml_takes(name: str) -> None:
    """15 times as long: a search in every element for every element would take hundreds."""
    path = urdf_file(name)
    times = np.zeros((7, 2))
    for k in range(len(times)):
        for one, read in enumerate((read_urdf, lambda path: etree.parse(str(path)))):
            start = time.process_time()
            read(path)
            times[k, one] = time.process_time() - start
    ours, parser = times.min(axis=0)
    assert ours < 60 * parser
