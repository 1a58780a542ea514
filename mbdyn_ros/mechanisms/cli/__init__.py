"""The verb `mbdyn mechanism`."""

from .mechanism import mechanism

__all__ = ["mechanism"]
