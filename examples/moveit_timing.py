"""A plan of MoveIt, timed by the inverse dynamics server, and sent to a controller.

ros2 launch my_robot_moveit_config demo.launch.py
ros2 run mbdyn_ros inverse_dynamics_server
python -m examples.moveit_timing arm shoulder=0.3 elbow=-0.7
"""

import sys
from typing import Any

import rclpy
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def with_the_rest(path: JointTrajectory, start: JointState) -> JointTrajectory:
    """A group's path with the joints that it leaves out (a gripper's), at rest where they are."""
    others = {
        name: position
        for name, position in zip(start.name, start.position, strict=True)
        if name not in path.joint_names
    }
    return JointTrajectory(
        joint_names=[*path.joint_names, *others],
        points=[
            JointTrajectoryPoint(positions=[*point.positions, *others.values()])
            for point in path.points
        ],
    )


def of_the_group(motion: JointTrajectory, names: list[str]) -> JointTrajectory:
    """The columns of a group's joints, for its controller."""
    columns = [motion.joint_names.index(name) for name in names]
    points = [
        JointTrajectoryPoint(
            time_from_start=point.time_from_start,
            positions=[point.positions[k] for k in columns],
            velocities=[point.velocities[k] for k in columns],
            accelerations=[point.accelerations[k] for k in columns],
            effort=[point.effort[k] for k in columns],
        )
        for point in motion.points
    ]
    return JointTrajectory(header=motion.header, joint_names=names, points=points)


def main(group: str, *goal: str) -> None:
    """Plan to a goal (joint=position) of the group, time the plan, and follow it."""
    from control_msgs.action import FollowJointTrajectory
    from moveit_msgs.msg import Constraints, JointConstraint, MotionPlanRequest
    from moveit_msgs.srv import GetMotionPlan

    from mbdyn_ros.ros.node.interfaces import srv

    rclpy.init()
    node = rclpy.create_node("moveit_timing")

    def ask(kind: Any, name: str, request: Any) -> Any:
        client: Any = node.create_client(kind, name)
        client.wait_for_service()
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future)
        return future.result()

    wanted = [
        JointConstraint(joint_name=name, position=float(position), weight=1.0)
        for name, position in (one.split("=") for one in goal)
    ]
    plan = MotionPlanRequest(
        group_name=group, goal_constraints=[Constraints(joint_constraints=wanted)]
    )
    planned = ask(
        GetMotionPlan, "plan_kinematic_path", GetMotionPlan.Request(motion_plan_request=plan)
    ).motion_plan_response
    path = planned.trajectory.joint_trajectory
    timed = ask(
        srv.TimeTrajectory,
        "inverse_dynamics_server/time_trajectory",
        srv.TimeTrajectory.Request(path=with_the_rest(path, planned.trajectory_start.joint_state)),
    )
    if not timed.success:
        sys.exit(timed.message)
    follow: Any = ActionClient(
        node, FollowJointTrajectory, f"{group}_controller/follow_joint_trajectory"
    )
    follow.wait_for_server()
    motion = FollowJointTrajectory.Goal(trajectory=of_the_group(timed.trajectory, path.joint_names))
    rclpy.spin_until_future_complete(node, follow.send_goal_async(motion))


if __name__ == "__main__":
    main(*sys.argv[1:])
