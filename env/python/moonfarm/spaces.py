"""Spaces of observations and actions: Gymnasium's if it is installed, else small ones with the same methods."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray


@functools.lru_cache(maxsize=None)
def gymnasium() -> ModuleType | None:
    """Returns the module gymnasium, imported by the first call; None if it is not installed."""
    try:
        import gymnasium
        import gymnasium.vector  # noqa: F401
    except ImportError:
        return None
    return gymnasium


class Space:
    """A set of values that can be drawn from."""

    def __init__(self, shape: tuple[int, ...] | None, dtype: Any, seed: int | None = None) -> None:
        self.shape = shape
        self.dtype: Any = None if dtype is None else np.dtype(dtype)
        self._np_random: np.random.Generator | None = None
        if seed is not None:
            self.seed(seed)

    @property
    def np_random(self) -> np.random.Generator:
        """The generator of sample."""
        if self._np_random is None:
            self._np_random = np.random.default_rng()
        return self._np_random

    def seed(self, seed: int | None = None) -> None:
        """Seeds sample."""
        self._np_random = np.random.default_rng(seed)

    def sample(self, mask: Any = None) -> Any:
        """Draws a value."""
        raise NotImplementedError

    def contains(self, x: Any) -> bool:
        """Whether x is a value of the space."""
        raise NotImplementedError

    def __contains__(self, x: Any) -> bool:
        return self.contains(x)


class Box(Space):
    """Arrays of a shape and dtype between low and high, both included."""

    def __init__(self, low: Any, high: Any, shape: tuple[int, ...], dtype: Any, seed: int | None = None) -> None:
        super().__init__(tuple(shape), dtype, seed)
        self.low = np.broadcast_to(np.asarray(low, self.dtype), shape)
        self.high = np.broadcast_to(np.asarray(high, self.dtype), shape)

    def sample(self, mask: Any = None) -> NDArray[Any]:
        """Draws every number uniformly."""
        if self.dtype.kind == "f":
            return self.np_random.uniform(self.low, self.high, self.shape).astype(self.dtype)
        return self.np_random.integers(self.low, self.high, self.shape, self.dtype, endpoint=True)

    def contains(self, x: Any) -> bool:
        """Whether x is such an array."""
        return (
            isinstance(x, np.ndarray)
            and x.shape == self.shape
            and np.can_cast(x.dtype, self.dtype)
            and bool(np.all(x >= self.low) and np.all(x <= self.high))
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Box)
            and (self.shape, self.dtype) == (other.shape, other.dtype)
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    def __repr__(self) -> str:
        return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"


class Discrete(Space):
    """The numbers 0 … n-1."""

    def __init__(self, n: int, seed: int | None = None) -> None:
        super().__init__((), np.int64, seed)
        self.n, self.start = np.int64(n), np.int64(0)

    def sample(self, mask: NDArray[Any] | None = None) -> np.int64:
        """Draws a number uniformly. mask [n]: only numbers where it is not 0; 0 if there is no such number."""
        if mask is None:
            return np.int64(self.np_random.integers(self.n))
        free = np.flatnonzero(mask)
        return np.int64(self.np_random.choice(free)) if free.size else np.int64(0)

    def contains(self, x: Any) -> bool:
        """Whether x is such a number."""
        if isinstance(x, (np.ndarray, np.generic)):
            return x.shape == () and x.dtype.kind in "iu" and x in range(int(self.n))
        return isinstance(x, int) and x in range(int(self.n))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Discrete) and bool(self.n == other.n)

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class MultiDiscrete(Space):
    """Arrays of numbers 0 … nvec-1."""

    def __init__(self, nvec: Any, dtype: Any = np.int64, seed: int | None = None) -> None:
        self.nvec = np.asarray(nvec, dtype)
        super().__init__(self.nvec.shape, dtype, seed)

    def sample(self, mask: Any = None) -> NDArray[Any]:
        """Draws every number uniformly. mask: for each number an array [n], as for Discrete."""
        if mask is None:
            return (self.np_random.random(self.shape) * self.nvec).astype(self.dtype)
        free = [np.flatnonzero(m) for m in mask]
        return np.array([self.np_random.choice(f) if f.size else 0 for f in free], self.dtype)

    def contains(self, x: Any) -> bool:
        """Whether x is such an array."""
        return (
            isinstance(x, np.ndarray)
            and x.shape == self.shape
            and x.dtype.kind in "iu"
            and bool(np.all(x >= 0) and np.all(x < self.nvec))
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MultiDiscrete) and np.array_equal(self.nvec, other.nvec)

    def __repr__(self) -> str:
        return f"MultiDiscrete({self.nvec})"


class Dict(Space, Mapping):  # type: ignore[type-arg]
    """Dicts with a value of each of the named spaces."""

    def __init__(self, spaces: Mapping[str, Any], seed: int | None = None) -> None:
        self.spaces = dict(spaces)
        super().__init__(None, None, seed)

    def seed(self, seed: int | None = None) -> None:
        """Seeds every space."""
        super().seed(seed)
        for s in self.spaces.values():
            s.seed(None if seed is None else int(self.np_random.integers(2**31)))

    def sample(self, mask: Any = None) -> dict[str, Any]:
        """Draws a value of every space."""
        return {k: s.sample(None if mask is None else mask[k]) for k, s in self.spaces.items()}

    def contains(self, x: Any) -> bool:
        """Whether x is such a dict."""
        return isinstance(x, dict) and x.keys() == self.spaces.keys() and all(x[k] in s for k, s in self.spaces.items())

    __contains__ = contains  # Mapping's would look for a key

    def __getitem__(self, key: str) -> Any:
        return self.spaces[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.spaces)

    def __len__(self) -> int:
        return len(self.spaces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dict) and self.spaces == other.spaces

    def __repr__(self) -> str:
        return "Dict(" + ", ".join(f"{k!r}: {s}" for k, s in self.spaces.items()) + ")"


class _own:
    """The classes of this module, by their names in gymnasium.spaces."""

    Box, Discrete, MultiDiscrete, Dict = Box, Discrete, MultiDiscrete, Dict


# Far above the scalars of every game.
_largest = 2.0**31


def _part(module: Any, name: str, shape: tuple[int, ...]) -> Any:
    """Returns the space of one part of an observation."""
    if name == "scalars":
        return module.Box(-_largest, _largest, shape, np.float32)
    if name in ("packed", "mask", "key"):
        return module.Box(0, 2**64 - 1, shape, np.uint64)
    if name == "action_mask":
        return module.Box(0, 1, shape, np.bool_)
    return module.Box(0, 255, shape, np.uint8)  # planes, or a tensor of a form without planes


def observation(shapes: Mapping[str, tuple[int, ...]], alone: bool) -> Any:
    """Returns the space of observations with parts of these shapes; alone: the observation is the array itself."""
    gym = gymnasium()
    module = gym.spaces if gym else _own
    parts = {name: _part(module, name, shape) for name, shape in shapes.items()}
    return next(iter(parts.values())) if alone else module.Dict(parts)


def action(heads: list[int]) -> Any:
    """Returns the space of one row's actions: Discrete for one head, else MultiDiscrete of int32."""
    gym = gymnasium()
    module = gym.spaces if gym else _own
    return module.Discrete(heads[0]) if len(heads) == 1 else module.MultiDiscrete(heads, dtype=np.int32)


