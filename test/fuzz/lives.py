"""Lives of a managed node: transitions in any order, under references nobody should believe."""

from __future__ import annotations

import random
from collections.abc import Callable

import mbdyn_ros

from .controller import WILD

TRANSITIONS = ("configure", "activate", "deactivate", "cleanup")


def node_lives(dice: random.Random) -> Callable[[], None]:
    """`torque_feedforward` through its states; inactive it sends zeros, and it always answers.

    The outcome is that of the last transition.
    """

    def call() -> None:
        from lifecycle_msgs.srv import ChangeState, GetState
        from ros_rig import ARM, Rig
        from std_msgs.msg import Float64MultiArray
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        from mbdyn_ros.ros.nodes.torque_feedforward import TorqueFeedforward

        rig, refused = Rig(), False
        try:
            rig.add(TorqueFeedforward, robot_description=ARM, rate=200.0)
            sent = rig.listen(Float64MultiArray, "torque_feedforward/commands")
            references = rig.client.create_publisher(
                JointTrajectory, "torque_feedforward/reference", 10
            )
            for _ in range(8):
                for _ in range(5):
                    values = [dice.choice((0.0, 0.1, *WILD)) for _ in range(dice.randrange(5))]
                    point = JointTrajectoryPoint(positions=values)
                    references.publish(JointTrajectory(points=[point]))
                request = ChangeState.Request()
                request.transition.label = dice.choice(TRANSITIONS)
                done = rig.call(
                    ChangeState, "torque_feedforward/change_state", transition=request.transition
                )
                refused = not done.success
                state = rig.call(GetState, "torque_feedforward/get_state").current_state.label
                assert state in ("unconfigured", "inactive", "active"), state
                if state == "inactive":
                    sent.clear()
                    rig.wait(lambda: len(sent) > 2)
                    assert not any(sent[-1].data), sent[-1]
        finally:
            rig.close()
        if refused:
            raise mbdyn_ros.InputError("the last transition was refused")

    return call
