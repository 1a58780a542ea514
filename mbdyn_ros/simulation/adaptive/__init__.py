"""Simulation by steps of chosen accuracy, from event to event."""
