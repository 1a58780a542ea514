"""Nodes for piezo robots."""
