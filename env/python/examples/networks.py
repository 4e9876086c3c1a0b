"""The networks of the examples, and all in them that depends on the game or form.

make() chooses a body for a game and form: Network for heads of cells, Tower for Tower Defence, Orders for Terminal's
form orders, Entities for CodeCraft's form entities. write() writes it as an ONNX file that moonfarm plays.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from bodies import Body, Dense, Said, Seen, counted, write_onnx


def make(envs: moonfarm.VectorEnv, width: int, value: bool = True, players: int = 0, plain: bool = False) -> Body:
    """Returns a body for the game and form of a vector. width: of its larger layers. plain: Network for Tower Defence, too."""
    d = envs.description
    if d["form"] == "entities":
        return Entities(envs, width, value, players)
    if d["form"] == "orders":
        return Orders(envs, width, value, players)
    if d["game"] == "towerdefence" and not plain:
        return Tower(envs, max(8, width // 16), 4, value, players).to(memory_format=torch.channels_last)  # faster on CPUs
    return Network(envs, width, value, players)


def write(body: Body, envs: moonfarm.VectorEnv, file: Path) -> None:
    """Writes a body as ONNX, with the weights of its linear layers as float16."""
    body = copy.deepcopy(body).cpu().to(memory_format=torch.contiguous_format).eval()
    for layer in body.modules():
        if isinstance(layer, Dense):
            layer.weight.data = layer.weight.data.half()
    d = envs.description
    dims = {t["name"]: t["dims"] for t in d["tensors"]}
    dims["planes"] = [len(d["planes"]), d["height"], d["width"]]
    dims |= {"scalars": [len(d["scalars"])], "mask": [envs.masked_choices]}
    example = tuple(torch.zeros(1, *dims[name]) for name in body.inputs)
    outputs = ["policy"] if getattr(body, "value", None) is None else ["policy", "value"]
    write_onnx(body, example, file, body.inputs, outputs, folding=False)


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


class Cells(Body):
    """A body with heads for each of many cells, or entities. self.places has the cells, self.out a layer for each kind."""

    places: list[Place]
    out: nn.ModuleList

    def readouts(self, width: int, quiet: bool) -> None:
        """Makes the layers from features to logits. quiet: they begin by choosing 0 in most heads."""
        every = [self.heads(kind, torch.arange(p.count))[1].flatten() for p in self.places for kind in p.kinds]
        self.register_buffer("order", torch.cat(every).argsort(), persistent=False)
        self.sorted = bool((self.order.diff() > 0).all())  # the heads are in the order of their places
        self.dependent = any(kind.follows for place in self.places for kind in place.kinds)
        self.out = nn.ModuleList()
        for place in self.places:
            self.out.append(nn.ModuleList(Dense(width, self.sizes[kind.first], 0.1) for kind in place.kinds))
            for kind, dense in zip(place.kinds, self.out[-1]):
                if quiet and not kind.follows:
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
            if kind.follows:
                counts &= labels[:, self.heads(place.kinds[0], every)[0]] == 1
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
                legal = None
                if seen.mask is not None and int(choices.max()) < self.masked:
                    legal = seen.mask[rows[:, None], choices]
                r, w, rare, of = rows, weights, rarity, f
                if labels is not None:
                    counts = counted(labels[rows, heads], legal)
                    if kind.follows:
                        counts &= labels[rows, self.heads(place.kinds[0], which)[0]] == 1
                    r, w, rare, heads, choices, of = (a[counts] for a in (rows, weights, rarity, heads, choices, f))
                    legal = None if legal is None else legal[counts]
                if len(r):
                    logits = dense(of).float()
                    logits = logits if legal is None else logits.masked_fill(~legal, -1e9)
                    yield Said(r, heads, choices, logits, w, kind.follows, rare)


class Network(Cells):
    """A network for the form cells of any game: the output for a cell depends on the cells near it, on its position, and
    on the whole observation."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int, value: bool, players: int = 0, reach: int = 2) -> None:
        super().__init__(envs, players)
        d = envs.description
        self.places, self.reach = places(d["game"], envs), reach
        self.local = self.places[0].count > 1
        if not self.local:
            self.inputs = ["planes", "scalars", "mask"]
        self.shape = inputs, height, breadth = len(d["planes"]), d["height"], d["width"]
        board: list[nn.Module] = []
        while inputs * height * breadth > 10_000:  # reduce large boards first
            board += [nn.Conv2d(inputs, 32, 3, stride=2, padding=1), nn.ReLU()]
            inputs, height, breadth = 32, (height + 1) // 2, (breadth + 1) // 2
        self.board = nn.Sequential(*board, nn.Flatten())
        inputs = inputs * height * breadth + self.numbers_in + (0 if self.local else envs.masked_choices)
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
        h = self.trunk(torch.cat([self.board(planes), scalars, *([] if self.local else [mask.float()])], 1))
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
        self, envs: moonfarm.VectorEnv, channels: int, blocks: int, value: bool = True, players: int = 0
    ) -> None:
        super().__init__(envs, players)
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

    def mirrored(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns rows with the boards upside down. The rules are symmetric but for the order in which a tesla tower
        looks for a target in its three rows.
        """
        cells = np.arange(self.sizes[0] - self.OTHERS).reshape(self.ORDERS, -1, self.WIDTH)[:, ::-1]
        choices = np.append(cells, np.arange(cells.size, self.sizes[0]))
        bits = np.zeros((len(batch["mask"]), 64 * batch["mask"].shape[1]), np.bool_)
        bits[:, : self.masked] = moonfarm.unpack_masks(batch["mask"], self.masked)[:, choices]
        mask = np.packbits(bits, axis=1, bitorder="little").view("<u8")
        out = {**batch, "planes": np.ascontiguousarray(batch["planes"][:, :, ::-1]), "mask": mask}
        if "shares" in batch:
            out["shares"] = batch["shares"][:, choices]
        for name in {"action", "asked", "best"} & set(batch):
            out[name] = np.where(batch[name] < 0, batch[name], choices[batch[name]])
        return out

    def policy(self, seen: Seen) -> Tensor:
        x, h = seen.parts
        return torch.cat([self.cell(x)[:, :, :, : self.WIDTH].flatten(1), self.other(h)], 1)


class Orders(Body):
    """A network for Terminal's form orders: layers over all cells of the arena, and over the scalars.

    Convolutions learned a tenth as much in the same time: which orders are good depends on the paths across the whole
    board, and cells of the arena mean the same in all games.
    """

    OWN = ("own_wall", "own_support", "own_turret", "upgraded", "removal", "ordered")
    ENEMY = ("enemy_wall", "enemy_support", "enemy_turret", "upgraded", "removal")
    EDGE = ("own_scouts", "own_demolishers", "own_interceptors")
    UNITS = 41  # columns for the whole units of a purse

    def __init__(self, envs: moonfarm.VectorEnv, width: int, value: bool, players: int = 0) -> None:
        super().__init__(envs, players)
        d = envs.description
        own = [28 * y + x for y in range(14) for x in range(13 - y, 15 + y)]
        edge = [28 * y + x for y in range(14) for x in (13 - y, 14 + y)]
        enemy = [783 - cell for cell in own]
        planes = {p["name"]: (i, float(p["scale"])) for i, p in enumerate(d["planes"])}
        read = [(planes[n], cell) for names, cells in ((self.OWN, own), (self.ENEMY, enemy), (self.EDGE, edge)) for n in names for cell in cells]
        self.register_buffer("index", torch.tensor([784 * i + cell for (i, _), cell in read]), persistent=False)
        self.register_buffer("index_scale", torch.tensor([1 / scale for (_, scale), _ in read]), persistent=False)
        self.purses = [i for i, s in enumerate(d["scalars"]) if s["unit"] in ("cores", "bits")]
        width = max(16, 3 * width // 8)
        rules = dict(line.split("=", 1) for line in d["rules"].splitlines() if "=" in line)
        whole = torch.tensor([[float(rules[f"unitInformation.{k}.{of}startHealth"]) for k in range(3)] for of in ("", "upgrade.")])
        self.register_buffer("whole", whole.view(2, 3, 1), persistent=False)  # health of new structures, and of upgraded ones
        self.register_buffer("own", torch.tensor(own), persistent=False)
        self.first = Dense(len(read) + self.numbers_in + self.UNITS * len(self.purses) + len(own), width)
        self.second, self.third = Dense(width, width), Dense(width, width, 0.1)
        self.out = Dense(width, envs.choices, 0.1)
        self.value = Dense(width, 1, 0.1) if value else None

    def see(self, tensors: dict[str, Tensor], mask: Tensor | None = None) -> Seen:
        cells = tensors["planes"].float().flatten(1)[:, self.index]
        cells = cells * self.index_scale + 0.5 * cells.clamp(0, 1)  # what stands there matters more than its health
        purses = torch.floor(tensors["scalars"][:, self.purses])[:, :, None]
        units = (purses == torch.arange(float(self.UNITS), device=cells.device)).float()  # plans depend on prices
        h = torch.relu(self.first(torch.cat([cells, self.scaled(tensors), units.flatten(1), self.worn(tensors["planes"])], 1)))
        h = torch.relu(self.second(h))
        h = h + torch.relu(self.third(h))
        return Seen(mask, None if self.value is None else torch.tanh(self.value(h))[:, 0], (h,))

    def worn(self, planes: Tensor) -> Tensor:
        """Returns 1 for the own cells with a structure that has less than half of its health: these are often replaced."""
        own = planes.float().flatten(2)[:, :, self.own]
        health = own[:, 1:4]
        whole = torch.where(own[:, 7:8] > 0, self.whole[1], self.whole[0])
        return ((health > 0) & (2 * health < whole)).float().amax(1)

    def policy(self, seen: Seen) -> Tensor:
        return self.out(seen.parts[0])


class Entities(Cells):
    """A network for CodeCraft's form entities: the choice of an entity depends on its own row, on the map's codes around
    it, on the enemies that can shoot it and the strength of both sides around them, on the coarse counts around it and of
    the whole map, and on the scalars."""

    inputs = ["own", "others", "map", "coarse", "scalars"]
    temperature, most = 0.5, 96  # at which it should play; see Body
    PLACES, RARE, EVEN = 44, 20.0, 0.3  # the first choice of a place, the weight of labels from there on, a power of rarity
    TYPES, ACTIONS, CODES, DEPTH, SIZE, SQUARE = 11, 8, 16, 4, 80, 8
    # Of the types that fight: type as in the lists, strength of a healthy one in ranged units, health.
    FIGHTERS, MELEE, TURRET, UNITS = ((6, 0.8, 50.0), (8, 1.0, 10.0), (10, 3.0, 100.0)), 6, 10, (4, 6, 8)
    FOES, ARMY, ABOUT = 64, 96, 15 + 13  # the most enemies and own fighters; numbers about enemies
    VACANT, WORKED = 17, 18  # codes: an empty cell beside a resource, and an own builder unit beside one

    def __init__(
        self, envs: moonfarm.VectorEnv, width: int, value: bool, players: int = 0, reach: int = 5, far: int = 2
    ) -> None:
        """reach: cells seen in each direction; the squares beside a base are up to 5 away. far: likewise squares of the counts."""
        super().__init__(envs, players)
        tensors = {t["name"]: t for t in envs.description["tensors"]}
        scale = torch.tensor([float(f["scale"]) for f in tensors["own"]["fields"]])
        self.register_buffer("own_scale", 1 / scale)
        self.reach, self.far, self.places = reach, far, [Place([Kind(0, 1)], len(envs.heads))]
        depth, high, wide = tensors["coarse"]["dims"]
        depth += 1
        whole = depth * high * wide + 7 * self.numbers_in
        self.trunk = nn.Sequential(Dense(whole, width), nn.ReLU(), Dense(width, width), nn.ReLU())
        self.value = Dense(width, 1, 0.1) if value else None
        narrow = min(width, 192)
        self.all = Dense(width, narrow)
        self.codes = nn.Embedding(self.CODES + 3, self.DEPTH)
        self.near = Dense((2 * reach + 1) ** 2 * self.DEPTH, narrow)
        steps = torch.arange(-reach, reach + 1.0)
        self.register_buffer("steps", torch.stack(torch.meshgrid(steps, steps, indexing="ij"), 2).view(-1, 2), persistent=False)  # y, x
        inputs = self.TYPES + self.ACTIONS + len(scale) + 4 + self.ABOUT + 2 * reach + 4
        self.one = Dense(inputs + (2 * far + 1) ** 2 * depth, narrow)
        self.mix = nn.Sequential(nn.ReLU(), Dense(narrow, narrow), nn.ReLU())
        self.readouts(narrow, False)

    def see(self, tensors: dict[str, Tensor], mask: Tensor | None = None) -> Seen:
        codes, scalars = self.work(tensors["map"]), self.scaled(tensors)
        high = wide = self.SIZE // self.SQUARE
        vacant = (codes == self.VACANT).float().view(-1, 1, high, self.SQUARE, wide, self.SQUARE).sum((3, 5))
        coarse = torch.cat([tensors["coarse"].float(), vacant], 1) / self.SQUARE
        waves = [wave(k * scalars) for k in (4.0, 16.0, 64.0) for wave in (torch.sin, torch.cos)]
        h = self.trunk(torch.cat([coarse.flatten(1), scalars, *waves], 1))
        value = None if self.value is None else torch.tanh(self.value(h))[:, 0]
        # Cells outside of the map have a code of their own.
        board = F.pad(codes[:, 0], [self.reach] * 4, value=float(self.CODES)).flatten(1)
        counts = F.pad(coarse, [self.far] * 4).flatten(2).transpose(1, 2)
        own = tensors["own"].float()
        return Seen(mask, value, (own, board, counts, self.all(h), self.foes(own, tensors["others"].float())))

    def work(self, codes: Tensor) -> Tensor:
        """Returns the map with codes for the cells beside resources where a builder unit can work, or does."""
        ore = F.pad((codes == 2).to(codes.dtype), [1] * 4)
        beside = ore[:, :, 2:, 1:-1] + ore[:, :, :-2, 1:-1] + ore[:, :, 1:-1, 2:] + ore[:, :, 1:-1, :-2] > 0
        codes = torch.where(beside & (codes == 1), torch.full_like(codes, self.VACANT), codes)
        return torch.where(beside & (codes == 3), torch.full_like(codes, self.WORKED), codes)

    def workplace(self, codes: Tensor) -> Tensor:
        """Returns where the nearest vacant place to work is near entities, as the crow flies: [n, 2 * reach + 4]."""
        far = 2 * self.reach + 1
        away = (self.steps.abs().sum(1) + 1000 * (codes != self.VACANT).float()).clamp(max=float(far))
        way = self.steps[away.argmin(1)] * (away.amin(1, keepdim=True) < far).float()
        return torch.cat([way / self.reach, (away.amin(1, keepdim=True) == torch.arange(far + 1.0, device=codes.device)).float()], 1)

    def strength(self, units: Tensor) -> Tensor:
        """Returns how strong the units of a list are, [rows, units]; 0 for those that do not fight."""
        strength = torch.zeros_like(units[:, :, 0])
        for kind, worth, health in self.FIGHTERS:
            strength = strength + (units[:, :, 0] == float(kind)).float() * (1 + units[:, :, 3]) * (worth / (1 + health))
        return strength * units[:, :, 4]

    def foremost(self, units: Tensor, weight: Tensor, most: int) -> Tensor:
        """Returns the rows of a list with the largest weights, whole numbers, the first ones of equals."""
        order = torch.arange(1.0, 0.0, -1 / units.shape[1], device=units.device)
        _, index = (weight + order).topk(most, 1)
        return units.gather(1, index[:, :, None].expand(-1, -1, units.shape[2]))

    def foes(self, own: Tensor, others: Tensor) -> Tensor:
        """Returns the enemies, first those that fight, then other units, [rows, FOES, 7]: x, y, attack range, distance to add
        to buildings, strength of their side and of the own one around them, and whether the own one is strong enough to
        attack. Missing ones are far away."""
        unit = sum((others[:, :, 0] == float(kind)).float() for kind in self.UNITS)
        foe = self.foremost(others, 4 * (self.strength(others) > 0).float() + 2 * unit + (others[:, :, 0] > 0).float(), self.FOES)
        army = self.foremost(own, (self.strength(own) > 0).float(), self.ARMY)
        theirs, ours, there = self.strength(foe), self.strength(army), (foe[:, :, 0] > 0).float()
        x, y = (foe[:, :, i] * there - 1000 * (1 - there) for i in (1, 2))

        def around(units: Tensor, strength: Tensor, reach: Tensor | float) -> Tensor:
            steps = (units[:, :, 1, None] - x[:, None]).abs() + (units[:, :, 2, None] - y[:, None]).abs()
            return (strength[:, :, None] * (steps <= reach).float()).sum(1)

        turret = (army[:, :, 0, None] == float(self.TURRET)).float()
        theirs_there, ours_there = around(foe, theirs, 6.0), around(army, ours, 10 - 4 * turret)
        enough = (ours_there >= 0.9 * theirs_there).float()
        fights = (theirs > 0).float()
        reach = 1 + 4 * (foe[:, :, 0] > float(self.MELEE)).float() - 1000 * (1 - fights)
        building = 8 * (1 - sum((foe[:, :, 0] == float(kind)).float() for kind in self.UNITS))
        return torch.stack([x, y, reach, building, theirs_there, ours_there, enough], 2)

    def about(self, own: Tensor, foes: Tensor) -> Tensor:
        """Returns what entities [n, k, fields] have to know of the enemies [n, FOES, 7]: [n, k, ABOUT]."""
        x, y = (foes[:, None, :, i] - own[:, :, i + 1, None] for i in (0, 1))
        steps, reach = x.abs() + y.abs(), foes[:, None, :, 2]
        fighting = steps + 1000 * (reach < 0).float()
        nearest = self.at(foes, fighting.argmin(2))
        target = self.at(foes, (steps + foes[:, None, :, 3]).argmin(2))
        far = fighting.amin(2)[:, :, None].clamp(max=14)
        near = nearest[:, :, 2:].clamp(min=0) / torch.tensor([5.0, 8.0, 10.0, 10.0, 1.0], device=own.device)
        fear = torch.relu(reach + 4 - steps)  # how deep the entity is in the reach of each
        fears = [fear.sum(2), (fear * torch.sign(x)).sum(2), (fear * torch.sign(y)).sum(2), (fighting <= 5.0).float().sum(2)]
        ways = [((of[:, :, :2] - own[:, :, 1:3]) / 10).clamp(-2, 2) for of in (nearest, target)]
        kinds = (far == torch.arange(15.0, device=own.device)).float()
        return torch.cat([kinds, near, *ways, *(f[:, :, None] / 10 for f in fears)], 2)

    def at(self, rows: Tensor, index: Tensor) -> Tensor:
        """Returns the entries [n, k, fields] of lists [n, entries, fields]."""
        return rows.gather(1, index[:, :, None].expand(-1, -1, rows.shape[2]))

    def there(self, place: Place, seen: Seen) -> Tensor:
        return seen.parts[0][:, :, 0] > 0

    def cross_entropy(self, said: Said, labels: Tensor) -> Tensor:
        """The choices of a place, such as that of a new building, have together the teacher's probability when it plays at
        self.temperature. A building is begun by one of many entities in one of many ticks: at a low temperature such
        choices would hardly be made. What is chosen among the places, and among the others, has the teacher's probability
        at temperature 1, and so is sharper in play; rare ones of these are learned with more weight."""
        placed, k = labels >= self.PLACES, 1 / self.temperature
        kinds = torch.stack([torch.logsumexp(k * said.logits[:, of], 1) for of in (slice(self.PLACES), slice(self.PLACES, None))], 1)
        kinds = kinds + torch.tensor([0.0, np.log(self.RARE)], device=kinds.device)  # as rare labels weigh more
        among = (torch.arange(said.logits.shape[1], device=kinds.device) >= self.PLACES) == placed[:, None]
        within = F.cross_entropy(said.logits.masked_fill(~among, -1e9), labels, reduction="none")
        loss = F.cross_entropy(kinds, placed.long(), reduction="none") * torch.where(placed, self.RARE, 1.0)
        return loss + within * said.rarity**self.EVEN

    def worth(self, place: Place, seen: Seen) -> Tensor:
        there = self.there(place, seen)
        worth = there.sum(1, keepdim=True).clamp(min=1) ** -0.5 * there  # early ticks have few entities, and decide much
        return worth / worth[there].mean().clamp(min=1e-9)

    def groups(self, place: Place, seen: Seen) -> Tensor:
        return seen.parts[0][:, :, 0].long()  # types: a row has one builder base, whose choices matter as much as those of all builders

    def entity(self, own: Tensor, codes: Tensor, counts: Tensor, about: Tensor, h: Tensor) -> Tensor:
        """Returns the features of entities, one of each row: own [n, fields], codes [n, cells near it], counts [n, squares near
        it, fields], about [n, ABOUT]."""
        kinds = [(own[:, i, None] == torch.arange(float(n), device=own.device)).float() for i, n in ((0, self.TYPES), (5, self.ACTIONS))]
        at, goal = own[:, 1:3], own[:, 6:8]
        within = at / self.SQUARE - torch.floor(at / self.SQUARE)
        way = torch.clamp((goal - 1 - at) * (goal > 0).float() / 20, -1, 1)
        one = self.one(torch.cat([own * self.own_scale, within, way, *kinds, about, self.workplace(codes), counts.flatten(1)], 1))
        return self.mix(self.near(self.codes(codes).flatten(1)) + one + h)

    def window(self, own: Tensor, square: int, reach: int) -> Tensor:
        """Returns the places near entities in a padded map, [..., places]. square: cells a side of a place; reach: in places."""
        steps = torch.arange(2 * reach + 1, device=own.device)
        wide = self.SIZE // square + 2 * reach
        at = torch.floor(own[..., 1:3] / square).long()
        return (at[..., 1] * wide + at[..., 0])[..., None] + (steps[:, None] * wide + steps).flatten()

    def features(self, seen: Seen, place: Place, rows: Tensor, which: Tensor) -> Tensor:
        own, board, counts, h, foes = seen.parts
        own = own[rows, which]
        codes = board[rows[:, None], self.window(own, 1, self.reach)].long()
        about = self.about(own[:, None], foes[rows])[:, 0]
        return self.entity(own, codes, counts[rows[:, None], self.window(own, self.SQUARE, self.far)], about, h[rows])

    def everywhere(self, seen: Seen, place: Place) -> Tensor:
        own, board, counts, h, foes = seen.parts
        near, far = self.window(own, 1, self.reach), self.window(own, self.SQUARE, self.far)
        codes = board.gather(1, near.flatten(1)).long().view(-1, near.shape[2])
        counts = counts.gather(1, far.flatten(1)[:, :, None].expand(-1, -1, counts.shape[2]))
        rows = h[:, None].expand(-1, own.shape[1], -1).flatten(0, 1)
        about = self.about(own, foes).flatten(0, 1)
        return self.entity(own.flatten(0, 1), codes, counts.view(-1, far.shape[2], counts.shape[2]), about, rows)
