"""Views of the rows of a vector: of one block of its games, or of all."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import arrays

if TYPE_CHECKING:
    from .vector import VectorEnv


class Part:
    """The rows of one block, or of all: views of the arrays, made once."""

    def __init__(self, env: VectorEnv, first: int, games: int) -> None:
        n = env._rows_per_game
        self.first, self.games, self.rows = first, games, games * n
        self.own = slice(first, first + games)
        self.against = env._drawn_in(self.own)
        own, rows = self.own, slice(first * n, (first + games) * n)
        self.row_slice = rows
        a = env.arrays
        self.parts = [(name, array[rows]) for name, array in arrays.views(env._parts, env._tensors, a)]
        self.observation: Any = self.parts[0][1] if env._alone else dict(self.parts)
        self.mask, self.reward = a["mask"][rows], a["reward"][rows]
        self.waits = a["waits"][rows] if env.sequential else None
        self.legal = arrays.unpacking(self.mask, env.choices) if env._with_action_mask else None
        self.renew: Callable[[], None] | None = None  # writes the observation's action_mask from the mask
        if "action_mask" in a:
            self.renew = functools.partial(_write, a["action_mask"][rows], arrays.unpacking(self.mask, env.choices))
        self.copies = [(name, array.copy) for name, array in self.parts]
        self.copy_first, self.copy_mask, self.copy_reward = self.copies[0][1], self.mask.copy, self.reward.copy
        # Terminated and truncated by row; if a game has several rows they are copied from the game once it sets one.
        self.flags, self.game_flags, self.was_set = env._ends[:, own], env._ends[:, own], False
        if n > 1:
            self.flags = np.zeros((2, self.rows), np.bool_)
            self.seat_flags = [self.flags[:, seat::n] for seat in range(n)]  # writing seat by seat is faster
        self.terminated, self.truncated = self.flags
        self.copy_terminated, self.copy_truncated = self.terminated.copy, self.truncated.copy
        # The infos that are the same in each step in which no episode ends, with a row for each of the caller.
        shown = env.num_envs // env.num_games
        self.env_id = np.arange(first * shown, (first + games) * shown)
        shown *= games
        every, none, unknown = np.ones(shown, np.bool_), np.zeros(shown, np.bool_), np.full(shown, np.nan, np.float32)
        for array in (every, none, unknown):
            array.flags.writeable = False
        self.infos: dict[str, Any] = {"score": unknown, "_score": none, "result": unknown, "_result": none, "_mask": every}
        present = {"waits": self.waits, "action_mask": self.legal, "opponent": self.against}
        self.infos.update({f"_{name}": every for name, of in present.items() if of is not None})


def _write(to: NDArray[Any], new: Callable[[], NDArray[Any]]) -> None:
    to[...] = new()


def last_observation(env: VectorEnv, row: int) -> Any:
    """Returns the last observation of a row's latest ended episode."""
    a = env.arrays
    own = {}
    for part in env._parts:
        if part in ("mask", "action_mask"):
            mask = arrays.ended_mask(env.heads, env.description["nothing"])
            own[part] = mask if part == "mask" else arrays.unpack_masks(mask, env.choices)
        elif part == "key":  # no more draws after the end
            own[part] = np.zeros_like(a[part][row])
        else:
            for name, array in arrays.views((part,), env._tensors, a, "final_"):
                own[name] = array[row].copy()
    return own[env._parts[0]] if env._alone else own
