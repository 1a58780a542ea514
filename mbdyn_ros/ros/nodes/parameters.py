"""The parameters of the nodes: a table for each."""

from __future__ import annotations

from ...control.contact import REACTIONS as KINDS
from ...equations.control_laws import MODES, gains
from ..messages.named_numbers import LARGEST_SENT
from ..node.description import FLOATING_BASE, GRAVITY, PRIORITY, SPECS, WORLD
from ..node.managed_node import AUTOSTART
from ..node.parameters import DOUBLES, STRINGS, Spec, one_of
from ..node.running_numbers import JOINT_DYNAMICS, VARIABLE
from .feedforward import EFFORT_SOURCES

COMMAND_ORDER = Spec(
    "joints", STRINGS, "order of ~/commands; empty: all actuated joints", read_only=True
)
ENFORCE_LIMITS = Spec(
    "enforce_effort_limits", True, "clamp efforts to <limit effort> of the URDF, and report it"
)
INITIAL = (
    Spec("initial_joints", STRINGS, "joints of initial_positions; empty: all", read_only=True),
    Spec("initial_positions", DOUBLES, "rad or m; joints not named start at home",
         read_only=True),
)  # fmt: skip
MARKER_RATE = Spec(
    "marker_rate", 30.0, "~/markers per second, Hz; 0: none", 0.0, 100.0, read_only=True
)
LONGEST_GAP = Spec(
    "longest_gap", 0.5, "pause after which the reference is dropped, s (at least 3 periods)",
    0.001, 3600.0,
)  # fmt: skip
LONGEST_WAIT = Spec(
    "longest_wait", 60.0, "how far in the future the first point of a reference may be, s",
    0.0, 86400.0,
)  # fmt: skip
STATE_TIMEOUT = Spec("state_timeout", 0.1, "age at which joint_states are stale, s", 0.001, 3600.0)

INVERSE_DYNAMICS_SERVER = (
    *SPECS,
    FLOATING_BASE,
    GRAVITY,
    VARIABLE,
    JOINT_DYNAMICS,
    Spec(
        "largest_request", 100_000, "most points or wrenches of a request",
        1, 10_000_000,
    ),
)  # fmt: skip

SIMULATOR = (
    *SPECS,
    FLOATING_BASE,
    GRAVITY,
    VARIABLE,
    JOINT_DYNAMICS,
    PRIORITY,
    Spec("rate", 1000.0, "steps per simulated second, Hz", 1.0, 10000.0),
    Spec("substeps", 1, "integration steps in one step", 1, 1000),
    Spec("real_time_factor", 1.0, "simulated seconds per second", 0.001, 1000.0),
    Spec(
        "publish_rate", 0.0, "joint states per simulated second, Hz; 0: every step", 0.0, 10000.0
    ),
    COMMAND_ORDER,
    Spec(
        "command_timeout", 0.5,
        "age at which efforts and velocities count as zero, s; they fade from half of it on",
        0.001, 3600.0,
    ),
    Spec(
        "unchanged_timeout", 0.0,
        "how long a repeated effort or velocity may stay the same, s; 0: forever",
        0.0, 3600.0,
    ),
    Spec(
        "controller_manager", "controller_manager",
        "the node whose deactivated controllers lose their last commands; empty: none",
        read_only=True,
    ),
    Spec(
        "servo_frequency", 50.0,
        "natural frequency of joints that follow positions or velocities, Hz", 0.1, 1000.0,
    ),
    Spec(
        "hold_at_start", False, "joints keep their first position until commanded",
        read_only=True,
    ),
    Spec(
        "path_tolerance", 0.0, "distance from a trajectory that aborts its goal, rad or m; 0: none",
        0.0, 1e6,
    ),
    Spec(
        "goal_tolerance", 0.01, "distance from a trajectory's end at which it is reached, rad "
        "or m; 0: any", 0.0, 1e6,
    ),
    Spec("goal_time", 1.0, "time after the end of a trajectory to reach it, s", 0.0, 3600.0),
    Spec("imu_links", STRINGS, "links that carry an IMU, on ~/imu/LINK", read_only=True),
    Spec(
        "force_torque_joints", STRINGS, "joints that carry a force-torque sensor, on "
        "~/force_torque/JOINT", read_only=True,
    ),
    Spec(
        "contact_rate", 100.0, "~/contacts per simulated second, Hz; 0: with every joint state",
        0.0, 10000.0,
    ),
    Spec("wrench_duration", 0.1, "how long a message on ~/wrench pushes, s", 0.001, 3600.0),
    ENFORCE_LIMITS,
    *INITIAL,
    Spec(
        "environment", "", "walls: path of a YAML file, or its text",
        read_only=True,
    ),
    Spec(
        WORLD, "", "several robots, bodies and walls instead of a robot: path of a YAML file or an "
        "MJCF, or its text",
        read_only=True,
    ),
    Spec(
        "joint_limits", True, "position limits that hold at the start are stops", read_only=True
    ),
    Spec("start_paused", False, "wait for ~/pause with data: false", read_only=True),
    Spec("publish_clock", False, "publish simulated time on /clock and in stamps",
         read_only=True),
    Spec("frame_id", "", "frame of the joint states; empty: the root link", read_only=True),
    MARKER_RATE,
    Spec(
        "marker_scale", 0.3,
        "length of the arrow of a full effort, m",
        0.001, 100.0, read_only=True,
    ),
)  # fmt: skip

