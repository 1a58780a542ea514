/* The equations of one robot as a table of names, numbers and functions: the C interface of the
   libraries that `mbdyn codegen --cpp` writes, linked or opened at run time.

   A library for run time exports one function, MBDYN_ROS_ENTRY, that returns the table. Fields are
   only ever added at the end of it, with `size` growing; what changes otherwise is a new `abi`.

   SI units, rad. Matrices are stored row by row. Arrays must not overlap. No function allocates,
   locks, throws or keeps anything: what loops remember from call to call is in the caller's
   memory, one for each thread. */
#ifndef MBDYN_ROS_MODEL_H
#define MBDYN_ROS_MODEL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MBDYN_ROS_ABI 2
#define MBDYN_ROS_ENTRY "mbdyn_ros_model_of_library"

/* What functions return; all but the first leave something that is not finite in their result. */
enum {
  MBDYN_ROS_OK = 0,
  MBDYN_ROS_NOT_FINITE = 1, /* an argument is NaN or infinite */
  MBDYN_ROS_OPEN = 2,       /* a loop cannot be closed at q: `gap` says by how much */
  MBDYN_ROS_NO_ANSWER = 3   /* an actuator is at a dead point, or a number is too large */
};

typedef struct {
  size_t count;
  const char *const *names; /* `count` of them, UTF-8 */
} mbdyn_ros_names;

typedef struct {
  const char *name;
  /* Velocity of the link's origin (linear, then angular, world axes) by v: (6, nv). */
  int (*jacobian)(void *memory, const double *q, const double *parameters, double *jacobian);
} mbdyn_ros_link;

typedef struct {
  const char *name; /* the link that an IMU is on, the joint that a force-torque sensor is in */
  int (*reading)(void *memory, const double *q, const double *v, const double *motion,
                 const double *parameters, double *reading);
} mbdyn_ros_sensor;

/* What a mode of control follows. */
enum { MBDYN_ROS_NOTHING = 0, MBDYN_ROS_JOINTS = 1, MBDYN_ROS_POSE = 2 };

typedef struct {
  const char *name;
  size_t count; /* of its numbers */
} mbdyn_ros_gain;

/* A law of control, docs/control.md. `wanted` holds, one after the other, of a mode that follows
   joints: the error q_ref - q, v_ref and a_ref (nv each); of one that follows a pose: place (3),
   quaternion x y z w (4), twist (6) and its rate (6), linear before angular, in world axes, and
   posture - q (nv). `gains` holds the mode's gains one after the other. */
typedef struct {
  const char *name;
  int follows;
  const char *link; /* whose pose it follows; else "" */
  size_t wanted_count;
  size_t gain_count;
  const mbdyn_ros_gain *gains;
  int (*effort)(void *memory, const double *q, const double *v, const double *wanted,
                const double *gains, const double *parameters, double *effort);
} mbdyn_ros_mode;

