"""Edits of robots: each takes a model and returns a new one.

What a model carries follows the edit (loops, couplings, mimics, choices, home, shapes, elements for
other programs), or the edit is refused in words. Whether loops can be closed afterwards is asked
when a `Robot` is made of the model; its own methods (`Robot.locked`, ...) do that at once.
"""

from .attach import attached, without
from .change import with_joint
from .elastic import with_elastic_link
from .lock import locked
from .rename import prefixed, renamed
from .transformed import mirrored, scaled

__all__ = [
    "attached",
    "locked",
    "mirrored",
    "prefixed",
    "renamed",
    "scaled",
    "with_elastic_link",
    "with_joint",
    "without",
]
"""The edits of a model."""
