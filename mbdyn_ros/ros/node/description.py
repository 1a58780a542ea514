"""The source of a node's robot: a parameter with its URDF, a file, or the latched topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from ...errors import InputError, MbdynError
from .parameters import DOUBLES, STRINGS, Parameters, Spec, three_numbers
from .refusals import one_line

LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

SPECS = (
    Spec("robot_description", "", "URDF (or DH table) as text", read_only=True),
    Spec("urdf", "", "path of the file, if robot_description is empty", read_only=True),
    Spec(
        "mechanism", "", "loops and couplings added to the URDF: path of a YAML file, or its text",
        read_only=True,
    ),
    Spec("xacro", STRINGS, "arguments of a xacro file, such as prefix:=left_", read_only=True),
    Spec("srdf", "", "homes and passive joints: path of an SRDF, or its text", read_only=True),
    Spec("home", "", "name of a configuration in the files, if home_joints is empty",
         read_only=True),
    Spec(
        "home_joints", STRINGS, "joints of home_positions: a rough closed configuration",
        read_only=True,
    ),
    Spec("home_positions", DOUBLES, "rad or m; empty: the files' home", read_only=True),
)  # fmt: skip
GRAVITY = Spec("gravity", [0.0, 0.0, -9.81], "m/s^2, in the world", -1e6, 1e6, check=three_numbers)
FLOATING_BASE = Spec(
    "floating_base", False, "whether the root link moves freely in the world", read_only=True
)

WORLD = "world"
"""The parameter with a world of several robots, of nodes that have it."""

PRIORITY = Spec(
    "realtime_priority", 0, "SCHED_FIFO priority, if `ulimit -r` allows it; 0: none",
    0, 99, read_only=True,
)  # fmt: skip


def home_by_name(joints: Sequence[str], positions: Sequence[float]) -> dict[str, float] | None:
    """The rough configuration that two parameters give; None for none."""
    if len(joints) != len(positions):
        raise InputError(
            f"parameter home_positions has {len(positions)} numbers for the {len(joints)} joints "
            "of home_joints"
        )
    for k, name in enumerate(joints):
        if name in joints[:k]:
            raise InputError(f"parameter home_joints names {name!r} twice")
    return dict(zip(joints, positions, strict=True)) or None


class Description:
    """The source of the robot's description, as text or path.

    Parameters
    ----------
    node, parameters : with `SPECS` declared.
    on_arrival : called with every description that comes over the topic; may raise MbdynError.

    Attributes
    ----------
    source : text or path; None until the topic brought one that `on_arrival` took.
    """

    def __init__(
        self, node: Node, parameters: Parameters, on_arrival: Callable[[str], None]
    ) -> None:
        self._node, self._on_arrival = node, on_arrival
        world = parameters[WORLD] if WORLD in parameters else ""
        own = parameters["robot_description"] or parameters["urdf"]
        if world and own:
            raise InputError(
                f"parameter {WORLD} describes all robots: leave robot_description and urdf empty"
            )
        self.source: str | None = world or own or None
        self.refusal = ""
        if self.source is None:
            node.create_subscription(String, "robot_description", self._receive, LATCHED)
            node.get_logger().info(
                "waiting for the URDF on topic robot_description; or set the parameter "
                "robot_description (text) or urdf (path)"
            )

    def _receive(self, message: String) -> None:
        if message.data == self.source:
            return
        try:
            if not message.data.lstrip().startswith("<"):
                raise MbdynError("the message holds no XML")
            self._on_arrival(message.data)
        except MbdynError as error:
            kept = "; the old one is kept" if self.source is not None else ""
            self.refusal = f"refused a robot_description: {one_line(str(error))}{kept}"
            self._node.get_logger().error(self.refusal)
        else:
            self.source, self.refusal = message.data, ""

    @property
    def missing(self) -> str:
        """The words for a caller while there is no robot."""
        return self.refusal or (
            "there is no robot yet: set the parameter robot_description or urdf, or publish the "
            "URDF on topic robot_description (transient local)"
        )


def of_parameter(text: str, parameters: Parameters) -> str:
    """Words about a file, with the parameter that names it."""
    for name in ("mechanism", "srdf", "urdf"):
        if parameters[name] and text.startswith(parameters[name]):
            return f"parameter {name}: {text}"
    return text
