"""Formulations by other authors: the same numbers by another method, one author a file."""

import importlib
import pkgutil

from ..formulation import Formulation, declared


def formulations() -> tuple[Formulation, ...]:
    """All formulations: those of the files of this folder, and those declared elsewhere."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return declared()
