"""Actuators with states of their own: hydraulic cylinders and electric drives."""
