"""Points of a robot that touch walls."""