REFERENCES = (
    LONGEST_WAIT,
    LONGEST_GAP,
    Spec("check_limits", True, "refuse references beyond <limit> of the URDF"),
    Spec(
        "start_tolerance", 0.1,
        "how far from the measured state a reference or target may begin, rad or m; 0: anywhere",
        0.0, 1e6,
    ),
    Spec(
        "following_tolerance", 0.2,
        "distance of a joint (or the link) from its reference that is a fault, rad or m; 0: none",
        0.0, 1e6,
    ),
    Spec(
        "reference_timeout", 0.5,
        "time after the last point or target at which efforts become zero, s; 0: never", 0.0,
        3600.0,
    ),
    STATE_TIMEOUT,
    ENFORCE_LIMITS,
)  # fmt: skip
"""Of nodes that send efforts along a reference."""

COMMANDING = (
    *SPECS,
    GRAVITY,
    VARIABLE,
    JOINT_DYNAMICS,
    PRIORITY,
    AUTOSTART,
    Spec("rate", 500.0, "commands per second, Hz", 1.0, 5000.0),
    COMMAND_ORDER,
)  # fmt: skip
"""Of nodes that send efforts."""

CONTACTS = (
    Spec("thresholds", DOUBLES, "external efforts of contacts, N m or N, by joints; none: no "
         "contact is seen before ~/learn", 0.0, LARGEST_SENT),
    Spec("centers", DOUBLES, "external efforts without contact, N m or N; none: zeros",
         -LARGEST_SENT, LARGEST_SENT),
    Spec("threshold_in_all", 1.0, "norm of external efforts over thresholds from which it is a "
             "contact",
         0.001, LARGEST_SENT),
)  # fmt: skip
"""Of nodes that see contacts."""

TORQUE_FEEDFORWARD = (
    *COMMANDING,
    *REFERENCES,
    Spec(
        "feedforward", EFFORT_SOURCES[0],
        "what the PD is added to: inverse_dynamics, reference (the efforts in its points) or none",
        check=one_of(EFFORT_SOURCES),
    ),
    Spec("lead", 0.0, "how far ahead the feed-forward is computed, s", 0.0, 0.1),
    Spec("kp", DOUBLES, "position gain, N m/rad or N/m: none, one for all, or one per joint",
         0.0, LARGEST_SENT),
    Spec("kd", DOUBLES, "velocity gain, N m s/rad or N s/m: none, one for all, or one per joint",
         0.0, LARGEST_SENT),
)  # fmt: skip

GAINS = {
    "guiding_damping": "damping in gravity_compensation, N m s/rad or N s/m",
    "kp": "of computed_torque, 1/s^2",
    "kd": "of computed_torque, 1/s",
    "joint_stiffness": "of joint_impedance, N m/rad or N/m",
    "joint_damping": "of joint_impedance, N m s/rad or N s/m",
    "required_rate": "of virtual_decomposition: decay of position errors, 1/s",
    "body_rate": "of virtual_decomposition: decay of the bodies' velocity errors, 1/s",
    "required_damping": "of virtual_decomposition, at joints, N m s/rad or N s/m",
    "admittance_kp": "of admittance: kp of its inner computed_torque, 1/s^2",
    "admittance_kd": "of admittance: kd of its inner computed_torque, 1/s",
    "admittance_inertia": "of admittance, felt by external efforts, kg m^2 or kg; "
    "0: the joint does not yield",
    "admittance_damping": "of admittance, N m s/rad or N s/m",
    "admittance_stiffness": "of admittance, to the reference, N m/rad or N/m",
    "admittance_dead_zone": "of admittance: external efforts that are ignored, N m or N",
    "link_stiffness": "of cartesian_impedance along and about the world's axes, N/m and N m/rad",
    "link_damping": "of cartesian_impedance, N s/m and N m s/rad",
    "posture_stiffness": "of cartesian_impedance, towards the initial posture, N m/rad or N/m",
    "posture_damping": "of cartesian_impedance, of motion within the posture, N m s/rad or N s/m",
}
CONTROL_GAINS = tuple(gains())
REACTIONS = ("none", *KINDS)
ALLOW_UNSTABLE = "allow_unstable_gains"

