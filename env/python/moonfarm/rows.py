"""The rows of a dataset by their numbers: ds[i] and ds[i:j]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import arguments
from .reading import Batch, list_ends

if TYPE_CHECKING:
    from .dataset import Dataset

_MOST_PARTS = 1 << 20  # of an epoch


class Rows:
    """Reads rows by their numbers; it keeps the episode that was read last."""

    def __init__(self, of: Dataset) -> None:
        self._of = of
        self._parts = min(of.num_episodes, _MOST_PARTS)
        counts = [np.zeros(0, np.uint64)]
        for batch in of.batches(1 << 16, columns=["episode"], play=False):
            counts.append(batch["episode"])
        # Part p of the parts has the episodes from num_episodes*p//parts on.
        episode = np.concatenate(counts).astype(np.int64)
        ends = [of.num_episodes * (p + 1) // self._parts for p in range(self._parts)]
        self._ends: NDArray[np.int64] = np.searchsorted(episode, ends)
        self._kept: tuple[int, Batch] = (-1, {})

    def _part(self, part: int) -> Batch:
        """Returns all rows of a part."""
        if self._kept[0] != part:
            first = self._ends[part - 1] if part else 0
            size = max(1, int(self._ends[part] - first))
            reader = self._of.batches(size, part=part, parts=self._parts, play=True)  # reading the files would decode the whole shard
            self._kept = part, next(reader)
            reader.close()
        return self._kept[1]

    def each(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Returns the rows with these numbers. Each episode is read once."""
        found: dict[int, dict[str, Any]] = {}
        for i in sorted(set(numbers)):
            found[i] = {name: a.copy() for name, a in alone(self.between(i, i + 1)).items()}  # not the memory of the whole episode
        return [found[i] for i in numbers]

    def between(self, first: int, end: int) -> Batch:
        """Returns the rows from first to before end, at least one."""
        pieces = []
        part = int(np.searchsorted(self._ends, first, "right"))
        while first < end:
            before = int(self._ends[part - 1]) if part else 0
            until = min(end, int(self._ends[part]))
            pieces.append(cut(self._part(part), first - before, until - before))
            first, part = until, part + 1
        return pieces[0] if len(pieces) == 1 else joined(pieces)


def number(i: Any, rows: int) -> int:
    """Returns the number of a row, from 0; -1 is the last. IndexError: the row does not exist."""
    k = arguments.whole("row", i, -(2**63), 2**63 - 1)
    if not -rows <= k < rows:
        raise IndexError(f"row: there is no row {k}, there are {rows}")
    return k % rows


def cut(batch: Batch, first: int, end: int) -> Batch:
    """Returns some rows of a batch."""
    out: Batch = {}
    ends = list_ends(batch)
    for name, array in batch.items():
        if name in ends:  # values of a list
            bounds = batch[ends[name]]
            out[name] = array[bounds[first] : bounds[end]]
        elif name in ends.values():
            out[name] = array[first : end + 1] - array[first]
        else:
            out[name] = array[first:end]
    return out


def joined(pieces: list[Batch]) -> Batch:
    """Returns the rows of several batches."""
    out: Batch = {}
    ends = list_ends(pieces[0])
    for name in pieces[0]:
        arrays = [piece[name] for piece in pieces]
        if name in ends.values():
            joined = [arrays[0]]
            for array in arrays[1:]:
                joined.append(array[1:] + joined[-1][-1])
            arrays = joined
        out[name] = np.concatenate(arrays)
    return out


def alone(batch: Batch) -> dict[str, Any]:
    """Returns the one row of a batch, its arrays without the first dimension; lists as they are."""
    ends = list_ends(batch)
    return {name: a if name in ends else a[0] for name, a in batch.items() if name not in ends.values()}
