"""Parameters of a node from one table: declared, described, checked and refused with a reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from ...errors import MbdynError

DOUBLES = Parameter.Type.DOUBLE_ARRAY
STRINGS = Parameter.Type.STRING_ARRAY


class ParameterError(MbdynError, ValueError):
    """A parameter that is refused; the message names it and says what it may be."""


@dataclass(frozen=True)
class Spec:
    """One parameter.

    name, default, description : as the book's ROS reference shows them. A default of type
        DOUBLES or STRINGS is an empty array.
    low, high : bounds of a number, or of every number of an array.
    read_only : whether it is fixed when the node has started.
    check : returns what is wrong with a value, or None.
    """

    name: str
    default: Any
    description: str
    low: float | None = None
    high: float | None = None
    read_only: bool = False
    check: Callable[[Any], str | None] | None = None

    @property
    def is_list(self) -> bool:
        """Whether it is an array of any length, empty by default."""
        return self.default in (DOUBLES, STRINGS)

    def plain(self, value: Any) -> Any:
        """A value of rclpy's as the node reads it: arrays of any length are lists."""
        return list(value) if self.is_list else value

    def complaint(self, value: Any) -> str | None:
        """The fault of a value of the right type, in words, or None."""
        if value is None:
            return f"{self.name} is empty"
        is_array = isinstance(value, Sequence) and not isinstance(value, str)
        for k, number in enumerate(value if is_array else [value]):
            name = f"{self.name}[{k}]" if is_array else self.name
            if not isinstance(number, (int, float)) or isinstance(number, bool):
                break
            if not math.isfinite(number):
                return f"{name} is {number}: every number must be finite"
            low = -math.inf if self.low is None else self.low
            high = math.inf if self.high is None else self.high
            if not low <= number <= high:
                allowed = f"from {low:g} to {high:g}" if high < math.inf else f"{low:g} or more"
                return f"{name} is {number}: it must be {allowed}"
        return self.check(value) if self.check is not None else None

    def descriptor(self) -> ParameterDescriptor:
        """The description that tools such as rqt_reconfigure show."""
        descriptor = ParameterDescriptor(description=self.description, read_only=self.read_only)
        if self.low is not None and self.high is not None:
            if isinstance(self.default, float):
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(self.low), to_value=float(self.high))
                ]
            elif isinstance(self.default, int):
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.low), to_value=int(self.high), step=1)
                ]
        return descriptor


def three_numbers(value: Sequence[float]) -> str | None:
    """Check of a vector parameter."""
    return None if len(value) == 3 else f"it has {len(value)} numbers, not 3 (x, y, z)"


def one_of(choices: Sequence[str]) -> Callable[[str], str | None]:
    """Check of a parameter that is one of some words."""
    return lambda value: None if value in choices else f"{value!r} is not one of {choices}"


class Parameters:
    """The parameters of a node, by name: `parameters["rate"]`. Any thread may read them.

    Parameters
    ----------
    node : where they are declared.
    table : what they are.

    Raises
    ------
    ParameterError
        A value from the command line or a file does not fit.
    """

    def __init__(self, node: Node, table: Sequence[Spec]) -> None:
        self._node = node
        self._table = {spec.name: spec for spec in table}
        self._review: Callable[[Collection[str]], str | None] | None = None
        self._values: dict[str, Any] = {}
        for spec in table:
            self._values[spec.name] = self._declare(spec)
        node.add_on_set_parameters_callback(self._on_set)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def on_change(self, review: Callable[[Collection[str]], str | None]) -> None:
        """Call `review` with the names of parameters set later.

        It finds their new values here and applies them, or returns what is wrong with them: then
        the old values stay.
        """
        self._review = review

    def _declare(self, spec: Spec) -> Any:
        """Declare a parameter; return its value at the start."""
        node, full = self._node, spec.descriptor()
        # Ranges come later, for rclpy would refuse the first value in its own words.
        first = ParameterDescriptor(description=spec.description)
        try:
            value = node.declare_parameter(spec.name, spec.default, first).value
        except InvalidParameterTypeException as error:
            raise ParameterError(f"parameter {spec.name}: {_type_hint(spec, error)}") from None
        except InvalidParameterValueException as error:
            raise ParameterError(f"parameter {spec.name}: {error}") from None
        if value is None and spec.is_list:
            # Not left unset: rclpy answers nothing at all to who asks for it among others.
            value = []
            node.set_parameters([Parameter(spec.name, spec.default, value)])
        value = spec.plain(value)
        complaint = spec.complaint(value)
        if complaint is not None:
            raise ParameterError(f"parameter {_with_name(spec, complaint)}")
        full.type = node.describe_parameter(spec.name).type
        node.set_descriptor(spec.name, full)
        return value

    def _on_set(self, changes: Sequence[Parameter[Any]]) -> SetParametersResult:
        values = {}
        for parameter in changes:
            spec = self._table.get(parameter.name)
            if spec is None:
                continue  # of rclpy itself, such as use_sim_time
            complaint = spec.complaint(parameter.value)
            if complaint is not None:
                return SetParametersResult(successful=False, reason=_with_name(spec, complaint))
            values[parameter.name] = spec.plain(parameter.value)
        before, self._values = self._values, {**self._values, **values}
        reason: str | None = "not applied"
        try:
            reason = self._review(values) if self._review is not None and values else None
        finally:
            if reason is not None:
                self._values = before
        return SetParametersResult(successful=reason is None, reason=reason or "")


def _with_name(spec: Spec, complaint: str) -> str:
    return complaint if complaint.startswith(spec.name) else f"{spec.name}: {complaint}"


def _type_hint(spec: Spec, error: Exception) -> str:
    """The message of rclpy, and what newcomers have usually done."""
    floats = isinstance(spec.default, (float, list)) or spec.default == DOUBLES
    hint = " (write a decimal point: 500.0)" if floats else ""
    return f"{str(error).rstrip('.')}{hint}"