COMPUTED_TORQUE = (
    *COMMANDING,
    Spec("measured_joints", STRINGS, "measured joints: any that determine all others; "
         "empty: the independent ones", read_only=True),
    Spec("mode", next(iter(MODES)), "the law of control", check=one_of(tuple(MODES))),
    Spec("link", "", "link of cartesian_impedance and ~/target; without it there is no such "
             "mode", read_only=True),
    Spec("reaction", REACTIONS[0], "to a contact: none, stop, float or retract (0.5 s back along "
         "the path), until ~/reset or another mode", check=one_of(REACTIONS)),
    *CONTACTS,
    Spec("observer_time_constant", 0.01, "mean delay of the external efforts for contacts and "
         "admittance, s", 0.001, 10.0, read_only=True),
    Spec("fading_time", 0.3, "time in which a change of mode or gains fades in, s", 0.0, 60.0),
    *REFERENCES,
    Spec(ALLOW_UNSTABLE, False,
         "accept gains that make the loop, sampled at `rate`, unstable"),
    Spec(
        "agreement_tolerance", 0.01,
        "how far measured joints of loops may disagree, rad or m; 0: not checked", 0.0, 1e6,
    ),
    Spec(
        "jump_tolerance", 0.1,
        "how far joints may jump beyond their velocity, rad or m; 0: not checked", 0.0, 1e6,
    ),
    *(
        Spec(name, DOUBLES, f"{GAINS[name]}; none: mild", 0.0, LARGEST_SENT)
        for name in CONTROL_GAINS
    ),
)  # fmt: skip

LOOP_STATE_PUBLISHER = (
    *SPECS,
    PRIORITY,
    Spec(
        "joints", STRINGS, "joints that are measured; empty: all actuated joints", read_only=True
    ),
    Spec(
        "deviations", DOUBLES,
        "standard deviations of the positions of `joints`, rad or m; none: all alike",
        read_only=True,
    ),
    STATE_TIMEOUT,
    Spec(
        "largest_jump", 0.5,
        "how far a joint may move between two messages, rad or m; 0: not checked", 0.0, 1e6,
    ),
    Spec(
        "largest_disagreement", 0.05,
        "how far a measured joint may be from the estimate, rad or m; 0: not checked", 0.0, 1e6,
    ),
    Spec("frame_id", "", "frame of the joint states; empty: the root link", read_only=True),
)  # fmt: skip

EFFORT_OBSERVER = (
    *SPECS,
    GRAVITY,
    VARIABLE,
    JOINT_DYNAMICS,
    PRIORITY,
    Spec("time_constant", 0.01, "mean delay of external efforts, s", 0.001, 10.0, read_only=True),
    Spec("variant", "second", "order of the observer: first or second", read_only=True,
         check=one_of(("first", "second"))),
    STATE_TIMEOUT,
    Spec("link", "", "link of ~/external_wrench; empty: none is sent", read_only=True),
    Spec("point", [0.0, 0.0, 0.0], "where the wrench acts, in the link's axes, m", read_only=True),
    Spec("moment", True, "whether a moment acts there; without one, fewer joints determine the "
             "force", read_only=True),
    *CONTACTS,
    Spec("payload_link", "", "link whose payload is estimated; empty: none", read_only=True),
    Spec("payload_receivers", STRINGS, "nodes (service set_payload) and controllers (topic "
         "payload) that get the payload", read_only=True),
    Spec("payload_memory", 10.0, "time in which the weight of old motion falls to 1/e, s", 0.1,
             3600.0,
         read_only=True),
)  # fmt: skip

TRAJECTORY_CONVERTER = (
    *SPECS,
    Spec(
        "joints", STRINGS, "joints of ~/trajectory_out; empty: all actuated joints", read_only=True
    ),
    Spec(
        "check_limits",
        True,
        "drop trajectories with a point beyond a <limit>, before or after conversion",
    ),
)