def batched_action(heads: list[int], rows: int) -> Any:
    """Returns the space of all rows' actions, as from gymnasium.vector.utils.batch_space."""
    gym = gymnasium()
    module = gym.spaces if gym else _own
    if len(heads) == 1:
        return module.MultiDiscrete(np.full(rows, heads[0], np.int64))
    high = np.broadcast_to(np.array(heads, np.int32) - 1, (rows, len(heads)))
    return module.Box(np.zeros_like(high), high, high.shape, np.int32)


def generators(space: Any) -> Any:
    """Returns the random generators of a space and of the spaces in it; None for those not used yet."""
    inner = getattr(space, "spaces", None)
    if isinstance(inner, Mapping):
        return space._np_random, {name: generators(s) for name, s in inner.items()}
    return space._np_random


def give(space: Any, found: Any) -> None:
    """Gives a space the result of generators for another, equal space."""
    inner = getattr(space, "spaces", None)
    if isinstance(inner, Mapping):
        found, each = found
        for name, s in inner.items():
            give(s, each[name])
    space._np_random = found


def with_mask(observation: Any, choices: int) -> Any:
    """Returns the space of dicts of an observation and the mask of an action with one head."""
    gym = gymnasium()
    module = gym.spaces if gym else _own
    return module.Dict({"observation": observation, "action_mask": module.Box(0, 1, (choices,), np.int8)})
