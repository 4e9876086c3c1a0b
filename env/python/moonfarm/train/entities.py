"""The network for CodeCraft's form entities."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from .bodies import Cells, Dense, Kind, Place, Said, Seen


class Entities(Cells):
    """A network for CodeCraft's form entities: the choice of an entity depends on its own row, on the map's codes around
    it, on the enemies that can shoot it and the strength of both sides around them, on the coarse counts around it and of
    the whole map, and on the scalars."""

    inputs = ["own", "others", "map", "coarse", "scalars"]
    temperature, most = 0.5, 96  # at which it should play; see Body
    PLACES, RARE, EVEN = 44, 20.0, 0.3  # the first choice of a place, the weight of labels from there on, a power of rarity
    TYPES, ACTIONS, CODES, DEPTH, SIZE, SQUARE = 11, 8, 16, 4, 80, 8
    # Types as in the lists. Of those that fight also the strength of a healthy one, in ranged units, and its health.
    FIGHTERS, MELEE, TURRET, UNITS = ((6, 0.8, 50.0), (8, 1.0, 10.0), (10, 3.0, 100.0)), 6, 10, (4, 6, 8)
    FOES, ARMY, ABOUT = 64, 96, 15 + 13  # the most enemies and own fighters; numbers about enemies
    VACANT, WORKED = 17, 18  # codes: an empty cell beside a resource, and an own builder unit beside one

    def __init__(
        self, envs: moonfarm.VectorEnv, width: int, value: bool, players: int = 0, memory: int = 0, reach: int = 5, far: int = 2
    ) -> None:
        """reach: cells seen in each direction; the squares beside a base are up to 5 away. far: likewise squares of the counts."""
        super().__init__(envs, players, memory)
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