typedef struct {
  size_t size; /* of this table, in bytes: fields that begin behind it are not there */
  int abi;     /* MBDYN_ROS_ABI of the library */

  const char *robot;       /* name of the robot */
  const char *generator;   /* what wrote the library */
  const char *description; /* SHA-256 of the text it was made of (description.hpp), or "" */
  const char *equations;   /* SHA-256 of every number and choice in the equations */

  mbdyn_ros_names joints;      /* all that move, in the description's order */
  mbdyn_ros_names independent; /* those of q, v and a */
  mbdyn_ros_names actuated;    /* those of effort */

  /* A name for every number: that of its joint, or joint/x where a joint has several. */
  mbdyn_ros_names q, v, effort;                /* of the independent and the actuated joints */
  mbdyn_ros_names joint_position, joint_velocity; /* of all joints */
  mbdyn_ros_names parameters;                  /* what is variable; ten for a link */

  /* Limits, infinite where there are none; home; the parameters of the description. */
  const double *q_lower, *q_upper, *v_limit, *effort_limit, *home_q, *parameter_values;

  size_t memory_size;         /* bytes of a memory, aligned as double; 0 where none is needed */
  void (*start)(void *memory); /* loops start at home: the first call for every memory */

  /* Functions without an answer for this robot are null.
     position, velocity and acceleration of all joints; accelerations with v, from a. */
  int (*joint_state)(void *memory, const double *q, const double *v, const double *a,
                     const double *parameters, double *position, double *velocity, double *acceleration);
  /* Efforts that cause a, friction of the joints included. */
  int (*inverse_dynamics)(void *memory, const double *q, const double *v, const double *a,
                          const double *parameters, double *effort);
  /* Accelerations that the efforts cause, friction of the joints included. */
  int (*forward_dynamics)(void *memory, const double *q, const double *v, const double *effort,
                          const double *parameters, double *a);
  /* (nv, nv), of the independent coordinates. */
  int (*mass_matrix)(void *memory, const double *q, const double *parameters, double *matrix);
  /* Forces of the independent coordinates that hold the robot against gravity: (nv). */
  int (*gravity_vector)(void *memory, const double *q, const double *parameters, double *force);
  /* Efforts that hold the robot at rest, against gravity and springs. */
  int (*gravity_effort)(void *memory, const double *q, const double *parameters, double *effort);
  /* Efforts that overcome damping and dry friction of all joints; null where none has any. */
  int (*friction_effort)(void *memory, const double *q, const double *v, const double *parameters,
                         double *effort);
  /* Efforts that do the work of forces (nv) at the independent coordinates. */
  int (*actuated_effort)(void *memory, const double *q, const double *force,
                         const double *parameters, double *effort);

  /* The widest gap (m or rad) that the first loop leaves that cannot be closed at q, found by
     least squares in bounded time, and that loop; 0 and null where all close. */
  double (*gap)(void *memory, const double *q, const double *parameters, const char **loop);

  size_t link_count;
  const mbdyn_ros_link *links; /* those whose Jacobian was asked for */

  /* For each number of joint_position: 1 where it is an angle in a loop, which whole turns do not
     change; else 0. */
  const unsigned char *joint_turns;

  /* For a real-time loop, once it has started: positions q of searched loops that are farther (rad
     or m) from the last are refused as MBDYN_ROS_OPEN, where they would be walked to, which may
     take milliseconds; 0, as after `start`: they are walked to. */
  void (*limit_jumps)(void *memory, double farthest);

  size_t mode_count;
  const mbdyn_ros_mode *modes; /* laws of control; friction is that of the wanted velocity */
  /* Of the link of the mode that follows a pose, null without one: its place and quaternion (7),
     and the displacement (6) to a wanted pose. */
  int (*link_pose)(void *memory, const double *q, const double *parameters, double *pose);
  int (*link_error)(void *memory, const double *q, const double *place, const double *turn,
                    const double *parameters, double *error);

  const char *root; /* the link that stands in the world, or flies */

  /* Limits of all joints, infinite where there are none: of joint_position, of joint_velocity. */
  const double *position_lower, *position_upper, *velocity_limit;

  /* Of m efforts: their mobility (m, m), and behind it the accelerations (m) of the actuated joints
     without effort, row by row (m, m + 1); null where a link has no mass. */
  int (*actuator_response)(void *memory, const double *q, const double *v,
                           const double *parameters, double *response);

  /* Of a link that moves on at the acceleration `motion` (3) of its origin, world axes: orientation
     x y z w in the world; angular velocity and acceleration less gravity, in the link's axes; and
     the velocity of its origin, world axes (13). */
  size_t imu_count;
  const mbdyn_ros_sensor *imus;
  /* Force and moment (6) that the parent exerts on the child, about the child's origin in its axes,
     at the accelerations `motion` (nv). */
  size_t force_torque_count;
  const mbdyn_ros_sensor *force_torques;

  /* Of the independent coordinates, row by row (nv, 3): the momentum M v, its rate under the efforts
     `held` until this instant, and that under `effort` from it on, friction included (observer.hpp);
     null where no effort acts. */
  int (*momentum_balance)(void *memory, const double *q, const double *v, const double *held,
                          const double *effort, const double *parameters, double *momentum);

  /* For each number of v: 1 where it is an angle a second, 0 where it is a length. */
  const unsigned char *v_turns;
  /* Links at which external wrenches are felt (external_wrench.hpp): their Jacobians are in the
     axes of the link. */
  size_t felt_count;
  const mbdyn_ros_link *felt;

  /* The state after h seconds of constant efforts, by one step of Runge and Kutta's method of order
     4; null where q has quaternions, and where there is no `forward_dynamics`. */
  int (*step)(void *memory, const double *q, const double *v, const double *effort, double h,
              const double *parameters, double *q_after, double *v_after);
} mbdyn_ros_model;

#ifdef __cplusplus
}
#endif

#endif
