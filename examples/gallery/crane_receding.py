"""Receding-horizon control of a crane by its valves: 30 nodes ahead, planned anew every 20 ms."""

import time
from typing import Any

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros.control.actuator_commands import ActuatorCommands
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.simulation.actuation import SteppedActuation

valves = find_robot("crane").with_name("manipulator_actuators.yaml")
crane: Any = mbdyn_ros.example("crane", mechanism=valves)
efforts, valve_of = crane.casadi("inverse_dynamics", friction=False), ActuatorCommands(crane)
n, nodes, dt, problem, cost = crane.nv, 30, 0.04, ca.Opti(), ca.MX(0)
now, goal, states = problem.parameter(2 * n), problem.parameter(n), [problem.variable(2 * n)]
for k in range(nodes):  # speeds are limited by what wide-open valves pass under the load
    a, after, (q, v) = problem.variable(n), problem.variable(2 * n), ca.vertsplit(states[k], n)
    problem.subject_to(after == ca.vertcat(q + dt * v + dt**2 / 2 * a, v + dt * a))
    if k == 0:
        problem.subject_to(states[0] == now)
    problem.subject_to(problem.bounded(-0.8, v[0], 0.8))
    load, states = efforts(q, v, a), [*states, after]
    for i, one in enumerate(crane.model.actuators[1:] if k else [], start=1):
        bore, ring = (np.pi / 4 * (one.bore**2 - r**2) for r in (0.0, one.rod))
        force = load[i] + one.friction.viscous * v[i]
        room = ca.if_else(v[i] > 0, bore * one.supply - force, ring * one.supply + force)
        drop = one.valve.drop * (v[i] / one.valve.flow) ** 2 * (bore**3 + ring**3)
        problem.subject_to(drop / 1e5 <= room / 1e5)
    cost += 50 * ca.sumsqr(q - goal) + ca.sumsqr(v) + 1e-2 * ca.sumsqr(a)
problem.minimize(cost + 500 * ca.sumsqr(states[-1][:n] - goal) + 50 * ca.sumsqr(states[-1][n:]))
problem.solver("fatrop", {"structure_detection": "auto", "print_time": False, "expand": True},
               {"print_level": 0, "max_iter": 5, "tol": 1e-3, "mu_init": 1e-2})  # fmt: skip
plan = problem.to_function("plan", [now, goal, problem.x], [states[1], problem.x])
stepper, oil, home = mbdyn_ros.Stepper(crane, 5e-4), SteppedActuation(crane), crane.home_position
wanted, guess = home + [0.6, 0.12, -0.1, 0.2], np.tile([*home, *np.zeros(2 * n)], nodes + 1)[:-n]
oil.rest(crane, home)
spent, rows = np.zeros(100), np.zeros((100, 2 * n))
for k in range(100):
    begin = time.perf_counter()
    ahead, guess = plan([*stepper.q, *stepper.v], wanted, guess)
    spent[k], speed = time.perf_counter() - begin, ahead.full()[n:, 0]
    needed = crane.inverse_dynamics(stepper.q, stepper.v, (speed - stepper.v) / dt, friction=False)
    order = valve_of.at(needed, speed)
    rows[k] = [*(stepper.q - home), np.nan, *order[1:]]
    for _ in range(40):
        stepper.effort[:] = order
        x, v, _ = crane.joint_state(stepper.q, stepper.v)
        oil.drive(stepper.effort, x, v, 5e-4)
        stepper.advance()
print(f"{1e3 * np.median(spent):.0f} ms for 5 iterations; left: {wanted - stepper.q}")
figure, panels = plt.subplots(2, figsize=(7, 5))
panels[0].plot(0.02 * np.arange(100), rows[:, :n], label=crane.independent_joints)
panels[1].plot(0.02 * np.arange(100), rows[:, n:])
figure.supylabel("opening of the valve          moved (rad, m)", fontsize="medium")
figure.legend(loc="outside right upper")
plt.savefig("crane_receding.png")
