"""The random generator that Gymnasium's environments offer to their callers."""

from __future__ import annotations

import secrets

import numpy as np


class Randomness:
    """An environment with a random generator for its caller, which reset seeds."""

    _np_random: np.random.Generator | None = None
    _np_random_seed: int | None = None

    @property
    def np_random(self) -> np.random.Generator:
        """A generator seeded by reset, for the caller: the games do not use it."""
        if self._np_random is None:
            self._np_random_seed = secrets.randbits(63)
            self._np_random = np.random.default_rng(self._np_random_seed)
        return self._np_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._np_random, self._np_random_seed = value, -1

    @property
    def np_random_seed(self) -> int:
        """The seed of np_random; -1 if it is not known."""
        _ = self.np_random
        return -1 if self._np_random_seed is None else self._np_random_seed
