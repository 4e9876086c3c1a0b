"""The networks of behaviour_cloning.py, which depend on the game only by the cells of its heads, and of
expert_iteration.py."""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm


def write_onnx(network: nn.Module, example: tuple[Tensor, ...], file: Path, inputs: list[str], outputs: list[str]) -> None:
    """Writes a network as one ONNX file, for batches of any size.

    It uses the older exporter, which needs few packages: up to PyTorch 1.13 none, later onnx. Versions before 2.5 have
    no other; from 2.9 on another is the default, which keeps the weights in a second file. moonfarm reads that form,
    too.
    """
    older = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    axes = {name: {0: "rows"} for name in [*inputs, *outputs]}
    torch.onnx.export(network, example, str(file), input_names=inputs, output_names=outputs, dynamic_axes=axes, **older)


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
            return F.linear(x, self.weight.flatten(1)[:, : self.inputs], self.bias)
        return super().forward(F.pad(x, (0, -self.inputs % 64)).view(len(x), -1, 8, 8)).flatten(1)


def running(x: Tensor, size: int) -> Tensor:
    """Returns the running sums of the last dimension, of that size: a product, because moonfarm has no CumSum."""
    if torch.onnx.is_in_onnx_export():
        return x @ torch.ones(size, size, device=x.device).triu()
    return x.cumsum(-1)


class Kind(NamedTuple):
    """Heads of one meaning at the cells of a place: cell i has head first + step · i."""

    first: int
    step: int
    follows: bool = False  # it has an effect where the place's first kind chooses 1


class Place(NamedTuple):
    """Cells that heads refer to: those listed, or the cells where a plane is set, in order."""

    kinds: list[Kind]
    count: int = 1
    cells: list[int] | None = None
    plane: int | None = None


def places(game: str, envs: moonfarm.VectorEnv) -> list[Place]:
    """Returns the cells that the heads of a game refer to, or the whole board if that is unknown."""
    if game == "terminal":  # three kinds of mobile units come from the edges, structures are on all own cells
        edges = [28 * y + x for y in range(14) for x in (13 - y, 14 + y)]
        own = [28 * y + x for y in range(14) for x in range(13 - y, 15 + y)]
        return [Place([Kind(k, 3) for k in range(3)], 28, edges), Place([Kind(84, 1)], 210, own)]
    if game == "codecraft":  # each own entity's first head says whether it gets an order, the others which
        names = [p["name"] for p in envs.description["planes"]]
        slots = len(envs.heads) // 14
        return [Place([Kind(slots * k, 1, k > 0) for k in range(14)], slots, plane=names.index("own_corner"))]
    return [Place([Kind(h, 0) for h in range(len(envs.heads))])]


