"""What all networks share: layers, the interface of a body, and ONNX files."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from moonfarm.exporting import whole


def write_onnx(network: nn.Module, example: tuple[Tensor, ...], file: Path, inputs: list[str], outputs: list[str], folding: bool = True) -> None:
    """Writes a network as one ONNX file, for batches of any size. folding: constants are computed beforehand, and so
    weights of float16 become float32.

    It uses the older exporter, which needs few packages: up to PyTorch 1.13 none, later onnx. Versions before 2.5 have
    no other; from 2.9 on another is the default, which keeps the weights in a second file. moonfarm reads that form,
    too.
    """
    older = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    axes = {name: {0: "rows"} for name in [*inputs, *outputs]}
    with whole(file) as part, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constants that the exporter leaves as they are
        torch.onnx.export(
            network, example, str(part), input_names=inputs, output_names=outputs, dynamic_axes=axes,
            do_constant_folding=folding, **older,
        )  # fmt: skip


def save(what: Any, file: Path) -> None:
    """Writes what torch.load reads; the file is replaced when it is complete."""
    with whole(file) as part:
        torch.save(what, part)


def keep(what: Any, file: Path) -> None:
    """Writes JSON; the file is replaced when it is complete."""
    with whole(file) as part:
        part.write_text(json.dumps(what, indent=1))


@contextlib.contextmanager
def reading(file: Path) -> Iterator[None]:
    """Ends the program with one line about the file if the block fails."""
    try:
        yield
    except Exception as e:
        text = " ".join(str(e).split()) or type(e).__name__
        raise SystemExit(
            f"{file}: it is damaged, or of another program, game, form or --width ({text[:160]}): remove it to begin anew"
        ) from None


class Dense(nn.Conv2d):
    """A linear layer, computed as a convolution: up to 30 times as fast where PyTorch lacks a fast library for
    matrices, as Debian's does, and elsewhere no slower."""

    def __init__(self, inputs: int, outputs: int, gain: float = 2**0.5) -> None:
        self.inputs = inputs
        super().__init__((inputs + 63) // 64, outputs, 8)
        nn.init.normal_(self.weight, std=gain / inputs**0.5)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        if x.is_cuda or torch.onnx.is_in_onnx_export():
            return F.linear(x, self.weight.float().flatten(1)[:, : self.inputs], self.bias)
        return super().forward(F.pad(x, (0, -self.inputs % 64)).view(x.shape[0], -1, 8, 8)).flatten(1)


class Seen(NamedTuple):
    """What a body computes once for a batch, before the logits."""

    mask: Tensor | None  # bool [rows, choices]
    value: Tensor | None  # [rows]
    parts: tuple[Tensor, ...]  # features, as the body needs them


class Said(NamedTuple):
    """The network's output for n heads of one kind."""

    rows: Tensor
    heads: Tensor
    choices: Tensor  # [n, size], among those of all heads
    logits: Tensor  # [n, size]; illegal choices have -1e9
    weights: Tensor  # [n], how many similar heads each stands for
    rarity: Tensor | float = 1.0  # [n], inverse to how often the batch has a label


class Body(nn.Module):
    """From an observation to a logit for each choice of each head, head after head, and to a value.

    This class has what all bodies share, and say() for games with one head. inputs: the tensors that it reads, in the
    order of forward(). players: from how many players it learns: which of them it imitates is an input, the tensor
    "player", in the exported network the constant of imitate(). memory: numbers that it remembers of a game from action to
    action, for fog: a GRU over a summary of the observations, which the other layers see beside the scalars.
    """

    inputs = ["planes", "scalars"]
    most = 256  # limit of the cells with the same choice that a batch learns from

    def __init__(self, envs: moonfarm.VectorEnv, players: int = 0, memory: int = 0) -> None:
        super().__init__()
        d = envs.description
        self.sizes = envs.heads
        for name in ("planes", "scalars"):
            scales = torch.tensor([float(x["scale"]) for x in d[name]])
            self.register_buffer(f"{name[:-1]}_scale", 1 / scales.view(1, -1, *[1] * (2 * (name == "planes"))))
        self.players, self.memory, self.numbers_in = players, memory, len(d["scalars"]) + players + memory
        if memory:
            depth = next((t["dims"][0] for t in d["tensors"] if t["name"] == "coarse"), len(d["planes"]))
            self.cell = nn.GRUCell(2 * depth + len(d["scalars"]), memory)
        if players:
            self.register_buffer("player", torch.eye(players)[:1])

    def imitate(self, player: int) -> None:
        """Sets the player that the network imitates where no tensor names one."""
        self.player.copy_(torch.eye(self.players)[player : player + 1])

    def scaled(self, tensors: dict[str, Tensor]) -> Tensor:
        """Returns the scalars, scaled, what is remembered, and the player to imitate."""
        scalars = tensors["scalars"] * self.scalar_scale
        if self.memory:
            scalars = torch.cat([scalars, tensors["memory"]], 1)
        if not self.players:
            return scalars
        if "player" in tensors:
            return torch.cat([scalars, F.one_hot(tensors["player"].long(), self.players).float()], 1)
        return torch.cat([scalars, scalars[:, :1] * 0 + self.player], 1)

    def remember(self, tensors: dict[str, Tensor], begins: Tensor | None = None) -> Tensor:
        """Returns what is remembered after some rows, [rows, memory].

        tensors: also "state_memory", what was remembered before the first of them. begins, bool [steps, games]: the rows are
        those of several steps, step after step, and before a row that begins a game nothing is remembered. None: of one step.
        """
        board = tensors["coarse"].float() / 8 if "coarse" in tensors else tensors["planes"].float() * self.plane_scale
        summary = torch.cat([board.mean((2, 3)), board.amax((2, 3)), tensors["scalars"] * self.scalar_scale], 1)
        state = tensors["state_memory"]
        if begins is None:
            return self.cell(summary, state)
        out = list[Tensor]()
        for x, fresh in zip(summary.split(begins.shape[1]), begins):
            out.append(state := self.cell(x, state * (~fresh)[:, None]))
        return torch.cat(out)

    def begins(self, batch: dict[str, np.ndarray]) -> np.ndarray:
        """Says which rows begin a turn: a search judges no others."""
        return np.ones(len(batch["mask"]), np.bool_)

    def see(self, tensors: dict[str, Tensor], mask: Tensor | None = None) -> Seen:
        """Returns the features and the value of a batch."""
        raise NotImplementedError

    def policy(self, seen: Seen) -> Tensor:
        """Returns the logits of all choices, [rows, choices]."""
        raise NotImplementedError

    def say(self, seen: Seen, labels: Tensor | None = None, most: int = 0) -> Iterator[Said]:
        """Yields the logits of one kind of heads after the other.

        labels [rows, heads]: only of heads that have a label and several legal choices. most: of heads at many cells with
        the same label only about this number, drawn at random, whose weights stand for the others; 0: all.
        """
        logits, legal = self.policy(seen).float(), seen.mask
        rows = torch.arange(logits.shape[0], device=logits.device)
        if labels is not None:
            rows = (counted(labels[:, 0], legal)).nonzero()[:, 0]
            logits, legal = logits[rows], legal if legal is None else legal[rows]
        if legal is not None:
            logits = logits.masked_fill(~legal, -1e9)
        choices = torch.arange(logits.shape[1], device=logits.device).expand(logits.shape)
        if len(rows):
            yield Said(rows, torch.zeros_like(rows), choices, logits, torch.ones_like(rows, dtype=torch.float))

    def cross_entropy(self, said: Said, labels: Tensor) -> Tensor:
        """Returns the loss of heads with these labels, [n]."""
        return F.cross_entropy(said.logits, labels, reduction="none")

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Returns the logits, the value if the body has one, and what is remembered if it has a memory; inputs: self.inputs, and
        what was remembered."""
        named = dict(zip([*self.inputs, "state_memory"], tensors))
        if self.memory:
            named["memory"] = self.remember(named)
        seen = self.see(named)
        return (self.policy(seen), *([] if seen.value is None else [seen.value]), *([named["memory"]] if self.memory else []))


def counted(label: Tensor, legal: Tensor | None) -> Tensor:
    """Says which heads have a label and several legal choices."""
    if legal is None:
        return label >= 0
    return (label >= 0) & (legal.sum(1) > 1) & legal.gather(1, label.clamp(min=0)[:, None])[:, 0]


class Kind(NamedTuple):
    """Heads of one meaning at the cells of a place: cell i has head first + step · i."""

    first: int
    step: int


class Place(NamedTuple):
    """Cells that heads refer to: those listed, or the cells where a plane is set, in order."""

    kinds: list[Kind]
    count: int = 1  # type: ignore[assignment] # tuples have a method of that name
    cells: list[int] | None = None
    plane: int | None = None


class Cells(Body):
    """A body with heads for each of many cells, or entities. self.places has the cells, self.out a layer for each kind."""

    places: list[Place]
    out: nn.ModuleList

    def readouts(self, width: int, quiet: bool) -> None:
        """Makes the layers from features to logits. quiet: they begin by choosing 0 in most heads."""
        every = [self.heads(kind, torch.arange(p.count))[1].flatten() for p in self.places for kind in p.kinds]
        self.register_buffer("order", torch.cat(every).argsort(), persistent=False)
        self.sorted = bool((self.order.diff() > 0).all())  # the heads are in the order of their places
        self.out = nn.ModuleList()
        for place in self.places:
            self.out.append(nn.ModuleList(Dense(width, self.sizes[kind.first], 0.1) for kind in place.kinds))
            for dense in self.out[-1]:
                if quiet:
                    nn.init.constant_(dense.bias[:1], 4)

    def there(self, place: Place, seen: Seen) -> Tensor:
        """Says which cells of a place there are, [rows, count]."""
        raise NotImplementedError

    def features(self, seen: Seen, place: Place, rows: Tensor, which: Tensor) -> Tensor:
        """Returns the features for the heads of one cell of the place in each of these rows."""
        raise NotImplementedError

    def everywhere(self, seen: Seen, place: Place) -> Tensor:
        """Returns features() of all cells of a place, row after row; anything for a missing cell."""
        raise NotImplementedError

    def heads(self, kind: Kind, which: Tensor) -> tuple[Tensor, Tensor]:
        """Returns a kind's heads at some cells of its place, and the indices of their choices among all choices."""
        heads = kind.first + kind.step * which
        firsts = torch.tensor([0, *itertools.accumulate(self.sizes)], device=which.device)
        return heads, firsts[heads][:, None] + torch.arange(self.sizes[kind.first], device=which.device)

    def policy(self, seen: Seen) -> Tensor:
        logits = []
        for place, out in zip(self.places, self.out):
            f = self.everywhere(seen, place)
            logits += [dense(f).view(-1, place.count * dense.weight.shape[0]) for dense in out]
        policy = torch.cat(logits, 1)
        return policy if self.sorted else policy[:, self.order]

    def groups(self, place: Place, seen: Seen) -> Tensor:
        """Returns the group of each cell of a place, from 0, [rows, count]: cells whose orders cannot be compared."""
        return torch.zeros(self.there(place, seen).shape, dtype=torch.long, device=self.order.device)

    def worth(self, place: Place, seen: Seen) -> Tensor:
        """Returns how much is to be learned from the cells of a place, [rows, count], 1 in the mean."""
        return torch.ones(self.there(place, seen).shape, device=self.order.device)

    def chances(self, place: Place, there: Tensor, groups: Tensor, labels: Tensor, most: int, worth: Tensor) -> Tensor:
        """Returns for each cell [rows, count] how likely it is learned from, above 1 for rare choices: of each choice of a
        kind and group about `most` cells are.

        Most cells order nothing, or what all do, and would drown the others.
        """
        every, chances = torch.arange(place.count, device=there.device), torch.zeros(there.shape, device=there.device)
        for kind in place.kinds:
            label = labels[:, self.heads(kind, every)[0]]
            counts = there & (label >= 0)
            label = label.clamp(min=0) + self.sizes[kind.first] * groups
            often = torch.bincount(label[counts], worth[counts], minlength=int(label.max()) + 1)
            chances = torch.maximum(chances, (most / often.clamp(min=1e-3))[label] * worth * counts)
        return chances

    def say(self, seen: Seen, labels: Tensor | None = None, most: int = 0) -> Iterator[Said]:
        for place, out in zip(self.places, self.out):
            wanted = self.there(place, seen)
            weights = rarity = torch.ones_like(wanted, dtype=torch.float)
            if labels is not None and most and place.count > 1:
                groups, worth = self.groups(place, seen), self.worth(place, seen)
                chances = self.chances(place, wanted, groups, labels, most, worth)
                sizes = torch.bincount(groups[wanted], minlength=int(groups.max()) + 1).clamp(min=1)
                weights = worth / chances.clamp(min=1e-9, max=1) * (sizes.max() / sizes).sqrt()[groups]
                rarity = chances / worth.clamp(min=1e-9)
                wanted = wanted & (torch.rand(chances.shape, device=wanted.device) < chances)
            rows, which = wanted.nonzero().unbind(1)
            if not len(rows):
                continue
            weights, rarity = weights[rows, which], rarity[rows, which]
            f = self.features(seen, place, rows, which)
            for kind, dense in zip(place.kinds, out):
                heads, choices = self.heads(kind, which)
                legal = None if seen.mask is None else seen.mask[rows[:, None], choices]
                r, w, rare, of = rows, weights, rarity, f
                if labels is not None:
                    counts = counted(labels[rows, heads], legal)
                    r, w, rare, heads, choices, of = (a[counts] for a in (rows, weights, rarity, heads, choices, f))
                    legal = None if legal is None else legal[counts]
                if len(r):
                    logits = dense(of).float()
                    logits = logits if legal is None else logits.masked_fill(~legal, -1e9)
                    yield Said(r, heads, choices, logits, w, rare)
