"""Names, numbers, functions and sensors of a robot in C: export/cpp/mbdyn_ros/model.h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..compiler.c_loops import runtime_text
from ..compiler.printers.operations import number
from ..integration.methods import RK4
from ..model.model import Array
from ..names import in_c_string
from .c_gap import Opening, gap_text
from .c_library import CLibrary
from .c_modes import CMode, mode_text


def sensor_text(library: CLibrary, kind: str, sensors: Sequence[tuple[str, str]]) -> str:
    """The functions of the sensors of a kind, and their list."""
    if not sensors:
        return ""
    motion, count = SENSORS[kind], library.nv if kind == "force_torque" else 3
    functions = [
        SENSOR.format(kind=kind, k=k, function=function, motion=motion, count=count,
                      nq=library.nq, nv=library.nv, **library.around(function))
        for k, (_, function) in enumerate(sensors)
    ]  # fmt: skip
    rows = ", ".join(f"{{{in_c_string(at)}, {kind}_{k}}}" for k, (at, _) in enumerate(sensors))
    return "\n".join([*functions, f"static const mbdyn_ros_sensor {kind}_list[] = {{{rows}}};"])


SENSORS = {"imu": "rate", "force_torque": "a"}
"""The input of a sensor's reading besides q and v."""

SENSOR = """static int {kind}_{k}(void *memory, const double *q, const double *v,
    const double *{motion}, const double *parameters, double *reading) {{
  const int failed = {function}({loops}q, v, {motion}, {parameters}reading);
  (void)memory;
  if (!failed) return MBDYN_ROS_OK;
  return reason(memory, failed,
                not_finite(q, {nq}) || not_finite(v, {nv}) || not_finite({motion}, {count}), q,
                parameters);
}}
"""


@dataclass(frozen=True, eq=False)
class CModel:
    """All that the table says.

    library : the equations. generator : what wrote it. description, equations : hashes.
    joints, independent, actuated : names of joints.
    joint_positions, joint_velocities : a name for each number of all joints.
    q_limits : (2, nq). v_limits, effort_limits, home_q, parameter_values : numbers of each.
    joint_turns : of joint_positions, whether whole turns change nothing.
    links : names of links and of the C functions of their Jacobians.
    openings : loops that may stay open. modes : laws of control.
    root : the link that carries all others.
    joint_limits : (2, n) of joint_positions. joint_rate_limits : of joint_velocities.
    imus, force_torques : what the sensors are on or in (links, joints), and their C functions.
    v_turns : of the velocities, whether they are of angles.
    felt : links at which wrenches are felt, and the C functions of their Jacobians.
    """

    library: CLibrary
    generator: str
    description: str
    equations: str
    joints: tuple[str, ...]
    independent: tuple[str, ...]
    actuated: tuple[str, ...]
    joint_positions: tuple[str, ...]
    joint_velocities: tuple[str, ...]
    q_limits: Array
    v_limits: Array
    effort_limits: Array
    home_q: Array
    parameter_values: Array
    joint_turns: tuple[bool, ...]
    links: tuple[tuple[str, str], ...]
    openings: tuple[Opening, ...]
    modes: tuple[CMode, ...]
    root: str
    joint_limits: Array
    joint_rate_limits: Array
    imus: tuple[tuple[str, str], ...]
    force_torques: tuple[tuple[str, str], ...]
    v_turns: tuple[bool, ...]
    felt: tuple[tuple[str, str], ...]

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The lists of names, by their fields in the table."""
        library = self.library
        return {
            "joints": self.joints,
            "independent": self.independent,
            "actuated": self.actuated,
            "q": tuple(name for name, _ in library.positions),
            "v": tuple(name for name, _, _ in library.velocities),
            "effort": tuple(name for name, _ in library.efforts),
            "joint_position": self.joint_positions,
            "joint_velocity": self.joint_velocities,
            "parameters": tuple(name for name, _ in library.parameters),
        }

    @property
    def numbers(self) -> dict[str, Sequence[float]]:
        """The lists of numbers, by their fields in the table."""
        return {
            "q_lower": self.q_limits[0],
            "q_upper": self.q_limits[1],
            "v_limit": self.v_limits,
            "effort_limit": self.effort_limits,
            "home_q": self.home_q,
            "parameter_values": self.parameter_values,
        }

    @property
    def limits(self) -> dict[str, Sequence[float]]:
        """The limits of all joints, by their fields in the table."""
        names = "position_lower", "position_upper", "velocity_limit"
        return dict(zip(names, (*self.joint_limits, self.joint_rate_limits), strict=True))


FIELDS = {
    "inverse_dynamics": ("q v a parameters", "effort"),
    "forward_dynamics": ("q v effort parameters", "a"),
    "mass_matrix": ("q parameters", "matrix"),
    "gravity_vector": ("q parameters", "effort"),
    "gravity_effort": ("q parameters", "effort"),
    "friction_effort": ("q v parameters", "effort"),
    "actuated_effort": ("q force parameters", "effort"),
}
"""Arguments and results of the table's functions, which are programs."""

