"""Dry friction of joints."""
