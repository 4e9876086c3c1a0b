"""Strategy games of old programming contests as environments for reinforcement learning.

    import moonfarm

    env = moonfarm.make_vec("towerdefence", 64, opponent="econ")
    obs, infos = env.reset(seed=1)
    obs, rewards, terminations, truncations, infos = env.step(actions)

make_vec makes many games at once, make_env (or make) one game, parallel_env one game with all its
players; generate plays games into a dataset, dataset reads it, evaluate rates players. For users of PettingZoo
each game is also a module, `from moonfarm import towerdefence_v0`. The package needs numpy, and the shared
library and the program, which env/python/build.py builds; it uses Gymnasium and PettingZoo if they are installed.
"""

from typing import Any as _Any

try:
    import numpy as _numpy  # noqa: F401
except ModuleNotFoundError as _e:
    raise ImportError("moonfarm needs numpy, which is not installed: python3 -m pip install numpy") from _e

from . import registration as _registration
from .arrays import unpack_masks
from .commands import Ratings, evaluate, generate
from .dataset import Dataset, advantages, dataset
from .library import ArgumentError, DataError, Error, HandleError, StateError, WaitError, games
from .making import make_vec
from .messages import State, state_from
from .opponents import AgainstPolicies
from .pettingzoo import ParallelEnv, parallel_env
from .pettingzoo import module_of as _module_of
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
    "Ratings",
    "SingleEnv",
    "State",
    "StateError",
    "VectorEnv",
    "WaitError",
    "__version__",
    "advantages",
    "dataset",
    "evaluate",
    "games",
    "generate",
    "make",
    "make_env",
    "make_vec",
    "parallel_env",
    "state_from",
    "unpack_masks",
]

make = make_env  # as Gymnasium calls it


def __getattr__(name: str) -> _Any:
    """Returns the module of a game, such as towerdefence_v0."""
    game, version = name[:-3], name[-3:]
    if version == "_v0" and game in _registration.GAMES.values():
        return _module_of(game)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the names of the package, with the modules of the games."""
    return sorted([*globals(), *(game + "_v0" for game in _registration.GAMES.values())])


_registration.watch()
