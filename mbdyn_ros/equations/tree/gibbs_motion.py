"""Motion of the bodies in 4x4 transforms and 3x3 rotations: steps 1 to 3 of Gibbs-Appell.

Numbers in brackets are the equations of Shafei and Shafei (2018); see `gibbs_appell`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model.pose import Pose
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX, JointMotion, constant, cross, homogeneous, skew


@dataclass(frozen=True)
class GibbsMotion:
    """Pose, rates and accelerations of a body: T, T', T'' (4, 4) and w, w' (3, 1)."""

    T: SX
    rate: SX
    acceleration: SX
    w: SX
    w_rate: SX


def compound(joint: JointMotion) -> SX:
    """E_p A_i (4, 4): the pose of a body in its parent (3)."""
    return homogeneous(joint.transform.to_parent(SX.eye(3)), joint.transform.shift)


def generator(angular: SX, linear: SX) -> SX:
    """D (4, 4) with dA/dt = A D for a body that moves so in its own axes."""
    return homogeneous(skew(angular), linear, 0)


def world_motion() -> GibbsMotion:
    """The motion of what is fixed to the world: none."""
    rest, still = SX.zeros(3), SX.zeros(4, 4)
    return GibbsMotion(SX.eye(4), still, still, rest, rest)


def touching_motions(
    tree: Tree, joints: Sequence[JointMotion], v: SX, a: SX, links: Sequence[str] = ()
) -> list[GibbsMotion]:
    """The `body_motions` by the numbers of bodies, then of the frames of links; `WORLD` last."""
    motions = [*body_motions(tree, joints, v, a), world_motion()]
    frames = [frame_motion(motions[tree.frames[link][0]], tree.frames[link][1]) for link in links]
    return [*motions[:-1], *frames, motions[-1]]


def frame_motion(body: GibbsMotion, pose: Pose) -> GibbsMotion:
    """The motion of a frame with this pose in a body."""
    back, still = constant(pose.rotation), constant(pose.translation)
    E = homogeneous(back, still)
    return GibbsMotion(
        body.T @ E, body.rate @ E, body.acceleration @ E, back.T @ body.w, back.T @ body.w_rate
    )


def body_motions(tree: Tree, joints: Sequence[JointMotion], v: SX, a: SX) -> list[GibbsMotion]:
    """Steps 1 to 3: the motion of every body; at a = 0, T''_v (30) and w'_v (32).

    The sums of (29-32), by recursion: (T_p G)'' = T''_p G + 2 T'_p G' + T_p G''.
    """
    base = world_motion()
    motions: list[GibbsMotion] = []
    for body, joint in zip(tree.bodies, joints, strict=True):
        parent = base if body.parent == WORLD else motions[body.parent]
        G, out = compound(joint), joint.transform.to_child
        T, turning = parent.T @ G, joint.angular @ v[body.v]
        first = generator(turning, joint.linear @ v[body.v])
        second = generator(joint.angular @ a[body.v], joint.linear @ a[body.v]) + first @ first
        carried = out(parent.w)
        motions.append(
            GibbsMotion(
                T,
                parent.rate @ G + T @ first,
                parent.acceleration @ G + 2 * (parent.rate @ G) @ first + T @ second,
                carried + turning,
                out(parent.w_rate) + cross(carried, turning) + joint.angular @ a[body.v],
            )
        )
    return motions


def partials(joint: JointMotion, T: SX) -> list[SX]:
    """T^_{j-1} U_1j (4, 4) of each velocity of joint j (33, 34)."""
    columns = range(joint.angular.shape[1])
    return [T @ generator(joint.angular[:, k], joint.linear[:, k]) for k in columns]
