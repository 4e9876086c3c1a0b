"""The symmetries of the games: rows as the mirrored game shows them, to learn from and to check encoders with.

    mirror = symmetry(envs)  # None: the form has none
    batch = mirror.rows(batch)

| game and form | symmetry |
|---|---|
| towerdefence | the rows are upside down |
| terminal, cells | x becomes 27 − x |
| codecraft | x and y change places, as seen from the own corner |
| tron | the rows are upside down |

Positions and legal choices are mirrored without an exception. After them a mirrored game may take another course by
rules that are not symmetric:

  - towerdefence: a tesla tower destroys the topmost of several buildings of a column in its three rows (3.10). That changes
    0.8 % of the turns of the script tesla against random players, 0.3 % of those of random players, and at most 0.02 % of
    those of other scripts.
  - terminal: purchases come in a fixed order of the cells. So units have other ids, by which they shoot one after the other
    (3.11), and which are the last tie of targets (3.12); and of two ways, after a structure fell, units take the left one
    (3.5). That changes up to 1.5 % of the turns of scripts. Where the purse is too small for an action, as it is for
    all actions of the policy random, other parts of it are left out.
  - codecraft: random draws (2.10), and ids, which are the last tie of the choices focus and mend: nearly every tick differs.
  - tron: none.

A player who prefers one of two equal choices, such as the left one, would not choose the mirrored one in the mirrored
position.

Terminal's form orders has no symmetry. The choices of a turn are made in ascending order, and in each row of cells
from the left. So the mirrored choices come in another order, in which the rows within the turn show other positions, and a
row does not say which choices follow. Of the labels of scripts a third would be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import unpack_masks

Array = NDArray[Any]
Rows = dict[str, Array]
Mirror = Callable[[Array], Array]

# Columns that name cells, choices or states in ways that no Symmetry mirrors.
_REFUSED = ("packed", "key", "orders", "opponent", "search_policy", "search_choices")


class Described(Protocol):
    """What a symmetry reads of a VectorEnv."""

    description: dict[str, Any]


def symmetry(envs: Described) -> Symmetry | None:
    """Returns the symmetry of the game and form of a vector, or None if they have none."""
    d = envs.description
    game, form = d["game"], d["form"]
    if game == "towerdefence":  # five orders for each own cell, then two without a cell
        cells = np.arange(5 * 8 * 8).reshape(5, 8, 8)[:, ::-1]
        return Reflection(-2, np.append(cells, [320, 321]))
    if game == "tron":  # straight on, left, right
        return Reflection(-2, np.array([0, 2, 1]))
    if game == "terminal" and form == "cells":
        edges = np.arange(84).reshape(14, 2, 3)[:, ::-1].ravel()  # left and right edge of each row, three kinds of units each
        cells = np.concatenate([84 + np.arange(y * (y + 1), (y + 1) * (y + 2))[::-1] for y in range(14)])
        heads = np.append(edges, cells)
        choices = np.split(np.arange(sum(d["heads"])), np.cumsum(d["heads"])[:-1])
        return Reflection(-1, np.concatenate([choices[h] for h in heads]), heads)
    if game == "codecraft":
        return Transposition(d)
    return None


class Symmetry:
    """A symmetry of a game: by the rules a position is worth what its mirror image is worth."""

    def rows(self, batch: Mapping[str, Array]) -> Rows:
        """Returns the rows of a batch as the mirrored game shows them. Mirrored twice they are the same again.

        batch: arrays [rows, …] by name, as vectors and datasets have them. Mirrored are planes, the tensors of the
        form, scalars; mask (uint64 [rows, words]) and action_mask (bool [rows, choices]); action, asked and best
        (whole numbers [rows] or [rows, heads], −1: none); shares [rows, choices] and log [rows, heads]; and of transitions the observation
        and mask that come next, next_planes and so on. Arrays with other names are returned as they are, but ValueError names those that would be wrong then, such as packed.
        """
        for name in batch:
            if name in _REFUSED or name.startswith("final_"):
                raise ValueError(f"rows: {name} cannot be mirrored, expected a batch without it")
        mirrors = self._mirrors(batch)
        out = {name: mirrors[name](a) if name in mirrors else a for name, a in batch.items()}
        later = {name[5:]: a for name, a in batch.items() if name.startswith("next_") and name != "next_discount"}
        return {**out, **{"next_" + name: a for name, a in self.rows(later).items()}} if later else out

    def _mirrors(self, batch: Mapping[str, Array]) -> dict[str, Mirror]:
        """Returns the function that mirrors the array of each name."""
        raise NotImplementedError


class Reflection(Symmetry):
    """Mirrors planes along an axis, and choices and heads by fixed tables."""

    def __init__(self, axis: int, choices: Array, heads: Array | None = None) -> None:
        """choices: the place of each choice of all heads in the mirrored game. heads: that of each head, whose choices
        keep their numbers; None: there is only one."""
        self._axis, self._choices, self._heads = axis, choices, heads
        self._numbers = np.append(choices, -1)  # the last is for −1

    def _mirrors(self, batch: Mapping[str, Array]) -> dict[str, Mirror]:
        return {
            "planes": lambda a: np.ascontiguousarray(np.flip(a, self._axis)), "mask": self._mask,
            "action_mask": self._all, "shares": self._all, "action": self._number, "asked": self._number,
            "best": self._number, "log": self._log,
        }  # fmt: skip

    def _all(self, a: Array) -> Array:
        return np.take(a, self._choices, axis=1)

    def _mask(self, a: Array) -> Array:
        n = len(self._choices)
        bits = np.zeros((len(a), 64 * a.shape[1]), np.bool_)
        bits[:, :n] = self._all(unpack_masks(a, n))
        return np.packbits(bits, axis=1, bitorder="little").view("<u8")

    def _number(self, a: Array) -> Array:
        return self._numbers.astype(a.dtype)[a] if self._heads is None else np.take(a, self._heads, axis=1)

    def _log(self, a: Array) -> Array:
        return a if self._heads is None else np.take(a, self._heads, axis=1)


class Transposition(Symmetry):
    """Exchanges x and y in CodeCraft, as seen from the own corner.

    The slots of own entities are in the order of their cells, which changes from row to row, and what a choice of a
    slot means depends on the type of its entity. So a batch needs the observation: own, or planes. Rows in which a
    list is full, with 256 own or 256 other entities, stay as they are: in the mirrored game other entities might be
    in the lists.
    """

    SIDE, SLOTS, CHOICES, PLACES = 80, 256, 128, 44  # PLACES: the first of the choices that depend on the type

    def __init__(self, description: Mapping[str, Any]) -> None:
        rules = dict(line.split("=", 1) for line in description["rules"].splitlines() if "=" in line)
        types = [key[: -len(".size")] for key in rules if key.endswith(".size")]
        self._choices = np.stack([np.arange(self.CHOICES), *(self._choices_of(rules, t) for t in types)])  # 0: no entity
        self._numbers = np.pad(self._choices, ((0, 0), (0, 1)), constant_values=-1)  # the last is for −1
        names = [s["name"] for s in description["scalars"]]
        others = {"right": "left", "left": "right"}  # the players who start at the lower right and at the upper left
        words = [name.split("_") for name in names]
        self._scalars = [names.index("_".join([others.get(first, first), *rest])) for first, *rest in words]
        self._planes = {p["name"]: i for i, p in enumerate(description["planes"])}
        own = {1 + i: "own_" + re.sub("(?<=[a-z])(?=[A-Z])", "_", t).lower() for i, t in enumerate(types)}
        self._own = {kind: self._planes[name] for kind, name in own.items() if name in self._planes}
        self._goals = np.append(0, 1 + np.arange(16).reshape(4, 4).T.ravel()).astype(np.uint8)
        self._owners = np.array([0, 1, 3, 2], np.uint8)

    def _choices_of(self, rules: Mapping[str, str], name: str) -> Array:
        """Returns the choice that each choice of a type becomes."""
        out = np.arange(self.CHOICES)
        out[2:14] = out[2:14].reshape(3, 2, 2)[:, ::-1].ravel()  # right and up, left and down
        out[24:40] = out[24:40].reshape(4, 4).T.ravel()  # regions
        out[41:43] = 42, 41  # the starts at the lower right and at the upper left
        size, at = int(rules[f"{name}.size"]), self.PLACES
        reach = int(rules[f"{name}.attack.attack_range"]) if rules[f"{name}.attack"] == "true" else 0
        if rules[f"{name}.build"] == "true":  # squares beside the entity, direction after direction
            for option in filter(None, rules[f"{name}.build.options"].split(",")):
                end = at + 4 * (size + int(rules[f"{option}.size"]) - 1)
                if end <= self.CHOICES:
                    out[at:end] = out[at:end].reshape(2, 2, -1)[::-1].ravel()
                    at = end
        elif reach > 1 or reach and size > 1:  # cells in range
            cells = _around(size, reach)[: self.CHOICES - at]
            place = {cell: at + i for i, cell in enumerate(cells)}
            out[at : at + len(cells)] = [place.get((y, x), place[x, y]) for x, y in cells]
        return out

    def _mirrors(self, batch: Mapping[str, Array]) -> dict[str, Mirror]:
        if "own" in batch:
            slots = self._listed(batch["own"])
        elif "planes" in batch and "own_corner" in self._planes:
            slots = self._drawn(batch["planes"])
        else:
            raise ValueError(f"rows: expected own or planes, which show the own entities, got {', '.join(batch)}")
        order, types, full = slots
        if "others" in batch:
            full = full | (batch["others"][:, -1, 0] > 0)
        row, slot = np.nonzero(types)
        old, kinds = order[row, slot], types[row, slot]
        of = [(np.flatnonzero(kinds == kind), self._choices[kind]) for kind in np.unique(kinds)]

        def moved(a: Array) -> Array:
            out = np.empty_like(a)
            for entities, choices in of:
                out[entities] = np.take(a[entities], choices, axis=1)
            return out

        def choices(a: Array) -> Array:
            out = a.reshape(len(a), self.SLOTS, self.CHOICES).copy()
            out[row, slot] = moved(out[row, old])
            return out.reshape(a.shape)

        def mask(a: Array) -> Array:
            out = a.reshape(len(a), self.SLOTS, -1).copy()
            bits = moved(unpack_masks(out[row, old], self.CHOICES))
            out[row, slot] = np.packbits(bits, axis=1, bitorder="little").view("<u8")
            return out.reshape(a.shape)

        def number(a: Array) -> Array:
            return self._numbers.astype(a.dtype)[types, np.take_along_axis(a, order, 1)]

        mirrors: dict[str, Mirror] = {
            "own": lambda a: np.take_along_axis(a, order[:, :, None], 1)[:, :, [0, 2, 1, 3, 4, 5, 7, 6, 8, 9, 10, 11]],
            "others": self._others, "map": _transposed, "coarse": _transposed, "planes": self._drawing,
            "scalars": lambda a: a[:, self._scalars], "mask": mask, "action_mask": choices, "shares": choices,
            "action": number, "asked": number, "best": number, "log": lambda a: np.take_along_axis(a, order, 1),
        }  # fmt: skip
        return {name: _except(full, mirror) for name, mirror in mirrors.items()} if full.any() else mirrors

    def _listed(self, own: Array) -> tuple[Array, Array, Array]:
        """Returns for each slot the slot that it had before, and 1 + the type of its entity, both [rows, slots], and
        which rows have no free slot."""
        order = self._order(own)
        return order, np.take_along_axis(own[:, :, 0], order, 1), own[:, -1, 0] > 0

    def _order(self, entities: Array) -> Array:
        """Returns for each entry of a list of entities the entry that it was before, [rows, slots]."""
        kind, x, y = (entities[:, :, i].astype(np.uint16) for i in range(3))
        return np.argsort(np.where(kind > 0, self.SIDE * x + y, self.SIDE**2), axis=1, kind="stable")

    def _drawn(self, planes: Array) -> tuple[Array, Array, Array]:
        """Returns what _listed returns, from planes."""
        cells = planes.reshape(*planes.shape[:2], -1)
        corners = cells[:, self._planes["own_corner"]] > 0
        count = corners.sum(1)
        full = count >= self.SLOTS
        row, cell = np.nonzero(corners & ~full[:, None])
        slot = np.arange(len(row)) - np.searchsorted(row, row)
        after = np.lexsort((cell // self.SIDE, cell % self.SIDE, row))
        order = np.tile(np.arange(self.SLOTS), (len(planes), 1))
        order[row, slot] = slot[after]
        types = np.zeros_like(order)
        there = np.stack([cells[row, plane, cell[after]] for plane in self._own.values()], 1) > 0
        types[row, slot] = np.array([*self._own])[there.argmax(1)]
        return order, types, full

    def _others(self, others: Array) -> Array:
        out = np.take_along_axis(others, self._order(others)[:, :, None], 1)[:, :, [0, 2, 1, 3, 4, 5]]
        out[:, :, 5] = self._owners[out[:, :, 5]]
        return out

    def _drawing(self, planes: Array) -> Array:
        out = _transposed(planes)
        for name, table in (("owner", self._owners), ("own_goal", self._goals)):
            out[:, self._planes[name]] = table[out[:, self._planes[name]]]
        return out


def _transposed(a: Array) -> Array:
    return np.ascontiguousarray(a.swapaxes(-1, -2))


def _except(kept: Array, mirror: Mirror) -> Mirror:
    """Returns a function that mirrors all rows but some."""
    return lambda a: np.where(kept.reshape(-1, *[1] * (a.ndim - 1)), a, mirror(a))


def _around(size: int, reach: int) -> list[tuple[int, int]]:
    """Returns the cells in range of a square of that size at (0, 0): the nearest first, equally near ones row by row."""
    side = range(-reach, size + reach)
    gap = {(x, y): sum(max(0, -v, v - size + 1) for v in (x, y)) for y in side for x in side}
    return sorted((cell for cell in gap if 0 < gap[cell] <= reach), key=gap.__getitem__)
