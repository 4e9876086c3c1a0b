"""Many games at once: the vector environment."""

from __future__ import annotations

import ctypes
import functools
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, arrays, library, spaces
from .asking import Asking
from .copies import Copied, is_plain, plain, plain_class, with_base
from .drawn import Drawing, Drawn, function_names
from .parts import Part, last_observation
from .randomness import Randomness
from .registration import Specified
from .rendering import Rendering

_int32 = np.dtype(np.int32)
_SEVERAL = 256  # games: with fewer, a step against most opponents takes less than half a second
_MANY = 1 << 14  # actions: to copy this many takes longer than to look up the address of the array


@plain_class
class VectorEnv(Asking, Drawing, Rendering, Randomness, Specified, Copied):
    """Games of one kind, stepped together on all cores.

    If Gymnasium is installed, make_vec returns a gymnasium.vector.VectorEnv. `num_envs` is
    the number of rows: one per game, or one per seat of each game if opponent is None (row
    game*players+seat).

    Attributes: `num_games`, `players`, `heads` (number of choices of each head of an
    action), `choices`, `max_turns`, `form`, `sequential`, `blocks`, `batch_size`,
    `autoreset_mode` (of Gymnasium, or its name), `description` (the meaning of planes, scalars, actions and rewards, and all forms of the
    game), and `arrays`: the memory that the library reads and writes, by name.
    """

    closed = False

    def __init__(
        self, *, obs: str | tuple[str, ...], seed: int | None, copy: bool, render_mode: str | None, render_width: int, autoreset: Any,
        buffers: Mapping[str, NDArray[Any]] | None, action_mask: bool, opponent_weights: Any = None, **config: Any,
    ) -> None:  # fmt: skip
        """Takes all arguments of make_vec, which calls it."""
        self.closed = True  # until the library has opened it
        render_mode = arguments.render_mode(render_mode)
        self._begin_rendering(render_width)
        self._parts, self._alone = arrays.parts_of(obs)
        self._short = set()
        self._mode = arguments.mode(autoreset)
        self.render_mode, self.game, self._copy = render_mode, str(config["game"]), bool(copy)
        self._base = secrets.randbits(63) if seed is None else arguments.seed_of(seed)
        config["rules"] = arguments.rules_of(config["rules"])  # a copy on another machine lacks the file
        config["opponent"] = self._players = arguments.players_of(config["opponent"])  # the caller's list may change later
        self._arguments = {
            **config, "obs": obs, "seed": self._base, "copy": copy, "render_mode": render_mode, "render_width": self._width,
            "autoreset": autoreset, "buffers": None, "action_mask": action_mask, "opponent_weights": None,
        }  # fmt: skip
        self._lib = library.library()
        self._error = library.CError()
        settings = arguments.config(autoreset=self._mode, seed=self._base, **config)
        handle = ctypes.c_uint64()
        self._lib.call("mf_open", settings, handle)
        self._handle, self.closed = handle, False
        try:
            self._describe()
            self._with_action_mask = bool(action_mask)
            self._make_arrays(buffers)
            if opponent_weights is not None:
                self.opponent_weights = opponent_weights
        except BaseException:
            self.close()
            raise
        self._seal()

    # Making

    def _describe(self) -> None:
        self._sizes = s = library.CSpec(size=ctypes.sizeof(library.CSpec))
        self._lib.call("mf_get_spec", self._handle, s)
        text = self._lib.text("mf_describe", self._handle)
        self.description: dict[str, Any] = json.loads(text.rstrip(b"\0"))
        self.players, self.num_games, self.max_turns = s.players, s.num_envs, s.max_turns
        self.blocks, self.batch_size = s.blocks, s.batch_size
        self.form: str = self.description["form"]
        self.sequential: bool = self.description["sequential"]
        self._tensors: list[dict[str, Any]] = self.description["tensors"]
        self.heads = [int(n) for n in self.description["heads"]]
        self.choices = s.choices
        self.num_envs = rows = self._caller_rows()
        self._rows_per_game = s.rows // s.num_envs
        if self._tensors and "planes" in self._parts:
            self._alone = False
        own = arrays.row_shapes(self._parts, self._tensors, s)
        self.single_observation_space = spaces.observation(own, self._alone)
        self.single_action_space = spaces.action(self.heads)
        batched = {name: (rows, *shape) for name, shape in own.items()}
        self.observation_space = spaces.observation(batched, self._alone)
        self.action_space = spaces.batched_action(self.heads, rows)
        gym = spaces.gymnasium()
        modes = getattr(gym.vector, "AutoresetMode", None) if gym else None
        name = arguments.MODES[self._mode]
        self.autoreset_mode: Any = modes(name) if modes else name
        self.metadata = {
            "render_modes": [*arguments.RENDER_MODES], "render_fps": 10, "autoreset_mode": self.autoreset_mode,
        }  # fmt: skip

    def _most_steps(self) -> int | None:
        return None if self.sequential else self.max_turns

    def _caller_rows(self) -> int:
        return self._sizes.rows

    def _make_arrays(self, buffers: Mapping[str, NDArray[Any]] | None) -> None:
        s, games = self._sizes, self.num_games
        names = [*dict.fromkeys([*self._parts, "mask"]), "action", "reward", "turn", "episode"]
        names += ["waits"] if self.sequential else []
        if self._mode == library.SAME_STEP:
            names += ["final_" + part for part in self._parts if part in ("planes", "packed", "scalars")]
        names += ["final_score", "final_result"]
        names += [] if self._players is None else ["seat", "opponent"]
        # A read-only mapping: the library holds the addresses of the arrays.
        self.arrays: Mapping[str, NDArray[Any]] = MappingProxyType(arrays.allocate(s, names, buffers))
        self._previous_opponents = np.zeros((games, self.players), np.uint8)
        # Both flags lie in one bytearray, in which a set flag is found fast.
        self._flags = bytearray(2 * games)
        self._ends = np.frombuffer(self._flags, np.bool_).reshape(2, games)
        self._terminated, self._truncated = self._ends
        self._lib.call("mf_bind", self._handle, arrays.slabs(self.arrays, self._terminated, self._truncated))
        action = self.arrays["action"]
        self._actions = action[:, 0] if len(self.heads) == 1 else action
        self._shape = self._actions.shape
        self._c_step: Any = self._lib.c.mf_step
        self._c_error = ctypes.byref(self._error)
        if self.description["interruptible"] or games >= _SEVERAL and any(isinstance(p, str) for p in self._players or ()):
            self._c_step = library.Step(self._lib.c, self.description["interruptible"])
        self._seeds = np.zeros(games, np.uint64)
        self._whole = Part(self, 0, games)
        n = self.batch_size
        self._block_parts = [Part(self, i * n, min(n, games - i * n)) for i in range(self.blocks)]

    def _drawn_in(self, games: slice) -> Drawn | None:
        """Returns the opponents in some of the games, or None."""
        previous = self._previous_opponents[games] if self._mode == library.SAME_STEP else None
        return None if self._players is None else Drawn(function_names(self._players), self.arrays["opponent"][games], previous)

    # Playing

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | NDArray[Any] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begins new episodes.

        seed: a number, for game i that number + i; or a list with a number for each game. None, or
        None in the list, means the next episode of the game's own seed. options["reset_mask"], bool
        [num_envs], selects the games to reset: the others continue. Returns observations and infos
        of all rows.
        """
        self._open()
        mask = arguments.reset_mask(options, self.num_envs, self.num_games)
        if seed is None:
            self._reset(None, mask)
        else:
            seeds = self._seeds_of(seed)
            given = [s for s in seeds if s is not None]
            fresh = np.array([s is not None for s in seeds])
            self._seeds[fresh] = np.array([arguments.seed_of(s) for s in given], np.uint64)
            everywhere = np.ones(self.num_games, np.bool_) if mask is None else mask
            if given:
                self._reset(self._seeds, mask if fresh.all() else fresh & everywhere)
            if not fresh.all():
                self._reset(None, ~fresh & everywhere)
        return self._observed(self._whole), self._infos(self._whole)

    def _seeds_of(self, seed: Any) -> Any:
        """Returns the seed of each game."""
        if isinstance(seed, (int, np.integer)) or np.ndim(seed) == 0:
            self._np_random_seed = first = arguments.seed_of(seed)
            self._np_random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(first)))
            return [(first + i) % 2**64 for i in range(self.num_games)]
        if len(seed) != self.num_games:
            raise ValueError(f"seed: expected {self.num_games} numbers, one for each game, got {len(seed)}")
        return seed

    def _reset(self, seeds: NDArray[np.uint64] | None, mask: NDArray[np.bool_] | None) -> None:
        address = [None if a is None else a.ctypes.data for a in (seeds, mask)]
        self._lib.call("mf_reset", self._handle, *address)
        for flags in (self._terminated, self._truncated):
            flags[slice(None) if mask is None else mask] = False

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Plays a turn of all games.

        actions: whole numbers [num_envs], or [num_envs, heads] if an action has several
        heads. Returns observations, rewards (float32 [num_envs]), terminations and
        truncations (bool [num_envs]) and infos: "mask", uint64 [num_envs, words], the legal
        choices as bits, and "action_mask", bool [num_envs, choices], the same as from
        action_masks. In a game that has ended only the choice that orders nothing is legal.
        "score" and "result", float32 [num_envs], are those of the episodes that have ended in this
        step, and NaN elsewhere; "_score" and "_result", bool, say where. With autoreset "same_step"
        "final_info" has them, too, and "final_obs" has the last observations. "opponent" names the
        policy that plays against the row, if there is one; final_info names the opponent of the
        episode that ended. In a sequential form "waits", bool
        [num_envs], says which rows have ended their turns and wait for other rows of their games;
        their actions are ignored. Rows against policies given as texts never wait.

        With copy=False the arrays are those that the next step overwrites.
        """
        if self.closed or library.Process.forked:
            self._open()
        if type(actions) is np.ndarray and actions.dtype is _int32 and actions.shape == self._shape:
            if actions.size >= _MANY and actions.flags.c_contiguous and actions.flags.aligned:
                self._step_with(actions.ctypes.data)  # nothing is copied
                return self._result(self._whole)
            self._actions[...] = actions
        else:
            arrays.put("actions", self._actions, actions)
        if self._c_step(self._handle, self._c_error):
            library.fail(self._error)
        return self._result(self._whole)

    def _step_with(self, address: int) -> None:
        """Plays a turn with the actions at an address."""
        step = self._c_step if isinstance(self._c_step, library.Step) else None
        if step is None:
            self._lib.call("mf_step_with", self._handle, address)
        elif step(self._handle, self._c_error, address):
            library.fail(self._error)

    def send(self, actions: Any, block: int | None = None) -> None:
        """Begins a turn of one block of games and returns at once; None: of all blocks.

        actions: for the block's rows, or for all rows.
        """
        self._open()
        if block is None:
            arrays.put("actions", self._actions, actions)
            for i in range(self.blocks):
                self._send(i)
            return
        part = self._block(block)
        arrays.put("actions", self._actions[part.row_slice], actions)
        self._send(block)

    def _block(self, block: int) -> Part:
        if not 0 <= block < self.blocks:
            raise ValueError(f"block: there is no block {block}, there are {self.blocks}, from 0")
        return self._block_parts[block]

    def _send(self, block: int) -> None:
        self._lib.call("mf_send", self._handle, block)

    def recv(
        self, timeout: float | None = None
    ) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Waits for the block that is ready first, at most timeout seconds, else raises TimeoutError.

        Returns the results of step for the rows of the block; infos also have "block",
        its number, and "env_id", int64 [rows], the indices of its rows.
        """
        self._open()
        until = None if timeout is None else time.monotonic() + timeout
        block = ctypes.c_int32()
        while True:
            # In pieces, so that Ctrl-C is noticed between them.
            wait = 100 if until is None else min(100, max(0, int((until - time.monotonic()) * 1000)))
            try:
                self._lib.call("mf_recv", self._handle, wait, block)
                break
            except library.WaitError:
                if until is not None and time.monotonic() >= until:
                    raise
        part = self._block_parts[block.value]
        out = self._result(part)
        out[4]["block"], out[4]["env_id"] = block.value, part.env_id
        return out

    # Results

    def _observed(self, p: Part) -> Any:
        if p.renew is not None:
            p.renew()
        if not self._copy:
            return p.observation
        return p.observation.copy() if self._alone else {name: a.copy() for name, a in p.parts}

    def _infos(self, p: Part) -> dict[str, Any]:
        infos = p.infos.copy()
        infos["mask"] = p.copy_mask() if self._copy else p.mask
        if p.waits is not None:
            infos["waits"] = p.waits.copy() if self._copy else p.waits
        if p.legal is not None:
            infos["action_mask"] = p.legal()
        if p.against is not None:
            infos["opponent"] = p.against.current()
        return infos

    def _result(self, p: Part) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        flags, games = self._flags, self.num_games
        ended = 1 in flags and (1 in flags[p.own] or 1 in flags[games + p.first : games + p.first + p.games])
        if (ended or p.was_set) and self._rows_per_game > 1:
            p.was_set = ended
            for seat in p.seat_flags:
                seat[...] = p.game_flags
        if p.renew is not None:
            p.renew()
        if not self._copy:
            out, obs = (p.reward, p.terminated, p.truncated), p.observation
        else:
            out = (p.copy_reward(), p.copy_terminated(), p.copy_truncated())
            obs = p.copy_first() if self._alone else {name: copied() for name, copied in p.copies}
        before = p.against.previous() if ended and p.against is not None else None
        infos = self._infos(p)
        if ended:
            self._add_ends(infos, p.env_id, out[1] | out[2], before)
        return obs, *out, infos

    def _add_ends(self, infos: dict[str, Any], rows: NDArray[Any], ended: NDArray[np.bool_], before: Any) -> None:
        """Adds to infos the outcomes of episodes that have just ended, against the opponents before the step."""
        at = ended.nonzero()[0]
        those = rows[at]
        for name in ("score", "result"):
            infos[name], infos["_" + name] = infos[name].copy(), ended
            infos[name][at] = self.arrays["final_" + name][those]
        if self._mode != library.SAME_STEP:
            return
        outcome: dict[str, Any] = {}
        for name in ("score", "result"):
            outcome[name], outcome["_" + name] = np.where(ended, infos[name], 0), ended  # 0 elsewhere as in Gymnasium
        if before is not None:
            outcome["opponent"], outcome["_opponent"] = before, ended
        last = np.full(len(rows), None, dtype=object)
        for i in at:
            last[i] = last_observation(self, rows[i])
        infos.update(final_obs=last, _final_obs=ended, final_info=outcome, _final_info=ended)

    def action_masks(self, mask: NDArray[np.uint64] | None = None) -> NDArray[np.bool_]:
        """Returns the legal choices as bool [num_envs, choices], head after head.

        mask: bits of infos["mask"], of any number of rows; None: the latest. In a game that has
        ended only the choice that orders nothing is legal, so that no masked softmax divides
        by 0. In heads without a mask all choices are legal.
        """
        bits = self._latest_mask() if mask is None else mask
        return arrays.unpack_masks(bits, self.choices)

    @property
    def seats(self) -> NDArray[np.uint8] | None:
        """Returns the caller's seat in each game, uint8 [num_games]; None if every seat is a row."""
        return self.arrays["seat"].copy() if "seat" in self.arrays else None

    def _latest_mask(self) -> NDArray[np.uint64]:
        return self.arrays["mask"]

    # States

    def get_state(self, game: int | None = None) -> Any:
        """Returns the complete state of a game as bytes; None: a list of them for all games."""
        self._open()
        if game is None:
            return [self._get_state(i) for i in range(self.num_games)]
        return self._get_state(self._game(game))

    def set_state(self, state: bytes | Sequence[bytes], game: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Restores a state of get_state, which may be of another game of the same kind and rules.

        game None: states of all games, in a list. Returns observations and infos of all rows.
        """
        self._open()
        if game is None:
            if isinstance(state, (bytes, bytearray, memoryview)) or len(state) != self.num_games:
                raise ValueError(
                    f"state: expected a list of bytes for {self.num_games} games, or game=NUMBER with bytes"
                )
            each: list[tuple[int, Any]] = list(enumerate(state))
        else:
            each = [(self._game(game), state)]
        for i, one in each:
            if not isinstance(one, (bytes, bytearray, memoryview)):
                raise TypeError(f"state: expected bytes, got {type(one).__name__}")
            self._set_state(i, bytes(one))
        self._observe()
        return self._observed(self._whole), self._infos(self._whole)

    def _get_state(self, game: int) -> bytes:
        return self._lib.text("mf_get_state", self._handle, game)

    def _set_state(self, game: int, state: bytes) -> None:
        self._lib.call("mf_set_state", self._handle, game, state, len(state))

    def _observe(self) -> None:
        self._lib.call("mf_observe", self._handle)

    def _game(self, game: int) -> int:
        if not 0 <= game < self.num_games:
            raise ValueError(f"game: there is no game {game}, there are {self.num_games}, from 0")
        return game

    def clone(self) -> VectorEnv:
        """Returns another environment in the same states, with memory of its own.

        It makes a new environment, which takes 10 to 25 times as long as set_state: to try out
        many continuations, make one clone and set its states.
        """
        self._open()
        other = type(self)(**self._arguments)
        other.set_state(self.get_state())
        return other

    def _made(self) -> tuple[Any, tuple[Any, ...]]:
        return _remade, (plain(type(self)), self._arguments)

    def _state(self) -> dict[str, Any]:
        self._open()
        kept = {name: a.copy() for name, a in self.arrays.items() if name in ("action", "reward") or "final_" in name}
        generators = [spaces.generators(space) for space in self._spaces()]
        return {"games": self.get_state(), "arrays": kept, "flags": bytes(self._flags), "generators": generators}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.set_state(state["games"])
        for name, array in state["arrays"].items():
            self.arrays[name][...] = array
        self._flags[:] = state["flags"]
        for space, generators in zip(self._spaces(), state["generators"]):
            spaces.give(space, generators)
        super().__setstate__(state)

    def _spaces(self) -> list[Any]:
        return [self.single_observation_space, self.single_action_space, self.observation_space, self.action_space]

    # The rest

    def close(self, **_: Any) -> None:
        """Releases the library's memory. Arrays stay as they are. It may be called again."""
        if self.closed:
            return
        self.closed = True
        if not library.Process.forked:
            self._lib.call("mf_close", self._handle)

    def close_extras(self, **_: Any) -> None:
        """Does nothing: close does everything."""

    def _open(self) -> None:
        library.refuse_fork()
        if self.closed:
            raise library.HandleError("the environment is closed")

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter may be ending
            pass

    def __enter__(self) -> VectorEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def unwrapped(self) -> VectorEnv:
        """This environment."""
        return self

    def __repr__(self) -> str:
        return f"VectorEnv({self.game!r}, num_envs={self.num_envs})"


def _remade(kind: Any, arguments: dict[str, Any]) -> VectorEnv:
    """Makes an environment of a class: a class of this package is also Gymnasium's, if that is installed."""
    return (vector_class(kind) if is_plain(kind) else kind)(**arguments)


@functools.lru_cache(maxsize=None)
def vector_class(base: type[VectorEnv]) -> type[VectorEnv]:
    """Returns the class, as a gymnasium.vector.VectorEnv if Gymnasium is installed."""
    gym = spaces.gymnasium()
    if gym is None:
        return base
    return with_base(base, gym.vector.VectorEnv)
