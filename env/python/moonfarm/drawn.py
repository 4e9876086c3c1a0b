"""The opponents of the episodes that are shown, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

CALLER = 255  # where a table of opponents has the caller's seat


class Drawn:
    """Who plays against the caller in each game.

    names: of all opponents. table: which of them plays, [games, seats] with CALLER for the
    caller, or [games, 1]; it is read anew in each call. shown: the names that were told last.
    """

    def __init__(self, names: Sequence[str], table: NDArray[Any]) -> None:
        self._names, self._table = np.array([*names], object), table
        self.one = self._names[0] if len(self._names) == 1 and table.shape[1] <= 2 else None
        self.shown = np.full(len(table), self._names[0], object)
        self._was = np.full_like(table, CALLER)

    def tell(self, games: slice) -> NDArray[Any]:
        """The names for these games, an array of str; of several in a game with commas between."""
        if self.one is not None:
            return self.shown[games].copy()
        now, was = self._table[games], self._was[games]
        if now.tobytes() != was.tobytes():
            was[...] = now
            self.shown[games] = self._look_up(now)
        return self.shown[games].copy()

    def _look_up(self, table: NDArray[Any]) -> Any:
        if table.shape[1] <= 2:
            return self._names[table.min(axis=1)]
        return [", ".join(self._names[k] for k in row if k != CALLER) for row in table]


def function_names(functions: Sequence[Callable[..., Any]]) -> list[str]:
    """The names of functions; those of different ones that are called alike have their number behind."""
    names = [str(getattr(f, "__name__", type(f).__name__)) for f in functions]
    alike = {name: {id(f) for f, n in zip(functions, names) if n == name} for name in names}
    return [name if len(alike[name]) == 1 else f"{name}#{functions.index(f)}" for f, name in zip(functions, names)]
