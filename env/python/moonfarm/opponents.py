"""Opponents that play in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arrays, library
from .copies import plain_class
from .drawn import CALLER
from .parts import Part
from .vector import VectorEnv


@plain_class
class AgainstPolicies(VectorEnv):
    """A vector environment some of whose opponents are functions. The library plays the others, from their texts.

    A function is called once per step with all rows that it plays: with observations
    of the same form as the caller's, and infos with "mask", in bits as in step. It
    returns an array of actions, one per row. It is not called for games that have
    ended, nor, in a sequential form, for rows that wait. If what it plays changes, as with
    new weights of a network, so do the games that it is playing.

    Every seat is a row of the library; the caller's rows are copied, even with copy=False.
    """

    def _caller_rows(self) -> int:
        return self.num_games

    def _make_arrays(self, buffers: Any) -> None:
        if buffers:
            raise ValueError("buffers: rows against opponents in Python are copied, so they cannot lie in given arrays")
        super()._make_arrays(None)
        self._functions = [(k, f) for k, f in enumerate(self._players or ()) if not isinstance(f, str)]
        self._first_rows = np.arange(self.num_games) * self.players
        self._own_rows = self._first_rows.copy()

    def _find_rows(self, games: Any) -> None:
        """Updates the caller's rows in the games."""
        self._own_rows[games] = self._first_rows[games] + self.arrays["seat"][games]

    def _reset(self, seeds: NDArray[np.uint64] | None, mask: NDArray[np.bool_] | None) -> None:
        super()._reset(seeds, mask)
        self._find_rows(self._whole.own if mask is None else mask)  # others may be under way

    def _act(self, p: Part, actions: Any) -> None:
        """Writes the actions of the caller and of the functions in a part."""
        self._put("actions", self._own_rows[p.own], actions)
        players = self.arrays["opponent"][p.own].copy()
        if self._mode == library.NEXT_STEP:  # this step restarts games that have ended
            players[self._terminated[p.own] | self._truncated[p.own]] = CALLER
        players = players.reshape(-1)
        if p.waits is not None:
            players[p.waits] = CALLER
        for k, function in self._functions:
            rows = (players == k).nonzero()[0]
            if len(rows):
                rows += p.row_slice.start
                answer = function(self._take(rows), {"mask": self.arrays["mask"].take(rows, 0)})
                self._put("the opponent's actions", rows, answer)

    def _put(self, what: str, rows: NDArray[Any], actions: Any) -> None:
        given = np.empty((len(rows), *self._shape[1:]), np.int32)
        arrays.put(what, given, actions)
        self._actions[rows] = given

    def _take(self, rows: NDArray[Any]) -> Any:
        taken = {name: array.take(rows, 0) for name, array in self._whole.parts}
        return taken[self._parts[0]] if self._alone else taken

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Like VectorEnv.step; the opponents choose first."""
        self._open()
        self._act(self._whole, actions)
        if self._c_step(self._handle, self._c_error):
            library.fail(self._error)
        return self._result(self._whole)

    def send(self, actions: Any, block: int | None = None) -> None:
        """Like VectorEnv.send; the opponents choose first."""
        self._open()
        if block is None:
            given = np.empty((self.num_games, *self._shape[1:]), np.int32)
            arrays.put("actions", given, actions)
            for i, p in enumerate(self._block_parts):
                self._act(p, given[p.own])
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
        self._find_rows(p.own)
        terminated, truncated = self._terminated[p.own].copy(), self._truncated[p.own].copy()
        infos = self._infos(p)
        if (ended := terminated | truncated).any():
            self._add_ends(infos, played, ended, before)
        return self._observed(p), self.arrays["reward"][played], terminated, truncated, infos

    def ask(self, policy: str, mask: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
        """Like VectorEnv.ask."""
        selected = np.zeros(self._sizes.rows, np.bool_)
        selected[self._own_rows] = True if mask is None else arrays.selection("mask", mask, self.num_envs)
        return self._ask(policy, selected)[self._own_rows]

    def _latest_mask(self) -> NDArray[np.uint64]:
        return self.arrays["mask"][self._own_rows]

    def _set_state(self, game: int, state: bytes) -> None:
        if library.is_snapshot(state[8:]):  # version 0.2 wrote the base seed in front, too
            state = state[8:]
        super()._set_state(game, state)

    def _observe(self) -> None:
        super()._observe()
        self._find_rows(self._whole.own)
