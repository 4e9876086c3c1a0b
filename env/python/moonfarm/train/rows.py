"""The rows that are learned from: those of searches, mixed, of several datasets."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import moonfarm
from .bodies import Said

if TYPE_CHECKING:
    from .learner import Learner

Rows = dict[str, np.ndarray]
Batch = Union[Rows, dict[str, Tensor]]


def asked(data: moonfarm.Dataset) -> bool:
    """Returns whether a policy was asked (generate --ask). Files without observations do not list the column asked."""
    return bool(data.metadata["job"].get("ask"))


def cross_entropy(said: Said, shares: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the cross-entropy of each head against the shares of its legal choices, and its minimum."""
    shares = shares[said.rows[:, None], said.choices] * (said.logits > -1e9)
    whole = shares.sum(1, keepdim=True)  # less than 1 if no choice stands for some moves' orders
    least = -torch.special.xlogy(shares, shares / whole.clamp(min=1e-9)).sum(1)
    return -(shares * F.log_softmax(said.logits, 1)).sum(1), least


def searched(data: moonfarm.Dataset, seen: list[str], batches: Iterable[Rows]) -> Iterator[Rows]:
    """Yields the rows in which a policy searched, with the shares of all choices; and the choice with the largest share
    in each head, -1 without one. In another form than that of the dataset there are no shares, and the choice that was
    played stands for the best."""
    firsts = np.cumsum([0, *data.heads])[:-1]
    for batch in batches:
        rows = ~np.isnan(batch["search_value"])
        if not rows.any():
            continue
        kept = {name: batch[name][rows] for name in (*seen, "mask", "action", "outcome", "search_value")}
        if "search_policy" not in batch:
            yield {**kept, "best": kept["action"]}
            continue
        shares = data.shares(batch)[rows]
        best = [np.where(of.any(1), of.argmax(1), -1) for of in np.split(shares, firsts[1:], axis=1)]
        yield {**kept, "shares": shares, "best": np.stack(best, 1)}