class Network(nn.Module):
    """From planes, scalars and mask to a logit for each choice of each head, head after head, and to a value.

    The output for a cell depends on the cells near it, on its position, and on the whole observation.
    """

    def __init__(self, game: str, envs: moonfarm.VectorEnv, width: int, value: bool, reach: int = 2) -> None:
        super().__init__()
        d = envs.description
        self.places, self.sizes, self.reach = places(game, envs), envs.heads, reach
        self.local = self.places[0].count > 1
        self.shape = inputs, height, breadth = len(d["planes"]), d["height"], d["width"]
        scales = [torch.tensor([float(x["scale"]) for x in d[name]]) for name in ("planes", "scalars")]
        self.register_buffer("plane_scale", 1 / scales[0].view(1, -1, 1, 1))
        self.register_buffer("scalar_scale", 1 / scales[1].view(1, -1))
        self.firsts = torch.tensor([0, *itertools.accumulate(envs.heads)])  # the first choice of each head
        board: list[nn.Module] = []
        while inputs * height * breadth > 10_000:  # reduce large boards first
            board += [nn.Conv2d(inputs, 32, 3, stride=2, padding=1), nn.ReLU()]
            inputs, height, breadth = 32, (height + 1) // 2, (breadth + 1) // 2
        self.board = nn.Sequential(*board, nn.Flatten())
        inputs = inputs * height * breadth + len(d["scalars"]) + (0 if self.local else envs.masked_choices)
        self.trunk = nn.Sequential(Dense(inputs, width), nn.ReLU(), Dense(width, width), nn.ReLU())
        self.value = Dense(width, 1, 0.1) if value else None
        if self.local:
            numbers, width = width + 7 * len(d["scalars"]), min(width, 128)
            self.all = Dense(numbers, width)
            self.near = Dense(self.shape[0] * (2 * reach + 1) ** 2, width)
            self.where = nn.Embedding(self.shape[1] * self.shape[2], width)
            nn.init.zeros_(self.where.weight)
            self.mix = nn.Sequential(nn.ReLU(), Dense(width, width), nn.ReLU())
        every = [self.heads(kind, torch.arange(p.count))[1].flatten() for p in self.places for kind in p.kinds]
        self.register_buffer("order", torch.cat(every).argsort(), persistent=False)
        self.sorted = bool((self.order.diff() > 0).all())  # the heads are in the order of their places
        self.out = nn.ModuleList()
        for place in self.places:
            self.out.append(nn.ModuleList(Dense(width, envs.heads[kind.first], 0.1) for kind in place.kinds))
            for kind, dense in zip(place.kinds, self.out[-1]):
                if self.local and not kind.follows:
                    nn.init.constant_(dense.bias[:1], 4)  # most cells get no order

    def see(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns the planes, scaled, the features of the whole observation, and the value if there is one."""
        planes, scalars = planes.float() * self.plane_scale, scalars * self.scalar_scale
        h = self.trunk(torch.cat([self.board(planes), scalars, *([] if self.local else [mask.float()])], 1))
        value = None if self.value is None else torch.tanh(self.value(h))[:, 0]
        if self.local:  # affordable choices depend on small differences, which waves of several lengths show
            waves = [wave(k * scalars) for k in (4.0, 16.0, 64.0) for wave in (torch.sin, torch.cos)]
            h = self.all(torch.cat([h, scalars, *waves], 1))
        return planes, h, value

    def cells(self, place: Place, planes: Tensor) -> Tensor:
        """Returns the cells of a place, [rows, count]; -1 where there are fewer.

        It counts them: topk would do, but moonfarm has no TopK to run the exported network.
        """
        if place.plane is None:
            return torch.tensor(place.cells or [0], device=planes.device).expand(planes.shape[0], -1)
        _, height, breadth = self.shape
        there = (planes[:, place.plane] > 0).float()
        counts = running(there, breadth)  # in each line
        lines = counts[:, :, -1]
        until = running(lines, height)
        counts = counts + (until - lines)[:, :, None]
        nth = torch.arange(1.0, place.count + 1, device=planes.device)[:, None]
        line = (until[:, None, :-1] < nth).sum(2)  # the line of the nth cell
        index = line[:, :, None] * breadth + torch.arange(breadth, device=planes.device)
        counts = counts.flatten(1).gather(1, index.flatten(1)).view(-1, place.count, breadth)
        cells = line * breadth + (counts[:, :, :-1] < nth).sum(2)
        return torch.where(nth[:, 0] > until[:, -1:], torch.full_like(cells, -1), cells)

    def features(self, planes: Tensor, h: Tensor, rows: Tensor, cells: Tensor) -> Tensor:
        """Returns the features for the heads of one cell in each of these rows."""
        if not self.local:
            return h[rows]
        board = F.pad(planes, [self.reach] * 4)
        side = torch.arange(2 * self.reach + 1, device=rows.device)
        near = (side[:, None] * board.shape[3] + side).flatten()
        corner = cells.div(self.shape[2], rounding_mode="floor") * board.shape[3] + cells % self.shape[2]
        near = board.permute(0, 2, 3, 1).flatten(1, 2)[rows[:, None], corner[:, None] + near].flatten(1)
        return self.mix(self.near(near) + self.where(cells) + h[rows])

    def everywhere(self, place: Place, planes: Tensor, h: Tensor) -> Tensor:
        """Returns features() of all cells of a place, row after row; for a missing cell those of the first cell.

        It gathers one index of the board after the other, so that moonfarm, which cannot gather by several indices at
        once, can run the exported network.
        """
        if not self.local:
            return h
        (depth, height, breadth), side = self.shape, 2 * self.reach + 1
        board = F.pad(planes, [self.reach] * 4)
        high, wide = height + 2 * self.reach, breadth + 2 * self.reach
        if place.plane is None:
            cells = torch.tensor(place.cells or [0], device=h.device)
            index = [
                (cell // breadth + y) * wide + cell % breadth + x
                for cell in place.cells or [0] for y in range(side) for x in range(side)
            ]  # fmt: skip
            near = board.flatten(2)[:, :, torch.tensor(index, device=h.device)]
        else:
            cells = self.cells(place, planes).clamp(min=0)
            corner = cells + cells.div(breadth, rounding_mode="trunc") * (wide - breadth)
            steps = torch.arange(side, device=h.device)
            index = (corner[:, :, None, None] + steps[:, None] * wide + steps).flatten(1)
            first = torch.arange(depth, device=h.device) * (high * wide)  # offset of each plane
            near = board.flatten(1).gather(1, (index[:, None] + first[:, None]).flatten(1))
        near = near.view(-1, depth, place.count, side * side).permute(0, 2, 3, 1)
        near = self.near(near.reshape(-1, side * side * depth)).view(-1, place.count, self.near.weight.shape[0])
        return self.mix((near + self.where(cells) + h[:, None]).flatten(0, 1))

    def heads(self, kind: Kind, which: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the logits of a kind's heads at some cells of its place, and their indices among all choices."""
        heads = kind.first + kind.step * which
        firsts = self.firsts.to(which.device)
        return heads, firsts[heads][:, None] + torch.arange(self.sizes[kind.first], device=which.device)

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        planes, h, value = self.see(planes, scalars, mask)
        logits = []
        for place, out in zip(self.places, self.out):
            f = self.everywhere(place, planes, h)
            logits += [dense(f).view(-1, place.count * dense.weight.shape[0]) for dense in out]
        policy = torch.cat(logits, 1)
        if not self.sorted:
            policy = policy[:, self.order]
        return policy if value is None else (policy, value)


class Block(nn.Module):
    """Two convolutions with a skip connection, and optionally pooled features of the whole board between them."""

    def __init__(self, channels: int, whole: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.zeros_(self.second.weight)  # starts as the identity, so it needs no batch norm
        self.whole = nn.Linear(2 * channels, channels) if whole else None

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x))
        if self.whole is not None:
            h = torch.relu(h + self.whole(pooled(h))[:, :, None, None])
        return x + self.second(h)


