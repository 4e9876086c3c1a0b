"""Opponents that play in Python, alone or beside policies of the library."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, arrays, library
from .arguments import Policy
from .copies import plain_class
from .drawn import Drawn, function_names
from .parts import Part
from .vector import VectorEnv

_gold, _one, _two = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * _one
    x = (x ^ (x >> np.uint64(27))) * _two
    return x ^ (x >> np.uint64(31))


def draw(
    seeds: NDArray[np.uint64], episodes: NDArray[np.uint64], purpose: int, below: int
) -> NDArray[np.int64]:
    """Returns a number 0 … below-1 for each game: a function of its seed, the episode and the purpose."""
    purposes = np.full_like(seeds, purpose)
    for part in (episodes, purposes):
        seeds = _mix((seeds ^ part) + _gold)
    return (seeds % np.uint64(below)).astype(np.int64)


@plain_class
class AgainstPolicies(VectorEnv):
    """A vector environment whose other seats are played by functions, or by functions and policies' texts.

    Each episode draws one of them for its game, and the caller's seat if seat is
    "random"; both depend on the seed of the game and the number of the episode. A
    function is called once per step with all rows that it plays: with observations
    of the same form as the caller's, and infos with "mask", in bits as in step. It
    returns an array of actions, one per row. It is not called for games that have
    ended, nor, in a sequential form, for rows that wait. A text beside functions plays
    what ask answers; then no block may be under way when another is sent.

    Rows are copied, even with copy=False.
    """

    _in_library = False

    def _config(self, **given: Any) -> library.CConfig:
        opponent = given["opponent"]
        self._policies: list[str | Policy] = [opponent] if callable(opponent) else list(opponent)
        arguments.texts_of([p for p in self._policies if not callable(p)] or None)
        self._fixed = arguments.seat_of(given["seat"])
        return super()._config(**{**given, "opponent": None, "seat": 0})

    def _caller_rows(self) -> int:
        if self._fixed >= self.players:
            raise ValueError(f"seat: there is no seat {self._fixed}, there are {self.players}, from 0")
        return self.num_games

    def _make_arrays(self, buffers: Any) -> None:
        if buffers:
            raise ValueError("buffers: rows against opponents in Python are copied, so they cannot lie in given arrays")
        self._drawn = np.zeros(self.num_games, np.int64)
        super()._make_arrays(None)
        games = np.arange(self.num_games)
        self._bases = np.uint64(self._base) + games.astype(np.uint64)
        self._first_rows = games * self.players
        self._own_rows = self._first_rows.copy()
        self._draw(self._whole.own)
        for text in self._policies:
            if isinstance(text, str):  # raises now if it is no policy
                with contextlib.suppress(library.StateError):  # no game has begun
                    self._ask(text, np.zeros(self._sizes.rows, np.bool_))

    def _drawn_in(self, games: slice) -> Drawn | None:
        return Drawn(function_names(self._policies), self._drawn[games, None], self._previous_opponents[games, :1])

    def _draw(self, games: slice) -> None:
        """Updates the caller's rows and the players of the other rows."""
        seeds, episodes = self._bases[games], self.arrays["episode"][games]
        seat: Any = self._fixed
        if seat == library.ANY_SEAT:
            seat = draw(seeds, episodes, 1, self.players)
        self._own_rows[games] = self._first_rows[games] + seat
        self._drawn[games] = draw(seeds, episodes, 2, len(self._policies))

    def _reset(self, seeds: NDArray[np.uint64] | None, mask: NDArray[np.bool_] | None) -> None:
        super()._reset(seeds, mask)
        if seeds is not None:
            chosen: Any = slice(None) if mask is None else mask
            self._bases[chosen] = seeds[chosen]
        self._draw(self._whole.own)

    def _act(self, p: Part, actions: Any) -> None:
        """Writes the actions of all seats of a part: the caller's and those of the functions."""
        own = self._own_rows[p.own]
        mine = np.zeros((p.games, *self._actions.shape[1:]), np.int32)
        arrays.put("actions", mine, actions)
        self._actions[own] = mine
        playing = np.ones(p.games, np.bool_)
        if self._mode == library.NEXT_STEP:  # this step restarts games that have ended
            playing = ~(self._terminated[p.own] | self._truncated[p.own])
        for k, policy in enumerate(self._policies):
            games = self._first_rows[p.own][playing & (self._drawn[p.own] == k)]
            rows = (games[:, None] + np.arange(self.players)).reshape(-1)
            rows = rows[~np.isin(rows, own)]
            if self.sequential:
                rows = rows[~self.arrays["waits"][rows]]
            if len(rows):
                theirs = np.zeros((len(rows), *self._actions.shape[1:]), np.int32)
                if isinstance(policy, str):
                    asked = np.zeros(self._sizes.rows, np.bool_)
                    asked[rows] = True
                    answer = self._ask(policy, asked)[rows]
                else:
                    answer = policy(self._take(rows), {"mask": self.arrays["mask"][rows]})
                arrays.put("the opponent's actions", theirs, answer)
                self._actions[rows] = theirs

    def _take(self, rows: NDArray[Any]) -> Any:
        taken = {name: array[rows] for name, array in self._whole.parts}
        return taken[self._parts[0]] if self._alone else taken

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Like VectorEnv.step; the opponents choose first."""
        self._open()
        self._act(self._whole, actions)
        self._lib.call("mf_step", self._handle)
        return self._result(self._whole)

    def send(self, actions: Any, block: int | None = None) -> None:
        """Like VectorEnv.send; the opponents choose first."""
        self._open()
        if block is None:
            given = np.zeros((self.num_games, *self._actions.shape[1:]), np.int32)
            arrays.put("actions", given, actions)
            for p in self._block_parts:
                self._act(p, given[p.own])
            for i in range(self.blocks):
                self._send(i)
            return
        self._act(self._block(block), actions)
        self._send(block)

    def _observed(self, p: Part) -> Any:
        if p.renew is not None:
            p.renew()
        return self._take(self._own_rows[p.own])

    def _infos(self, p: Part) -> dict[str, Any]:
        own = self._own_rows[p.own]
        infos = {**p.infos, "mask": self.arrays["mask"][own]}
        if self.sequential:
            infos["waits"] = self.arrays["waits"][own]
        if self._with_action_mask:
            infos["action_mask"] = self.action_masks(infos["mask"])
        if p.against is not None:
            infos["opponent"] = p.against.current()
        return infos

    def _result(self, p: Part) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        played = self._own_rows[p.own].copy()
        before = None if p.against is None else p.against.previous()
        self._draw(p.own)
        terminated, truncated = self._terminated[p.own].copy(), self._truncated[p.own].copy()
        infos = self._infos(p)
        if (ended := terminated | truncated).any():
            self._add_ends(infos, played, ended, before)
        return self._observed(p), self.arrays["reward"][played], terminated, truncated, infos

    def recv(self, timeout: float | None = None) -> Any:
        """Like VectorEnv.recv; "env_id" is int64 [games of the block]."""
        out = super().recv(timeout)
        p = self._block_parts[out[4]["block"]]
        out[4]["env_id"] = np.arange(p.first, p.first + p.games)
        return out

    def ask(self, policy: str, mask: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
        """Like VectorEnv.ask."""
        selected = np.zeros(self._sizes.rows, np.bool_)
        selected[self._own_rows] = True if mask is None else arrays.selection("mask", mask, self.num_envs)
        return self._ask(policy, selected)[self._own_rows]

    @property
    def seats(self) -> NDArray[np.uint8]:
        """Returns the caller's seat in each game, uint8 [num_games]."""
        return (self._own_rows - self._first_rows).astype(np.uint8)

    def _latest_mask(self) -> NDArray[np.uint64]:
        return self.arrays["mask"][self._own_rows]

    def _set_state(self, game: int, state: bytes) -> None:
        if library.is_snapshot(state[8:]):  # version 0.2 wrote the base seed in front, too
            state = state[8:]
        super()._set_state(game, state)
        self._bases[game] = np.frombuffer(state[8:16], "<u8")[0]

    def _observe(self) -> None:
        super()._observe()
        self._draw(self._whole.own)
