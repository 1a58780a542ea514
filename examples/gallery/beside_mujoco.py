"""The same arm in MuJoCo: written as MJCF, stepped there and here, and compared."""

import matplotlib.pyplot as plt
import mujoco
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("ur5")
robot.save_mjcf("ur5.xml")
theirs = mujoco.MjModel.from_xml_path("ur5.xml")
theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
theirs.opt.timestep = 1e-3
data = mujoco.MjData(theirs)
data.qpos[:] = start = [0, -1.0, 1.0, 0, 0.5, 0]
path = []
for _ in range(1000):
    mujoco.mj_step(theirs, data)
    path.append(data.qpos.copy())
times = np.linspace(0, 1, 1001)
motion = mbdyn_ros.simulate(robot, start, np.zeros(6), 1.0, times=times, joint_limits=False)
gap = np.abs(motion.q[1:] - path)

figure, axes = plt.subplots()
axes.semilogy(times[1:], gap + 1e-17, label=robot.joint_names)
axes.set(xlabel="time (s)", ylabel="difference (rad)", title="A falling UR5, here and in MuJoCo")
figure.legend(loc="outside right upper")
plt.savefig("beside_mujoco.png")
