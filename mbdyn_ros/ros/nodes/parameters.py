"""The parameters of the nodes: a table for each."""

from __future__ import annotations

from ...control.contact import REACTIONS as KINDS
from ...equations.control_laws import MODES, gains
from ..messages.named_numbers import LARGEST_SENT
from ..node.description import FLOATING_BASE, GRAVITY, PRIORITY, SPECS
from ..node.managed_node import AUTOSTART
from ..node.parameters import DOUBLES, STRINGS, Spec, one_of
from ..node.payloads import VARIABLE
from ..node.running_numbers import JOINT_DYNAMICS
from .feedforward import EFFORT_SOURCES

COMMAND_ORDER = Spec(
    "joints", STRINGS, "order of ~/commands; empty: all actuated joints", read_only=True
)
ENFORCE_LIMITS = Spec("enforce_effort_limits", True, "clamp efforts to <limit effort> of the URDF")
INITIAL = (
    Spec("initial_joints", STRINGS, "joints of initial_positions; empty: all", read_only=True),
    Spec("initial_positions", DOUBLES, "position at the start, rad or m; others 0",
         read_only=True),
)  # fmt: skip
MARKER_RATE = Spec(
    "marker_rate", 30.0, "~/markers per second, Hz; 0: none", 0.0, 100.0, read_only=True
)
LONGEST_GAP = Spec(
    "longest_gap", 0.5, "time between two cycles after which the reference is dropped, s",
    0.001, 3600.0,
)  # fmt: skip
LONGEST_WAIT = Spec(
    "longest_wait", 60.0, "time ahead of its first point at which a reference is taken, s",
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
        "largest_request", 100_000, "points of a trajectory or wrenches of a request, at most",
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
    Spec("command_timeout", 0.5, "age at which a command counts as zero, s", 0.001, 3600.0),
    Spec(
        "unchanged_timeout", 0.0,
        "how long a command that is sent again and again may stay the same, s; 0: ever",
        0.0, 3600.0,
    ),
    Spec(
        "controller_manager", "controller_manager",
        "whose deactivated controllers' last commands are dropped; empty: nobody's",
        read_only=True,
    ),
    Spec(
        "servo_frequency", 50.0,
        "natural frequency of joints that follow positions or velocities, Hz", 0.1, 1000.0,
    ),
    Spec(
        "hold_at_start", False, "joints keep their first position until they are commanded",
        read_only=True,
    ),
    Spec(
        "path_tolerance", 0.0, "distance from a trajectory that ends its goal, rad or m; 0: none",
        0.0, 1e6,
    ),
    Spec(
        "goal_tolerance", 0.01, "distance from a trajectory's end at which it is reached, rad "
        "or m; 0: any", 0.0, 1e6,
    ),
    Spec("goal_time", 1.0, "time after its end to reach it, s", 0.0, 3600.0),
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
        "environment", "", "walls that points of the robot hit: path of a YAML file, or its text",
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
        "length of the arrow of a full effort, and of the robot's mass times 1 m/s, m",
        0.001, 100.0, read_only=True,
    ),
)  # fmt: skip

