"""Descriptions of robots as files have them, read into a `Model`."""
