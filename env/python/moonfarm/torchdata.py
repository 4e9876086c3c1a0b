"""Datasets for PyTorch. It is only imported by callers who use torch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.utils.data

from .dataset import Dataset
from .exporting import WHICH
from .reading import Batch, rows_in
from .rows import cut, joined

_MOST_WORKERS = 1024


class TorchRows(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """The batches of a dataset as tensors: see Dataset.torch."""

    def __init__(
        self, of: Dataset, size: int, rank: int | None, world: int | None, drop_last: bool, options: dict[str, Any]
    ) -> None:
        super().__init__()
        distributed = torch.distributed
        in_use = distributed.is_available() and distributed.is_initialized()
        self.world = world if world is not None else distributed.get_world_size() if in_use else 1
        self.rank = rank if rank is not None else distributed.get_rank() if in_use else 0
        if not 0 <= self.rank < self.world:
            raise ValueError(f"rank: {self.rank} is not one of {self.world}")
        self.path, self.form, self.size, self.drop_last, self.options = of.path, of.form, size, bool(drop_last), options
        self._of: Dataset | None = of
        self._counts: dict[tuple[int, int, int], int] = {}  # rows of parts
        # Epoch; batches that were had, and the number of workers that counted them (0: they count for all); how often a state was
        # loaded; then for each worker the load that it has gone on from. Workers see it, also those that persist.
        self._shared = torch.zeros(4 + _MOST_WORKERS, dtype=torch.int64).share_memory_()
        self._had = 0  # batches of this process in its latest epoch

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_of": None}  # a process opens it itself

    @property
    def epoch(self) -> int:
        """The number of the epoch."""
        return int(self._shared[0])

    def set_epoch(self, epoch: int) -> None:
        """Selects the order of the next epoch, also in workers that persist."""
        self._shared[0], self._had = epoch, 0

    def state_dict(self) -> dict[str, int]:
        """Returns the place within the epoch: its number, and the batches that this process has made.

        In the process of a worker they are its own. Where a DataLoader has workers, the training loop
        counts the batches of its rank and stores their number as "batches", with "workers" 0.
        """
        worker = torch.utils.data.get_worker_info()
        return {"epoch": self.epoch, "batches": self._had, "workers": 0 if worker is None else worker.num_workers}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Goes on after a state: the next time that its epoch is read, these batches are left out."""
        self._had = state["batches"]
        self._shared[:3] = torch.tensor([state["epoch"], state["batches"], state["workers"]])
        self._shared[3] += 1

    def __len__(self) -> int:
        """Returns the number of batches of this epoch, the same for each rank and any number of workers."""
        rows = [self._rows(rank, self.world) for rank in range(self.world)]
        if not min(rows):
            raise ValueError(f"rank: there are no rows for rank {rows.index(0)} of {self.world}")
        return min(rows) // self.size if self.drop_last else -(-max(rows) // self.size)

    def _rows(self, part: int, parts: int) -> int:
        """Returns the number of rows of a part of the episodes in this epoch: shuffling puts the files in another order."""
        key = (self.epoch if self.options.get("shuffle") else 0, part, parts)
        if key not in self._counts:
            ds = self._dataset()
            which = {name: x for name, x in self.options.items() if name in (*WHICH, "seed")}
            remade = ds._form is not None  # its rows exist only when they are played
            how: dict[str, Any] = {"obs": "none"} if remade else {"play": False}
            how["shuffle"] = min(1, self.options.get("shuffle", 0))
            batches = ds.batches(1 << 16, columns=["seat"], part=part, parts=parts, epoch=key[0], copy=False, **how, **which)
            self._counts[key] = sum(map(rows_in, batches))
        return self._counts[key]

    def _dataset(self) -> Dataset:
        if self._of is None:
            self._of = Dataset(self.path, self.form)
        return self._of

    def _shares(self, workers: int) -> list[int]:
        """Returns the number of batches of each worker: about in proportion to their rows. With few rows only some have a part."""
        rows = [self._rows(self.rank * workers + w, self.world * workers) for w in range(workers)]
        steps = len(self)
        exact = [steps * r / sum(rows) for r in rows]
        shares = [int(x) for x in exact]
        for w in sorted(range(workers), key=lambda w: shares[w] - exact[w])[: steps - sum(shares)]:
            shares[w] += 1
        return shares if workers == 1 or all(shares) else self._shares(workers - 1)

    def _goes_on(self, own: int, shares: list[int]) -> tuple[int, int]:
        """Returns the share that a worker takes, and how many of its batches came before the state that was loaded."""
        epoch, batches, counted, load = self._shared[:4].tolist()
        used = self._shared[4 + own]
        if int(used) == load or epoch != self.epoch:
            return own, 0
        used.fill_(load)
        if counted not in (0, len(shares)):
            raise ValueError(f"state: it is of {counted} workers, here are {len(shares)}")
        if counted or len(shares) < 2:
            return own, batches
        # A DataLoader takes a batch of each worker in turn, of those that have more, and begins with the first.
        turns = [w for _, w in sorted((k, w) for w, share in enumerate(shares) for k in range(share))]
        own = (own + (turns[batches:] or [0])[0]) % len(shares)
        return own, turns[:batches].count(own)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = torch.utils.data.get_worker_info()
        own, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        shares = self._shares(workers) if self.world * workers > 1 else []  # else nobody needs the number of batches
        if shares and own >= len(shares):
            return
        own, out = self._goes_on(own, shares)
        if shares:
            batches = self._batches(self.rank * len(shares) + own, self.world * len(shares), shares[own])
        else:
            batches = (b for b in self._read(0, 1) if not self.drop_last or rows_in(b) == self.size)
        self._had = out
        for batch in itertools.islice(batches, out, None):
            self._had += 1
            yield {name: torch.from_numpy(a.view(np.int64) if a.dtype == np.uint64 else a) for name, a in batch.items()}

    def _read(self, part: int, parts: int) -> Iterator[Batch]:
        return self._dataset().batches(self.size, epoch=self.epoch, part=part, parts=parts, **self.options)

    def _batches(self, part: int, parts: int, steps: int) -> Iterator[Batch]:
        """Yields so many batches of the rows of a part: full ones, or all rows in batches of about equal size."""
        rows = self._rows(part, parts)

        def again() -> Iterator[Batch]:  # a part that has too few rows repeats some
            while rows:
                yield from self._read(part, parts)

        source, pieces, there = again(), list[Batch](), 0
        for k in range(steps):
            size = self.size if self.drop_last else max(1, rows * (k + 1) // steps - rows * k // steps)
            while there < size:
                pieces.append(next(source))
                there += rows_in(pieces[-1])
            whole = pieces[0] if len(pieces) == 1 else joined(pieces)
            yield cut(whole, 0, size)
            pieces, there = [cut(whole, size, there)] if there > size else [], there - size