RESPONSE_FIELDS = {"actuator_response": ("q v parameters", "response")}

MOMENTUM_FIELDS = {"momentum_balance": ("q v held effort parameters", "momentum")}

POSE_FIELDS = {
    "link_pose": ("q parameters", "pose"),
    "link_error": ("q place turn parameters", "error"),
}
"""Those of the link that a mode leads."""


def model_text(model: CModel) -> str:
    """The C file of the table."""
    library = model.library
    prefix, memory = library.prefix, f"{library.prefix}_loops"
    searched = library.closing is not None
    steps = library.nq == library.nv and library.function("forward_dynamics") is not None
    lists = [_strings(field, names) for field, names in model.names.items() if names]
    known = model.numbers | model.limits
    lists += [_numbers(field, numbers) for field, numbers in known.items() if len(numbers)]
    lists += [
        f"static const unsigned char {field}[] = {{{', '.join(str(int(one)) for one in ones)}}};"
        for field, ones in (("joint_turns", model.joint_turns), ("v_turns", model.v_turns))
    ]
    functions = [_called(model, field) for field in FIELDS]
    sensors = {"imu": model.imus, "force_torque": model.force_torques}
    links = {"links": model.links, "felt": model.felt}
    table = [
        "sizeof(mbdyn_ros_model), MBDYN_ROS_ABI,",
        *(
            in_c_string(text) + ","
            for text in (library.robot, model.generator, model.description, model.equations)
        ),
        *(
            f"{{{len(names)}, {f'{field}_names' if names else 'NULL'}}},"
            for field, names in model.names.items()
        ),
        *(f"{field if len(numbers) else 'NULL'}," for field, numbers in model.numbers.items()),
        f"{f'sizeof({memory})' if searched else '0'}, start, joint_state,",
        *(f"{field if model.library.function(field) else 'NULL'}," for field in FIELDS),
        f"gap, {len(model.links)}, {'links' if model.links else 'NULL'}, joint_turns, limit_jumps,",
        f"{len(model.modes)}, {'modes' if model.modes else 'NULL'},",
        *(f"{field if model.library.function(field) else 'NULL'}," for field in POSE_FIELDS),
        in_c_string(model.root) + ",",
        *(f"{field if len(numbers) else 'NULL'}," for field, numbers in model.limits.items()),
        *(f"{field if model.library.function(field) else 'NULL'}," for field in RESPONSE_FIELDS),
        *(f"{len(ones)}, {f'{kind}_list' if ones else 'NULL'}," for kind, ones in sensors.items()),
        *(f"{field if model.library.function(field) else 'NULL'}," for field in MOMENTUM_FIELDS),
        f"v_turns, {len(model.felt)}, {'felt' if model.felt else 'NULL'},",
        "step," if steps else "NULL,",
    ]
    return "\n".join([
        f'#include "mbdyn_ros/model.h"\n#include "{prefix}.h"\n\n#include <float.h>\n'
        "#include <math.h>\n#include <stddef.h>\n",
        *lists,
        SEARCHED.format(prefix=prefix) if searched else CLOSED_FORM,
        STATE.format(
            function=f"{prefix}_joint_motion",
            **library.around(f"{prefix}_joint_motion"),
            nq=library.nq,
            nv=library.nv,
            positions=len(model.joint_positions),
            velocities=len(model.joint_velocities),
            motion=max(1, len(model.joint_positions) + 2 * len(model.joint_velocities)),
        ),
        *functions,
        *(_jacobians(library, field, ones) for field, ones in links.items()),
        *(_called(model, field) for field in POSE_FIELDS | RESPONSE_FIELDS | MOMENTUM_FIELDS),
        step_text(library.nv) if steps else "",
        *(sensor_text(library, kind, ones) for kind, ones in sensors.items()),
        mode_text(model.library, model.modes),
        gap_text(model.openings, prefix),
        TABLE.format(prefix=prefix, table="\n  ".join(table)),
    ])  # fmt: skip


