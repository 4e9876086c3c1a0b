"""One game at a time: gymnasium.Env."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, library, making, spaces
from .arrays import UNENDED, put, unpacking
from .copies import Copied, plain, plain_class, with_base
from .opponents import AgainstPolicies
from .randomness import Randomness
from .registration import Specified
from .vector import VectorEnv

_bools = frozenset({bool, np.bool_})  # a memoryview would take them for 0 and 1


@plain_class
class SingleEnv(Randomness, Specified, Copied):
    """One game, as one of its players sees it.

    If Gymnasium is installed, make_env returns a gymnasium.Env. Observations and
    actions are those of make_vec, without the first dimension. An episode that has
    ended must be reset. `vector` is the underlying environment of one game.
    """

    def __init__(self, game: str, *, opponent: Any = "random", **arguments: Any) -> None:
        if opponent is None:
            raise ValueError("opponent: one seat is the caller's, so another must play the others; see parallel_env")
        for name in ("num_envs", "autoreset", "batch_size"):
            if name in arguments:
                raise TypeError(f"{name}: there is one game, which is reset by reset alone")
        arguments.setdefault("workers", 1)
        self._around(making.make_vec(game, 1, opponent=opponent, autoreset="disabled", **arguments))

    def _around(self, v: VectorEnv) -> None:
        """Makes this environment the one game of a vector."""
        self.vector = v
        self.observation_space, self.action_space = v.single_observation_space, v.single_action_space
        self.metadata = {k: x for k, x in v.metadata.items() if k != "autoreset_mode"}
        self.render_mode = v.render_mode
        self._in_python = isinstance(v, AgainstPolicies)
        self._one_head = len(v.heads) == 1
        # The arrays that step uses, for the one game.
        parts = [(name, array[0]) for name, array in v._whole.parts]
        self._first_taken, self._name = self._taken(parts[0][1]), parts[0][0]
        self._others_taken = [(name, self._taken(array)) for name, array in parts[1:]]
        self._alone, self._mask_taken, self._legal = v._alone, self._taken(v.arrays["mask"][0]), None
        if v._with_action_mask:
            self._legal = unpacking(v.arrays["mask"][0], v.choices)
        self._to, self._from = v.arrays["action"][0].data, v.arrays["reward"].data
        self._flags, self._c_step, self._handle, self._c_error = v._flags, v._c_step, v._handle, v._c_error
        self._most = v.heads[0] if self._one_head else 0
        self._against, self._renew = v._whole.against, v._whole.renew
        self._opponent = None if self._against is None else self._against.one
        self._seal()

    def _most_steps(self) -> int | None:
        return self.vector._most_steps()

    def _taken(self, array: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Returns a function that returns a copy of the array, or with copy=False the array."""

        if self.vector._copy:
            return array.copy
        return lambda: array

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: with the seed, or the next one of the latest seed. Returns observation and info."""
        if seed is not None and type(seed) is not int:
            seed = arguments.seed_of(seed)
        obs, infos = self.vector.reset(seed=seed, options=options)
        if seed is not None:
            self._np_random, self._np_random_seed = self.vector._np_random, seed
        return self._one(obs), self._info(infos)

    def _info(self, infos: dict[str, Any]) -> dict[str, Any]:
        info = {name: infos[name][0] for name in ("mask", "action_mask", "opponent") if name in infos}
        info["score"] = info["result"] = UNENDED
        return info

    def _one(self, obs: Any) -> Any:
        return obs[0] if self._alone else {name: array[0] for name, array in obs.items()}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays a turn.

        action: a whole number, or int [heads]. Returns observation, reward, terminated,
        truncated and info: "mask", the legal choices as bits; "action_mask", bool
        [choices], as from action_masks; "opponent", the name of the caller's opponent;
        "score" and "result" of the episode, NaN until its end. In a sequential form an action is one
        order of the turn; the caller's seat never waits.
        """
        if self._in_python:
            return self._step_by_vector(action)
        if self.vector.closed or library.Process.forked:
            self.vector._open()
        if self._one_head and type(action) not in _bools:
            try:
                self._to[0] = action
            except (TypeError, ValueError):
                self._put(action)
        else:
            self._put(action)
        if self._c_step(self._handle, self._c_error):
            library.fail(self.vector._error)
        if self._renew is not None:
            self._renew()
        obs: Any = self._first_taken()
        if not self._alone:
            obs = {self._name: obs}
            for name, taken in self._others_taken:
                obs[name] = taken()
        flags = self._flags
        info: dict[str, Any] = {"mask": self._mask_taken(), "score": UNENDED, "result": UNENDED}
        if self._legal is not None:
            info["action_mask"] = self._legal()
        if self._opponent is not None:
            info["opponent"] = self._opponent
        elif self._against is not None:
            info["opponent"] = self._against.current()[0]
        if flags[0] or flags[1]:
            info["score"], info["result"] = (self.vector.arrays["final_" + k][0] for k in ("score", "result"))
        return obs, self._from[0], flags[0] == 1, flags[1] == 1, info

    def _put(self, action: Any) -> None:
        """Copies an action that is not a plain number."""
        to = self.vector._actions[0:1].reshape(()) if self._one_head else self.vector._actions[0]
        put("action", to, action)

    def _step_by_vector(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, infos = self.vector.step([action])
        while "waits" in infos and infos["waits"][0]:  # for the opponent's orders; until then the reward is 0
            obs, reward, terminated, truncated, infos = self.vector.step(np.zeros_like(action)[None])
        info = self._info(infos)
        if infos["_score"][0]:
            info["score"], info["result"] = infos["score"][0], infos["result"][0]
        return self._one(obs), float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal choices as bool [choices], head after head."""
        return self.vector.action_masks()[0]

    def ask(self, policy: str) -> Any:
        """Returns what a policy would choose: int32 [heads], or a number if an action has one head; see VectorEnv.ask."""
        answer = self.vector.ask(policy)[0]
        return int(answer) if self._one_head else answer

    @property
    def opponent_weights(self) -> NDArray[np.float64] | None:
        """How likely each opponent is drawn; it may be set: see VectorEnv.opponent_weights."""
        return self.vector.opponent_weights

    @opponent_weights.setter
    def opponent_weights(self, weights: Any) -> None:
        self.vector.opponent_weights = weights

    def get_state(self) -> bytes:
        """Returns the complete state of the game as bytes."""
        return self.vector.get_state(0)

    def set_state(self, state: bytes) -> tuple[Any, dict[str, Any]]:
        """Restores a state of get_state. Returns observation and info."""
        obs, infos = self.vector.set_state(state, 0)
        return self._one(obs), self._info(infos)

    def clone(self) -> SingleEnv:
        """Returns another environment in the same state. set_state of an existing one is much faster."""
        return _remade(plain(type(self)), self.vector.clone())

    def _made(self) -> tuple[Any, tuple[Any, ...]]:
        return _remade, (plain(type(self)), self.vector)

    def _state(self) -> dict[str, Any]:
        return {}

    def render(self) -> Any:
        """Returns the board: as text with render_mode "ansi", as uint8 [height, width, 3] with "rgb_array"."""
        return self.vector.rendered()

    def _repr_html_(self) -> str | None:
        """Returns a picture of the game for notebooks."""
        return None if self.vector.closed else self.vector.svg()

    def close(self) -> None:
        """Releases the library's memory. It may be called again."""
        self.vector.close()

    @property
    def unwrapped(self) -> SingleEnv:
        """This environment."""
        return self

    def __repr__(self) -> str:
        return f"SingleEnv({self.vector.game!r})"


@functools.lru_cache(maxsize=None)
def single_class() -> type[SingleEnv]:
    """Returns the class, as a gymnasium.Env if Gymnasium is installed."""
    gym = spaces.gymnasium()
    if gym is None:
        return SingleEnv
    return with_base(SingleEnv, gym.Env)


def _remade(kind: type[SingleEnv], vector: VectorEnv) -> SingleEnv:
    """Makes an environment of a class around a vector of one game."""
    kind = single_class() if kind is SingleEnv else kind
    env = kind.__new__(kind)
    env._around(vector)
    return env


def make_env(game: str, *, opponent: Any = "random", **arguments: Any) -> SingleEnv:
    """Makes one game as one of its players sees it; the arguments are those of make_vec."""
    return single_class()(game, opponent=opponent, **arguments)


# From this gymnasium.make knows that it can wrap environments for the render modes "human" and "rgb_array_list".
make_env.metadata = {"render_modes": [*arguments.RENDER_MODES], "render_fps": 10}  # type: ignore[attr-defined]
