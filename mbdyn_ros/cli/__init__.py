"""The command line `mbdyn`: one file a verb."""

from .group import main

__all__ = ["main"]