def pooled(x: Tensor) -> Tensor:
    """Returns mean and maximum of each channel over the board."""
    return torch.cat([F.adaptive_avg_pool2d(x, 1), F.adaptive_max_pool2d(x, 1)], 1).flatten(1)


class Tower(nn.Module):
    """A residual tower for Tower Defence: from planes and scalars to a logit for each choice, and to a value.

    The choices are five orders for each cell of the own half, which is the left one, then two without a cell.
    """

    ORDERS, WIDTH, OTHERS = 5, 8, 2

    def __init__(self, envs: moonfarm.VectorEnv, channels: int, blocks: int) -> None:
        super().__init__()
        d = envs.description
        if envs.heads != [self.ORDERS * d["height"] * self.WIDTH + self.OTHERS]:
            raise SystemExit(f"{d['game']} has the heads {envs.heads}: this network is for Tower Defence")
        scales = [torch.tensor([float(x["scale"]) for x in d[name]]) for name in ("planes", "scalars")]
        self.register_buffer("plane_scale", 1 / scales[0].view(1, -1, 1, 1))
        self.register_buffer("scalar_scale", 1 / scales[1].view(1, -1))
        self.board = nn.Conv2d(len(d["planes"]), channels, 3, padding=1)
        self.numbers = nn.Sequential(nn.Linear(2 * len(d["scalars"]), 64), nn.ReLU(), nn.Linear(64, channels))
        self.tower = nn.Sequential(*(Block(channels, i % 2 == 1) for i in range(blocks)))
        self.cell = nn.Conv2d(channels, self.ORDERS, 1)
        self.rest = nn.Sequential(nn.Linear(2 * channels, 64), nn.ReLU())
        self.other, self.value = nn.Linear(64, self.OTHERS), nn.Linear(64, 1)

    def forward(self, planes: Tensor, scalars: Tensor) -> tuple[Tensor, Tensor]:
        scalars = scalars * self.scalar_scale
        # Prices are a few hundredths of the scale of energy.
        h = self.numbers(torch.cat([scalars, torch.clamp(10 * scalars, 0, 2)], 1))
        x = torch.relu(self.tower(torch.relu(self.board(planes.float() * self.plane_scale) + h[:, :, None, None])))
        h = self.rest(pooled(x))
        cells = self.cell(x)[:, :, :, : self.WIDTH].flatten(1)
        return torch.cat([cells, self.other(h)], 1), torch.tanh(self.value(h))[:, 0]
