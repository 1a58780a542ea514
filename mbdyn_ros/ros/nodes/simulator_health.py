"""The diagnostics of the simulator."""

from __future__ import annotations

from ...errors import MbdynError
from ..node.health import Health
from ..node.refusals import in_words
from .session import Session


class SessionHealth:
    """Examines a simulated robot, once a second."""

    def __init__(self) -> None:
        self._seen = 0.0

    def add(self, session: Session, now: float, timeout: float, health: Health) -> None:
        """Add stale commands, clamped joints, joints beyond their limits, time and energy."""
        motion = session.motion
        stale = session.commands.stale(now, timeout)
        contested = session.commands.contested()
        clamped = session.limits.report()
        beyond = session.beyond_limits()
        if stale:
            health.warnings.append(
                f"no command for {timeout:g} s, zero effort: {', '.join(stale)}"
            )
        if contested:
            health.warnings.append(f"several nodes command in turns: {', '.join(contested)}")
        if clamped:
            health.warnings.append(f"clamped to <limit effort>: {', '.join(clamped)}")
        weak = session.following.saturated()
        if weak:
            health.warnings.append(f"at <limit effort>, does not follow: {', '.join(weak)}")
        sent_beyond = session.commands.beyond()
        if sent_beyond:
            health.warnings.append(f"commanded beyond limits, held there: {', '.join(sent_beyond)}")
        if session.commands.follow and not session.following.ready:
            health.warnings.append("time stands still: compiling what it takes to follow positions")
        if beyond:
            health.warnings.append(f"beyond position limits, no stops now: {', '.join(beyond)}")
        if not motion.ready:
            health.warnings.append("time stands still: compiling equations past a dead centre")
        if motion.changes:
            health.warnings.append(motion.changes[-1])
            motion.changes.clear()
        elapsed, self._seen = motion.time - self._seen, motion.time
        try:
            health.values["energy (J)"] = f"{sum(motion.energy()):.9g}"
        except MbdynError as error:  # after a fault, or just before one
            health.values["energy (J)"] = f"not known: {in_words(error)}"
        health.values.update(
            {
                "simulated time (s)": f"{motion.time:.3f}",
                "simulated time in the last second (s)": f"{max(elapsed, 0.0):.3f}",
                "work of the efforts (J)": f"{session.work:.9g}",
                "lost in impacts and at walls (J)": f"{motion.lost:.9g}",
                "method": motion.method,
                "coordinates": ", ".join(motion.coordinates) or "none",
                "stale": ", ".join(stale) or "none",
                "clamped": ", ".join(clamped) or "none",
            }
        )
