"""The opponents: how episodes draw them, and who plays in the current ones, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, library

CALLER = 255  # entry of a table of opponents for the caller's seat


class Drawing:
    """A vector environment whose episodes draw their opponents."""

    _lib: library.Library
    _handle: Any
    _players: list[str | arguments.Policy] | None
    _arguments: dict[str, Any]

    @property
    def opponent_weights(self) -> NDArray[np.float64] | None:
        """How likely each opponent is drawn, in proportion: float64 [opponents]; None if every seat is a row.

        New values, or None for equal ones, are used by the episodes that begin from then on: those that have begun
        keep their opponents, and a block under way uses the values with which it was sent. An opponent of weight 0 is
        not drawn. Behind wrappers of Gymnasium, set envs.unwrapped.opponent_weights.
        """
        if self._players is None:
            return None
        weights = self._arguments["opponent_weights"]
        return np.ones(len(self._players)) if weights is None else np.array(weights)

    @opponent_weights.setter
    def opponent_weights(self, weights: Any) -> None:
        self._open()
        if self._players is None:
            raise ValueError("opponent_weights: there is no opponent, every seat is a row")
        n = len(self._players)
        given = np.ones(n) if weights is None else arguments.weights_of("opponent_weights", weights, n)
        try:
            self._lib.call("mf_set_weights", self._handle, given.ctypes.data)
        except library.ArgumentError as e:
            raise library.ArgumentError(f"opponent_weights: {e}") from None
        self._arguments["opponent_weights"] = given.tolist()  # copies of the environment get them, too

    def _open(self) -> None:
        raise NotImplementedError


class Drawn:
    """The opponents of the caller in some games: those of a block, or all.

    names: of all opponents. table: the opponent in each seat, [games, seats] with CALLER for
    the caller, or [games, 1]; each call reads it anew. previous: an array like table, shared by
    all Drawn of these games, in which current() keeps the table; None: previous() is not used.
    """

    def __init__(self, names: Sequence[str], table: NDArray[Any], previous: NDArray[Any] | None) -> None:
        self._names, self._table, self._previous = np.array([*names], object), table, previous
        self.one: str | None = self._names[0] if len(names) == 1 and table.shape[1] <= 2 else None
        self._key = b""
        self._shown = self._look_up(np.zeros((len(table), 1), np.uint8))

    def current(self) -> NDArray[Any]:
        """Returns the names in an array of str that never changes; several names in a game are joined by commas."""
        if self.one is None:
            if self._previous is not None:
                self._previous[...] = self._table
            key = self._table.tobytes()
            if key != self._key:
                self._key, self._shown = key, self._look_up(self._table)
        return self._shown

    def previous(self) -> NDArray[Any]:
        """Returns the names of the last call of current."""
        return self._shown if self.one is not None or self._previous is None else self._look_up(self._previous)

    def _look_up(self, table: NDArray[Any]) -> NDArray[Any]:
        if table.shape[1] == 1:
            found = self._names[table[:, 0]]
        elif table.shape[1] == 2:
            found = self._names[np.minimum(table[:, 0], table[:, 1])]
        else:
            found = np.array([", ".join(self._names[k] for k in row if k != CALLER) for row in table], object)
        found.flags.writeable = False
        return found


def function_names(functions: Sequence[str | Callable[..., Any]]) -> list[str]:
    """Returns the names of functions, and texts as they are; different functions of the same name get a number."""
    names = [f if isinstance(f, str) else str(getattr(f, "__name__", type(f).__name__)) for f in functions]
    alike = {name: {id(f) for f, n in zip(functions, names) if n == name} for name in names}
    return [name if len(alike[name]) == 1 else f"{name}#{functions.index(f)}" for f, name in zip(functions, names)]
