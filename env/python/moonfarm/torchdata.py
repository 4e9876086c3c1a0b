"""Datasets for PyTorch. It is only imported by callers who use torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.utils.data

from .dataset import Dataset


class TorchRows(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """The batches of a dataset as tensors: see Dataset.torch."""

    def __init__(self, of: Dataset, size: int, rank: int | None, world: int | None, options: dict[str, Any]) -> None:
        super().__init__()
        distributed = torch.distributed
        in_use = distributed.is_available() and distributed.is_initialized()
        self.world = world if world is not None else distributed.get_world_size() if in_use else 1
        self.rank = rank if rank is not None else distributed.get_rank() if in_use else 0
        if not 0 <= self.rank < self.world:
            raise ValueError(f"rank: {self.rank} is not one of {self.world}")
        self.path, self.form, self.size, self.options, self.epoch = of.path, of.form, size, options, 0

    def set_epoch(self, epoch: int) -> None:
        """Selects the order of the next epoch. Persistent workers do not notice it."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = torch.utils.data.get_worker_info()
        own, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        part, parts = self.rank * workers + own, self.world * workers
        ds = Dataset(self.path, self.form)
        for batch in ds.batches(self.size, epoch=self.epoch, part=part, parts=parts, **self.options):
            yield {name: torch.from_numpy(a.view(np.int64) if a.dtype == np.uint64 else a) for name, a in batch.items()}
