"""Control on the measured state: hand guiding, computed torque, impedances, for any robot.

Examples
--------
>>> import mbdyn_ros
>>> from mbdyn_ros.model.examples import CART
>>> control = Controller(mbdyn_ros.load(CART))
>>> control.set_gains(kp=[400.0], kd=[40.0])
>>> control.switch("computed_torque")
>>> control.wanted_a[:] = 1.0
>>> control.cycle(0.0)
array([2.])

The loop, sampled at 100 Hz with one period of delay, is stable, and with ten times the gain not:

>>> complaint(control.eigenvalues(0.01), 0.01)
''
>>> control.set_gains(kd=[400.0])
>>> complaint(control.eigenvalues(0.01), 0.01)[:52]
'the gains make the loop unstable at this state: at 1'
"""

from ..equations.control_laws import MODES, Mode
from .contact import REACTIONS, Contact, ContactDetector, Reaction, Thresholds
from .controller import Controller
from .default_gains import default_gains
from .external_wrench import ExternalWrench, WrenchEstimator, wrench_at
from .observer import Observer
from .payload_estimate import Payload, PayloadEstimator
from .sampled import complaint, growth, loop_eigenvalues

__all__ = [
    "MODES", "REACTIONS", "Contact", "ContactDetector", "Controller", "ExternalWrench", "Mode",
    "Observer", "Payload", "PayloadEstimator", "Reaction", "Thresholds", "WrenchEstimator",
    "complaint", "default_gains", "growth", "loop_eigenvalues", "wrench_at",
]  # fmt: skip