def step_text(count: int) -> str:
    """The function of a step of the classical Runge-Kutta method, of as many coordinates."""
    tableau = ", ".join(number(float(x)) for x in RK4.tableau)
    step = STEP.format(count=count, stages=RK4.stages, tableau=tableau)
    return f"typedef double Real;\n{runtime_text('runge_kutta.h')}\n{step}"


def _jacobians(library: CLibrary, field: str, links: Sequence[tuple[str, str]]) -> str:
    """The functions of the Jacobians of a list of links, and the list."""
    functions = [
        LINK.format(name=f"{field}_{k}", function=one, nq=library.nq, **library.around(one))
        for k, (_, one) in enumerate(links)
    ]
    rows = ", ".join(f"{{{in_c_string(link)}, {field}_{k}}}" for k, (link, _) in enumerate(links))
    listed = f"static const mbdyn_ros_link {field}[] = {{{rows}}};\n" if rows else ""
    return "\n".join([*functions, listed])


def _strings(field: str, names: Sequence[str]) -> str:
    listed = ", ".join(map(in_c_string, names))
    return f"static const char *const {field}_names[] = {{{listed}}};"


def _numbers(field: str, numbers: Sequence[float]) -> str:
    return f"static const double {field}[] = {{{', '.join(number(float(x)) for x in numbers)}}};"


def _loops(library: CLibrary) -> str:
    return "memory, " if library.closing is not None else ""


def _called(model: CModel, field: str) -> str:
    """A function of the table, around one of the library."""
    function = model.library.function(field)
    if function is None:
        return ""
    names, output = (FIELDS | POSE_FIELDS | RESPONSE_FIELDS | MOMENTUM_FIELDS)[field]
    inputs = names.split()
    given = {name for name, _ in function.arguments}
    unused = [name for name in inputs if name not in given]
    sizes = dict(function.arguments)
    checked = [f"not_finite({name}, {sizes[name]})" for name in inputs if name in given]
    return CALLED.format(
        field=field,
        inputs=" ".join(f"const double *{name}," for name in inputs),
        output=output,
        unused="".join(f"  (void){name};\n" for name in unused)
        + ("" if model.library.closing is not None else "  (void)memory;\n"),
        function=function.name,
        loops=_loops(model.library),
        passed=", ".join(name for name in inputs if name in given),
        checked=" ||\n                ".join(checked),
    )


SEARCHED = """
static void start(void *memory) {{ {prefix}_home(memory); }}

static void limit_jumps(void *memory, double farthest) {{
  (({prefix}_loops *)memory)->farthest = farthest;
}}
"""

CLOSED_FORM = """
static void start(void *memory) { (void)memory; }

static void limit_jumps(void *memory, double farthest) {
  (void)memory;
  (void)farthest;
}
"""