def mixed(batches: Iterable[Rows], size: int, window: int, part: float, seed: int) -> Iterator[Rows]:
    """Yields a part of the rows, shuffled in a window of that size: rows of an episode are similar."""
    draw, kept, n = np.random.default_rng(seed), list[Rows](), 0

    def shuffled() -> Iterator[Rows]:
        whole = {name: np.concatenate([k[name] for k in kept]) for name in kept[0]}
        for rows in np.array_split(draw.permutation(n), max(n // size, 1)):
            yield {name: a[rows] for name, a in whole.items()}

    for batch in batches:
        rows = draw.random(len(batch["mask"])) < part
        kept.append({name: a[rows] for name, a in batch.items()})
        n += int(rows.sum())
        if n >= window:
            yield from shuffled()
            kept, n = [], 0
    if n:
        yield from shuffled()


class Source:
    """Rows of one dataset, of all players or of one of them, epoch after epoch. of: the number of sources, which share memory."""

    def __init__(self, data: moonfarm.Dataset, learner: Learner, player: int | None, args: argparse.Namespace, of: int) -> None:
        self.data, self.learner, self.player, self.seed, self.epoch = data, learner, player, args.seed, 0
        d = moonfarm.make_vec(data.game, 1, form=data.form).description
        numbers = len(d["planes"]) * d["height"] * d["width"] + sum(data.heads)  # of a row
        self.size = args.batch or min(1024, max(32, 2**22 // numbers))
        self.window = max(self.size, min(2**16, 2**28 // numbers // of))
        # Of long episodes a part, so that a window has rows of several.
        rows = data.metadata["totals"]["rows"]
        self.part = min(1.0, self.window * data.num_episodes / (8 * rows))
        self.label = "asked" if learner.learn == "asked" and asked(data) else "action"
        columns = ["planes", "scalars", "mask", "outcome", self.label]
        if learner.searches:
            columns += [name for name in data.columns if name.startswith("search_")]
        policy = args.policy if player is None else [args.imitate[player]]
        self.read = {
            "columns": columns, "obs": "planes", "validation": args.validation, "seed": args.seed,
            "shuffle": self.window if self.part == 1 else 1, "policy": policy, "outcome": args.outcome,
            "seat": args.seat, "chosen": args.chosen, "opening": self.label == "asked",
        }  # fmt: skip

    def batches(self, split: str, epoch: int) -> Iterator[Rows]:
        """Yields the batches of an epoch."""
        batches: Iterable[Rows] = self.data.batches(self.size, split=split, epoch=epoch, **self.read)
        if self.learner.searches:
            batches = searched(self.data, self.learner.body.inputs, batches)
        if self.learner.learn == "value":
            begins = ((batch, self.learner.body.begins(batch)) for batch in batches)
            batches = ({name: a[rows] for name, a in batch.items()} for batch, rows in begins)
        if self.part < 1:
            batches = mixed(batches, self.size, self.window, self.part, self.seed + epoch)
        for batch in batches:
            if self.learner.learn == "asked":
                batch["asked"] = batch.pop(self.label)
            if self.player is not None:
                batch["player"] = np.full(len(batch["mask"]), self.player)
            yield batch

    def endless(self) -> Iterator[Rows]:
        """Yields the batches to learn from, epoch after epoch, beginning with self.epoch."""
        while True:
            some = False
            for batch in self.batches("train", self.epoch):
                some = True
                yield batch
            self.epoch += 1
            if not some:
                raise SystemExit(f"{self.data.path}: there are no rows to learn from")


def blend(sources: list[Source], size: int, seed: int, pieces: int = 8) -> Iterator[Rows]:
    """Yields batches with rows of several sources, each of which is drawn as often as it has rows."""
    rows = np.array([source.data.metadata["totals"]["rows"] for source in sources], float)
    draw, streams = np.random.default_rng(seed), [source.endless() for source in sources]
    held: list[Rows] = [{} for _ in sources]
    pieces = min(pieces, len(sources))
    while True:
        batch = []
        for i in draw.choice(len(sources), pieces, p=rows / rows.sum()):
            taken, wanted = list[Rows](), -(-size // pieces)
            while wanted:
                if not held[i] or not len(held[i]["mask"]):
                    held[i] = next(streams[i])
                taken.append({name: a[:wanted] for name, a in held[i].items()})
                wanted -= len(taken[-1]["mask"])
                held[i] = {name: a[len(taken[-1]["mask"]) :] for name, a in held[i].items()}
            batch += taken
        yield {name: np.concatenate([piece[name] for piece in batch]) for name in batch[0]}


class Memory:
    """The latest rows that were read, in the memory of the device. A batch is drawn from them in no time, so it can be
    large; a GPU learns faster than datasets can be read."""

    def __init__(self, size: int, device: str) -> None:
        self.size, self.device, self.rows = size, device, 0  # rows: all that were added
        self.kept: dict[str, Tensor] = {}

    def add(self, batch: Rows) -> None:
        """Adds rows, in the place of the oldest ones."""
        at = (self.rows + torch.arange(len(batch["mask"]))).to(self.device) % self.size
        for name, a in batch.items():
            new = torch.from_numpy(a.view(np.uint8) if name == "mask" else a).to(self.device)
            if name not in self.kept:
                self.kept[name] = torch.empty(self.size, *new.shape[1:], dtype=new.dtype, device=self.device)
            self.kept[name][at] = new
        self.rows += len(at)

    def batches(self, size: int, new: int) -> Iterator[dict[str, Tensor]]:
        """Yields batches, half of each drawn from the newest rows, of that number, half from all."""
        part = torch.arange(size, device=self.device) < size // 2
        while True:
            there = min(self.rows, self.size)
            back = torch.rand(size, device=self.device) * torch.where(part, min(new, there), there)
            at = (self.rows - 1 - back.long()) % self.size
            yield {name: a[at] for name, a in self.kept.items()}


def distinct(data: moonfarm.Dataset) -> int:
    """Returns the number of games of a dataset that differ in their orders."""
    games: dict[int, Any] = {}
    for batch in moonfarm.dataset(data.path).batches(1 << 14, columns=["episode", "orders"], play=False):
        ends, orders = batch["order_ends"], batch["orders"]
        firsts = np.flatnonzero(np.diff(batch["episode"], prepend=-1))
        for first, last in zip(firsts, [*firsts[1:], len(batch["episode"])]):
            game = games.setdefault(int(batch["episode"][first]), hashlib.sha256())
            game.update(np.diff(ends[first : last + 1]).tobytes() + orders[ends[first] : ends[last]].tobytes())
    return len({game.digest() for game in games.values()})
