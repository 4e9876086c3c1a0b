"""Strategy games of old programming contests as environments for reinforcement learning.

    import moonfarm

    env = moonfarm.make_vec("towerdefence", 64, opponent="econ")
    obs, infos = env.reset(seed=1)
    obs, rewards, terminations, truncations, infos = env.step(actions)

make_vec makes many games at once, make_env one game, parallel_env one game with all its
players; dataset reads datasets of `moonfarm generate` and `moonfarm import`. The package needs numpy and the shared
library, which env/python/build.py builds; it uses Gymnasium and PettingZoo if they are
installed.
"""

try:
    import numpy as _numpy  # noqa: F401
except ModuleNotFoundError as _e:
    raise ImportError("moonfarm needs numpy, which is not installed: python3 -m pip install numpy") from _e

from . import registration as _registration
from .arrays import unpack_masks
from .dataset import Dataset, advantages, dataset
from .library import ArgumentError, DataError, Error, HandleError, StateError, WaitError, games
from .making import make_vec
from .messages import State, state_from
from .opponents import AgainstPolicies
from .pettingzoo import ParallelEnv, parallel_env
from .single import SingleEnv, make_env
from .vector import VectorEnv
from .version import __version__

__all__ = [
    "AgainstPolicies",
    "ArgumentError",
    "DataError",
    "Dataset",
    "Error",
    "HandleError",
    "ParallelEnv",
    "SingleEnv",
    "State",
    "StateError",
    "VectorEnv",
    "WaitError",
    "__version__",
    "advantages",
    "dataset",
    "games",
    "make_env",
    "make_vec",
    "parallel_env",
    "state_from",
    "unpack_masks",
]

_registration.watch()