STATE = """/* 1 where any of n numbers is NaN or infinite, else 0. */
static int not_finite(const double *x, size_t n) {{
  size_t i;
  for (i = 0; i < n; ++i) {{
    if (!(fabs(x[i]) <= DBL_MAX)) return 1;
  }}
  return 0;
}}

/* Why a function failed: by its arguments, a loop that stays open, or anything else. */
static int reason(void *memory, int failed, int strange, const double *q,
                  const double *parameters) {{
  static const double rest[{nv}];
  double motion[{motion}];
  (void)memory;
  (void)parameters;
  if (strange) return MBDYN_ROS_NOT_FINITE;
  if (failed == MBDYN_ROS_OPEN) return MBDYN_ROS_OPEN;
  (void){function}({loops}q, rest, rest, {parameters}motion);
  return not_finite(motion, {positions}) ? MBDYN_ROS_OPEN : MBDYN_ROS_NO_ANSWER;
}}

static int joint_state(void *memory, const double *q, const double *v, const double *a,
                       const double *parameters, double *position, double *velocity,
                       double *acceleration) {{
  double motion[{motion}];
  const int failed = {function}({loops}q, v, a, {parameters}motion);
  size_t i;
  (void)memory;
  for (i = 0; i < {positions}; ++i) position[i] = motion[i];
  for (i = 0; i < {velocities}; ++i) {{
    velocity[i] = motion[{positions} + i];
    acceleration[i] = motion[{positions} + {velocities} + i];
  }}
  if (!failed) return MBDYN_ROS_OK;
  return reason(memory, failed,
                not_finite(q, {nq}) || not_finite(v, {nv}) || not_finite(a, {nv}), q, parameters);
}}
"""

CALLED = """static int {field}(void *memory, {inputs}
    double *{output}) {{
{unused}  const int failed = {function}({loops}{passed}, {output});
  if (!failed) return MBDYN_ROS_OK;
  return reason(memory, failed,
                {checked}, q, parameters);
}}
"""


STEP = """static int step(void *memory, const double *q, const double *v, const double *effort,
                double h, const double *parameters, double *q_after, double *v_after) {{
  enum {{ COUNT = {count}, STATE = 2 * COUNT, STAGES = {stages} }};
  static const double tableau[] = {{{tableau}}};
  double x[STATE], at[STATE], slope[STAGES * STATE];
  size_t i, k, failed;
  for (k = 0; k < COUNT; ++k) x[k] = q[k], x[COUNT + k] = v[k], q_after[k] = v_after[k] = NAN;
  for (i = 0; i < STAGES; ++i) {{
    double *rate = slope + STATE * i;
    stage_state(STATE, STATE, h, STAGES, tableau, i, x, slope, at);
    for (k = 0; k < COUNT; ++k) rate[k] = at[COUNT + k];
    failed = (size_t)forward_dynamics(memory, at, at + COUNT, effort, parameters, rate + COUNT);
    if (failed) return (int)failed;
  }}
  add_stages(STATE, STATE, h, STAGES, tableau, slope, x);
  for (k = 0; k < COUNT; ++k) q_after[k] = x[k], v_after[k] = x[COUNT + k];
  return MBDYN_ROS_OK;
}}
"""


LINK = """static int {name}(void *memory, const double *q, const double *parameters,
    double *jacobian) {{
  const int failed = {function}({loops}q, {parameters}jacobian);
  return failed ? reason(memory, failed, not_finite(q, {nq}), q, parameters) : MBDYN_ROS_OK;
}}
"""

TABLE = """
static const mbdyn_ros_model model = {{
  {table}
}};

const mbdyn_ros_model *{prefix}_model(void);

const mbdyn_ros_model *{prefix}_model(void) {{ return &model; }}

/* What a program finds that opens the library at run time: -DMBDYN_ROS_LIBRARY. */
#ifdef MBDYN_ROS_LIBRARY
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const mbdyn_ros_model *mbdyn_ros_model_of_library(void);

const mbdyn_ros_model *mbdyn_ros_model_of_library(void) {{ return &model; }}
#endif
"""
