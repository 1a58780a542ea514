"""Torques for a UR5, a Panda and a crane, from and to real nodes."""
