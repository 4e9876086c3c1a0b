"""The networks, and all in them that depends on the game or form.

make() chooses a body for a game and form: Network for heads of cells, Tower for Tower Defence, Orders for Terminal's
form orders, Entities for CodeCraft's form entities. write() writes it as an ONNX file that moonfarm plays.
"""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from .bodies import Body, Cells, Dense, Kind, Place, Seen, write_onnx
from .entities import Entities


def make(envs: moonfarm.VectorEnv, width: int, value: bool = True, players: int = 0, plain: bool = False, memory: int = 0) -> Body:
    """Returns a body for the game and form of a vector. width: of its larger layers. plain: Network for Tower Defence, too."""
    d = envs.description
    if d["form"] == "entities":
        return Entities(envs, width, value, players, memory)
    if d["form"] == "orders":
        return Orders(envs, width, value, players, memory)
    if d["game"] == "towerdefence" and not plain:
        return Tower(envs, max(8, width // 16), 4, value, players, memory).to(memory_format=torch.channels_last)  # faster on CPUs
    return Network(envs, width, value, players, memory)


def write(body: Body, envs: moonfarm.VectorEnv, file: Path) -> None:
    """Writes a body as ONNX, with the weights of its linear layers as float16."""
    body = copy.deepcopy(body).cpu().to(memory_format=torch.contiguous_format).eval()
    for layer in body.modules():
        if isinstance(layer, Dense):
            layer.weight.data = layer.weight.data.half()
    d = envs.description
    dims = {t["name"]: t["dims"] for t in d["tensors"]}
    dims["planes"] = [len(d["planes"]), d["height"], d["width"]]
    dims |= {"scalars": [len(d["scalars"])]}
    inputs, outputs = body.inputs, ["policy"] if getattr(body, "value", None) is None else ["policy", "value"]
    if body.memory:
        inputs, outputs, dims["state_memory"] = [*inputs, "state_memory"], [*outputs, "next_state_memory"], [body.memory]
    write_onnx(body, tuple(torch.zeros(1, *dims[name]) for name in inputs), file, inputs, outputs, folding=False)


def places(game: str, envs: moonfarm.VectorEnv) -> list[Place]:
    """Returns the cells that the heads of a game refer to, or the whole board if that is unknown."""
    if game == "terminal":  # three kinds of mobile units come from the edges, structures are on all own cells
        edges = [28 * y + x for y in range(14) for x in (13 - y, 14 + y)]
        own = [28 * y + x for y in range(14) for x in range(13 - y, 15 + y)]
        return [Place([Kind(k, 3) for k in range(3)], 28, edges), Place([Kind(84, 1)], 210, own)]
    if game == "codecraft":  # a head for each own entity
        names = [p["name"] for p in envs.description["planes"]]
        return [Place([Kind(0, 1)], len(envs.heads), plane=names.index("own_corner"))]
    return [Place([Kind(h, 0) for h in range(len(envs.heads))])]


class Network(Cells):
    """A network for the form cells of any game: the output for a cell depends on the cells near it, on its position, and
    on the whole observation."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int, value: bool, players: int = 0, memory: int = 0, reach: int = 2) -> None:
        super().__init__(envs, players, memory)
        d = envs.description
        self.places, self.reach = places(d["game"], envs), reach
        self.local = self.places[0].count > 1
        self.shape = inputs, height, breadth = len(d["planes"]), d["height"], d["width"]
        board: list[nn.Module] = []
        while inputs * height * breadth > 10_000:  # reduce large boards first
            board += [nn.Conv2d(inputs, 32, 3, stride=2, padding=1), nn.ReLU()]
            inputs, height, breadth = 32, (height + 1) // 2, (breadth + 1) // 2
        self.board = nn.Sequential(*board, nn.Flatten())
        inputs = inputs * height * breadth + 2 * self.numbers_in
        self.trunk = nn.Sequential(Dense(inputs, width), nn.ReLU(), Dense(width, width), nn.ReLU())
        self.value = Dense(width, 1, 0.1) if value else None
        if self.local:
            numbers, width = width + 7 * self.numbers_in, min(width, 128)
            self.all = Dense(numbers, width)
            self.near = Dense(self.shape[0] * (2 * reach + 1) ** 2, width)
            self.where = nn.Embedding(self.shape[1] * self.shape[2], width)
            nn.init.zeros_(self.where.weight)
            self.mix = nn.Sequential(nn.ReLU(), Dense(width, width), nn.ReLU())
        self.readouts(width, self.local)

    def see(self, tensors: dict[str, Tensor], mask: Tensor | None = None) -> Seen:
        planes, scalars = tensors["planes"].float() * self.plane_scale, self.scaled(tensors)
        h = self.trunk(torch.cat([self.board(planes), scalars, torch.clamp(10 * scalars, 0, 2)], 1))  # prices are small numbers
        value = None if self.value is None else torch.tanh(self.value(h))[:, 0]
        if self.local:  # affordable choices depend on small differences, which waves of several lengths show
            waves = [wave(k * scalars) for k in (4.0, 16.0, 64.0) for wave in (torch.sin, torch.cos)]
            h = self.all(torch.cat([h, scalars, *waves], 1))
        return Seen(mask, value, (planes, h))

    def cells(self, place: Place, planes: Tensor) -> Tensor:
        """Returns the cells of a place, [rows, count]; -1 where there are fewer."""
        if place.plane is None:
            return torch.tensor(place.cells or [0], device=planes.device).expand(planes.shape[0], -1)
        there = (planes[:, place.plane] > 0).flatten(1)
        last = self.shape[1] * self.shape[2] - 1
        early, _ = (there * torch.arange(last + 1.0, 0.0, -1.0, device=planes.device)).topk(place.count, 1)
        return torch.where(early > 0, last + 1 - early, torch.full_like(early, -1.0)).long()

    def there(self, place: Place, seen: Seen) -> Tensor:
        return self.cells(place, seen.parts[0]) >= 0

    def features(self, seen: Seen, place: Place, rows: Tensor, which: Tensor) -> Tensor:
        planes, h = seen.parts
        if not self.local:
            return h[rows]
        cells = self.cells(place, planes)[rows, which]
        board = F.pad(planes, [self.reach] * 4)
        side = torch.arange(2 * self.reach + 1, device=rows.device)
        near = (side[:, None] * board.shape[3] + side).flatten()
        corner = cells.div(self.shape[2], rounding_mode="floor") * board.shape[3] + cells % self.shape[2]
        near = board.permute(0, 2, 3, 1).flatten(1, 2)[rows[:, None], corner[:, None] + near].flatten(1)
        return self.mix(self.near(near) + self.where(cells) + h[rows])

    def everywhere(self, seen: Seen, place: Place) -> Tensor:
        planes, h = seen.parts
        if not self.local:
            return h
        (depth, _, breadth), side = self.shape, 2 * self.reach + 1
        board = F.pad(planes, [self.reach] * 4)
        wide, steps = breadth + 2 * self.reach, torch.arange(side, device=h.device)
        cells = self.cells(place, planes).clamp(min=0)
        corner = cells + cells.div(breadth, rounding_mode="trunc") * (wide - breadth)
        index = (corner[:, :, None, None] + steps[:, None] * wide + steps).flatten(1)
        board = board.permute(0, 2, 3, 1).flatten(1, 2)
        near = board.gather(1, index[:, :, None].expand(-1, -1, depth))
        near = self.near(near.reshape(-1, side * side * depth)).view(-1, place.count, self.near.weight.shape[0])
        return self.mix((near + self.where(cells) + h[:, None]).flatten(0, 1))


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


class Tower(Body):
    """A residual tower for Tower Defence.

    The choices are five orders for each cell of the own half, which is the left one, then two without a cell.
    """

    ORDERS, WIDTH, OTHERS = 5, 8, 2

    def __init__(
        self, envs: moonfarm.VectorEnv, channels: int, blocks: int, value: bool = True, players: int = 0, memory: int = 0
    ) -> None:
        super().__init__(envs, players, memory)
        d = envs.description
        if envs.heads != [self.ORDERS * d["height"] * self.WIDTH + self.OTHERS]:
            raise SystemExit(f"{d['game']} has the heads {envs.heads}: this network is for Tower Defence")
        self.board = nn.Conv2d(len(d["planes"]), channels, 3, padding=1)
        self.numbers = nn.Sequential(nn.Linear(2 * self.numbers_in, 64), nn.ReLU(), nn.Linear(64, channels))
        self.tower = nn.Sequential(*(Block(channels, i % 2 == 1) for i in range(blocks)))
        self.cell = nn.Conv2d(channels, self.ORDERS, 1)
        self.rest = nn.Sequential(nn.Linear(2 * channels, 64), nn.ReLU())
        self.other, self.value = nn.Linear(64, self.OTHERS), nn.Linear(64, 1) if value else None

    def see(self, tensors: dict[str, Tensor], mask: Tensor | None = None) -> Seen:
        scalars = self.scaled(tensors)
        # Prices are a few hundredths of the scale of energy.
        h = self.numbers(torch.cat([scalars, torch.clamp(10 * scalars, 0, 2)], 1))
        planes = tensors["planes"].float() * self.plane_scale
        x = torch.relu(self.tower(torch.relu(self.board(planes) + h[:, :, None, None])))
        h = self.rest(pooled(x))
        return Seen(mask, None if self.value is None else torch.tanh(self.value(h))[:, 0], (x, h))

    def policy(self, seen: Seen) -> Tensor:
        x, h = seen.parts
        return torch.cat([self.cell(x)[:, :, :, : self.WIDTH].flatten(1), self.other(h)], 1)


class Worth(nn.Module):
    """A value: a sum over the inputs, such as health and structures, and a small layer over what the other layers found in
    them."""

    def __init__(self, inputs: int, found: int, width: int = 32) -> None:
        super().__init__()
        self.sum, self.hidden, self.last = Dense(inputs, 1, 0.1), Dense(found, width), Dense(width, 1, 0.1)

    def forward(self, x: Tensor, found: Tensor) -> Tensor:
        return self.sum(x) + self.last(torch.relu(self.hidden(found)))


class Orders(Body):
    """A network for Terminal's form orders: layers over all cells of the arena, and over the scalars.

    Convolutions learned a tenth as much in the same time: which orders are good depends on the paths across the whole
    board, and cells of the arena mean the same in all games.
    """

    OWN = ("own_wall", "own_support", "own_turret", "upgraded", "removal", "ordered")
    ENEMY = ("enemy_wall", "enemy_support", "enemy_turret", "upgraded", "removal")
    EDGE = ("own_scouts", "own_demolishers", "own_interceptors")
    UNITS = 41  # columns for the whole units of a purse

    def __init__(self, envs: moonfarm.VectorEnv, width: int, value: bool, players: int = 0, memory: int = 0) -> None:
        super().__init__(envs, players, memory)
        d = envs.description
        own = [28 * y + x for y in range(14) for x in range(13 - y, 15 + y)]
        edge = [28 * y + x for y in range(14) for x in (13 - y, 14 + y)]
        enemy = [783 - cell for cell in own]
        planes = {p["name"]: (i, float(p["scale"])) for i, p in enumerate(d["planes"])}
        read = [(planes[n], cell) for names, cells in ((self.OWN, own), (self.ENEMY, enemy), (self.EDGE, edge)) for n in names for cell in cells]
        self.register_buffer("index", torch.tensor([784 * i + cell for (i, _), cell in read]), persistent=False)
        self.register_buffer("index_scale", torch.tensor([1 / scale for (_, scale), _ in read]), persistent=False)
        self.given = [s["name"] for s in d["scalars"]].index("orders")  # in the turn
        self.purses = [i for i, s in enumerate(d["scalars"]) if s["unit"] in ("cores", "bits")]
        width = max(16, 3 * width // 8)
        rules = dict(line.split("=", 1) for line in d["rules"].splitlines() if "=" in line)
        whole = torch.tensor([[float(rules[f"unitInformation.{k}.{of}startHealth"]) for k in range(3)] for of in ("", "upgrade.")])
        self.register_buffer("whole", whole.view(2, 3, 1), persistent=False)  # health of new structures, and of upgraded ones
        self.register_buffer("own", torch.tensor(own), persistent=False)
        self.first = Dense(len(read) + self.numbers_in + self.UNITS * len(self.purses) + len(own), width)
        self.second, self.third = Dense(width, width), Dense(width, width, 0.1)
        self.out = Dense(width, envs.choices, 0.1)
        self.value = Worth(self.first.inputs, 3 * width) if value else None

    def begins(self, batch: dict[str, np.ndarray]) -> np.ndarray:
        return np.asarray(batch["scalars"][:, self.given] == 0)

    def see(self, tensors: dict[str, Tensor], mask: Tensor | None = None) -> Seen:
        cells = tensors["planes"].float().flatten(1)[:, self.index]
        cells = cells * self.index_scale + 0.5 * cells.clamp(0, 1)  # what stands there matters more than its health
        purses = torch.floor(tensors["scalars"][:, self.purses])[:, :, None]
        units = (purses == torch.arange(float(self.UNITS), device=cells.device)).float()  # plans depend on prices
        x = torch.cat([cells, self.scaled(tensors), units.flatten(1), self.worn(tensors["planes"])], 1)
        first = torch.relu(self.first(x))
        second = torch.relu(self.second(first))
        h = second + torch.relu(self.third(second))
        value = None if self.value is None else torch.tanh(self.value(x, torch.cat([first, second, h], 1)))[:, 0]
        return Seen(mask, value, (h,))

    def worn(self, planes: Tensor) -> Tensor:
        """Returns 1 for the own cells with a structure that has less than half of its health: these are often replaced."""
        own = planes.float().flatten(2)[:, :, self.own]
        health = own[:, 1:4]
        whole = torch.where(own[:, 7:8] > 0, self.whole[1], self.whole[0])
        return ((health > 0) & (2 * health < whole)).float().amax(1)

    def policy(self, seen: Seen) -> Tensor:
        return self.out(seen.parts[0])
