"""Simulation by fixed steps, for loops at rate."""
