"""The verb `mbdyn mechanism`."""

from .verb import mechanism

__all__ = ["mechanism"]
