"""Constraints between the fields of a point: what follows from others, and what must hold."""

from __future__ import annotations

import difflib
import graphlib
from collections.abc import Mapping, Sequence
from typing import Any

from memsim.studies.expressions import Expression
from memsim.support.errors import InputError


class Constraints:
    """The expressions of a study.

    Args:
        follow: by field, the text that its value is computed from.
        require: texts that must be true of a point.
        where: what errors name.

    Raises:
        InputError: an expression that is not understood, or fields that follow from each other.
    """

    def __init__(self, follow: Mapping[str, str], require: Sequence[str], where: object) -> None:
        self._where = where
        parsed = {name: self._parsed(f"follow.{name}", text) for name, text in follow.items()}
        graph = {name: expression.names & set(parsed) for name, expression in parsed.items()}
        try:
            self._follow = {name: parsed[name] for name in graphlib.TopologicalSorter(graph).static_order()}
        except graphlib.CycleError as error:
            names = " and ".join(dict.fromkeys(error.args[1]))
            raise InputError(where, "follow", f"has {names}, which follow from each other") from None
        self._require = {f"require[{k}]": self._parsed(f"require[{k}]", text) for k, text in enumerate(require)}

    def check_names(self, known: set[str]) -> None:
        """Refuse expressions over names that are no fields.

        Raises:
            InputError: naming the expression and what was probably meant.
        """
        for name, expression in self._follow.items():
            self._check_names(f"follow.{name}", expression, known)
        for field, expression in self._require.items():
            self._check_names(field, expression, known)

    def followed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that follow, given all others.

        Raises:
            InputError: one cannot be computed.
        """
        found: dict[str, Any] = {}
        for name, expression in self._follow.items():
            found[name] = self._computed(f"follow.{name}", expression, {**values, **found})
        return found

    def hold(self, values: Mapping[str, Any]) -> bool:
        """Whether a point satisfies all that is required.

        Raises:
            InputError: an expression that cannot be computed.
        """
        if not self._require:
            return True
        values = {**values, **self.followed(values)}
        return all(self._computed(field, expression, values) for field, expression in self._require.items())

    def _parsed(self, field: str, text: str) -> Expression:
        try:
            return Expression(text)
        except ValueError as error:
            raise InputError(self._where, field, str(error)) from None

    def _check_names(self, field: str, expression: Expression, known: set[str]) -> None:
        for name in sorted(expression.names - known):
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
            raise InputError(self._where, field, f"uses {name}, which is unknown; did you mean {near}?")

    def _computed(self, field: str, expression: Expression, values: Mapping[str, Any]) -> Any:
        try:
            return expression(values)
        except ValueError as error:
            raise InputError(self._where, field, str(error)) from None