REFERENCES = (
    LONGEST_WAIT,
    LONGEST_GAP,
    Spec("check_limits", True, "refuse references beyond <limit> of the URDF"),
    Spec(
        "start_tolerance", 0.1,
        "how far from the measured state a reference may begin, rad or m; 0: anywhere", 0.0, 1e6,
    ),
    Spec(
        "following_tolerance", 0.2,
        "how far the robot may be from its reference, rad or m, before a fault; 0: anywhere",
        0.0, 1e6,
    ),
    Spec(
        "reference_timeout", 0.5,
        "time after the last point at which efforts become zero, s; 0: never", 0.0, 3600.0,
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
    Spec("threshold_in_all", 1.0, "norm of external efforts over thresholds of a contact",
         0.001, LARGEST_SENT),
)  # fmt: skip
"""Of nodes that see contacts."""

TORQUE_FEEDFORWARD = (
    *COMMANDING,
    *REFERENCES,
    Spec(
        "feedforward", EFFORT_SOURCES[0],
        "what the PD adds to: inverse_dynamics, reference (efforts in its points) or none",
        check=one_of(EFFORT_SOURCES),
    ),
    Spec("lead", 0.0, "how far ahead the feed-forward is computed, s", 0.0, 0.1),
    Spec("kp", DOUBLES, "position gain, N m/rad or N/m: none, one for all, or by joints",
         0.0, LARGEST_SENT),
    Spec("kd", DOUBLES, "velocity gain, N m s/rad or N s/m: none, one for all, or by joints",
         0.0, LARGEST_SENT),
)  # fmt: skip

GAINS = {
    "guiding_damping": "damping in gravity_compensation, N m s/rad or N s/m",
    "kp": "of computed_torque, 1/s^2",
    "kd": "of computed_torque, 1/s",
    "joint_stiffness": "of joint_impedance, N m/rad or N/m",
    "joint_damping": "of joint_impedance, N m s/rad or N s/m",
    "required_rate": "of virtual_decomposition: at which errors die out, 1/s",
    "body_rate": "of virtual_decomposition: at which bodies come to their required velocity, 1/s",
    "required_damping": "of virtual_decomposition, at joints, N m s/rad or N s/m",
    "admittance_kp": "of admittance: leads the joints to where they give way to, 1/s^2",
    "admittance_kd": "of admittance, 1/s",
    "admittance_inertia": "of admittance: with which joints give way to external efforts, kg m^2 "
    "or kg; 0: a joint does not",
    "admittance_damping": "of admittance, N m s/rad or N s/m",
    "admittance_stiffness": "of admittance, to the reference, N m/rad or N/m",
    "admittance_dead_zone": "of admittance: external efforts that are not felt, N m or N",
    "link_stiffness": "of cartesian_impedance along and about the world's axes, N/m and N m/rad",
    "link_damping": "of cartesian_impedance, N s/m and N m s/rad",
    "posture_stiffness": "towards the initial posture, N m/rad or N/m",
    "posture_damping": "of the joints' motion, N m s/rad or N s/m",
}
CONTROL_GAINS = tuple(gains())
REACTIONS = ("none", *KINDS)
ALLOW_UNSTABLE = "allow_unstable_gains"

COMPUTED_TORQUE = (
    *COMMANDING,
    Spec("measured_joints", STRINGS, "joints that are measured, any that determine all others; "
         "empty: the independent ones", read_only=True),
    Spec("mode", next(iter(MODES)), "the law of control", check=one_of(tuple(MODES))),
    Spec("link", "", "link that cartesian_impedance and ~/target are about", read_only=True),
    Spec("reaction", REACTIONS[0], "to a contact: none, stop, float or retract, until ~/reset or "
         "another mode", check=one_of(REACTIONS)),
    *CONTACTS,
    Spec("observer_time_constant", 0.01, "mean delay of the external efforts in which contacts are "
         "seen and to which admittance gives way, s", 0.001, 10.0, read_only=True),
    Spec("fading_time", 0.3, "in which a change of mode or gains fades in, s", 0.0, 60.0),
    *REFERENCES,
    Spec(ALLOW_UNSTABLE, False,
         "take gains with which the loop, sampled at `rate`, would be unstable"),
    Spec(
        "agreement_tolerance", 0.01,
        "how far measured joints of loops may disagree, rad or m; 0: anyhow", 0.0, 1e6,
    ),
    Spec(
        "jump_tolerance", 0.1,
        "how much farther than their speed says joints may go between two joint_states, rad or m; "
        "0: anywhere", 0.0, 1e6,
    ),
    *(
        Spec(name, DOUBLES, f"{GAINS[name]}; none: a mild one", 0.0, LARGEST_SENT)
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
        "standard deviations of their positions, rad or m: their ratios weigh joints that disagree",
        read_only=True,
    ),
    STATE_TIMEOUT,
    Spec(
        "largest_jump", 0.5,
        "how far a joint may move between two messages, rad or m; 0: any way", 0.0, 1e6,
    ),
    Spec(
        "largest_disagreement", 0.05,
        "how far measured joints may disagree, rad or m; 0: any way", 0.0, 1e6,
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
    Spec("point", [0.0, 0.0, 0.0], "where it acts, in the link's axes, m", read_only=True),
    Spec("moment", True, "whether torques act there; else a force alone", read_only=True),
    *CONTACTS,
    Spec("payload_link", "", "link whose payload is estimated; empty: none", read_only=True),
    Spec("payload_receivers", STRINGS, "nodes and controllers to which ~/apply_payload hands the "
         "payload: by their service set_payload or topic payload", read_only=True),
    Spec("payload_memory", 10.0, "in which old motion loses its weight by e, s", 0.1, 3600.0,
         read_only=True),
)  # fmt: skip

TRAJECTORY_CONVERTER = (
    *SPECS,
    Spec(
        "joints", STRINGS, "joints of ~/trajectory_out; empty: all actuated joints", read_only=True
    ),
    Spec("check_limits", True, "drop trajectories beyond <limit> of the URDF, in either space"),
)
