"""The games under Gymnasium's names: gymnasium.make("moonfarm/TowerDefence-v0", opponent="econ").

Importing moonfarm registers them: at once if Gymnasium is imported already, else as soon
as it is. For "moonfarm:moonfarm/TowerDefence-v0" Gymnasium imports moonfarm; releases
before 1.0 also find an installed package by its entry point.
"""

from __future__ import annotations

import copy
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

# Names in Gymnasium. They are listed here so that registering does not load the library.
GAMES = {
    "TowerDefence": "towerdefence",
    "Terminal": "terminal",
    "CodeCraft": "codecraft",
    "Tron": "tron",
}
_IDS = {f"{name}-v0": game for name, game in GAMES.items()}


def game_of(name: str) -> str:
    """Returns the game that an id names, such as "moonfarm/TowerDefence-v0" or "TowerDefence-v0"; another name as it is."""
    return _IDS.get(name.rpartition("/")[2], name) if isinstance(name, str) else name


def register() -> None:
    """Registers all games as moonfarm/NAME-v0, unless they are registered."""
    from gymnasium.envs.registration import register as add
    from gymnasium.envs.registration import registry

    for name, game in _IDS.items():
        if f"moonfarm/{name}" not in registry:
            add(
                id=f"moonfarm/{name}",
                entry_point="moonfarm.single:make_env",
                vector_entry_point="moonfarm.registration:make_vec",
                kwargs={"game": game},
            )


def make_vec(
    game: str, num_envs: int = 1, *, opponent: Any = "random", max_turns: int = 0, max_episode_steps: int | None = None, **arguments: Any
) -> Any:
    """The function that gymnasium.make_vec calls: moonfarm.make_vec with an opponent, as in gymnasium.make.

    max_episode_steps: Gymnasium's name of max_turns, where a step is a turn; as in gymnasium.make -1 stands for no limit.
    """
    from .making import make_vec as make

    steps = max(max_episode_steps or 0, 0)
    envs = make(game, num_envs, opponent=opponent, max_turns=max_turns or steps, **arguments)
    if steps and envs.sequential:
        envs.close()
        raise ValueError(
            f"max_episode_steps: a turn of the form {envs.form!r} has several steps; max_turns limits the turns, "
            'or vectorization_mode="sync" the steps of single environments'
        )
    return envs


class Specified:
    """An environment whose spec says how many steps an episode has at most."""

    _spec: Any = None

    @property
    def spec(self) -> Any:
        """The gymnasium.envs.registration.EnvSpec that gymnasium.make and make_vec give; else None."""
        return self._spec

    @spec.setter
    def spec(self, given: Any) -> None:
        if getattr(given, "max_episode_steps", 0) is None:  # Gymnasium knows no rules and no max_turns
            given = copy.copy(given)
            given.max_episode_steps = self._most_steps()
        self._spec = given

    def _most_steps(self) -> int | None:
        """Returns the number of steps after which an episode ends at the latest; None if it is not known."""
        raise NotImplementedError


class _Watch:
    """Registers the games after Gymnasium has been imported; it finds no modules itself."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        if name != "gymnasium":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self  # type: ignore[assignment]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if self in sys.meta_path:  # not before: looking for Gymnasium does not mean importing it
            sys.meta_path.remove(self)
        module.__loader__ = module.__spec__.loader = self._loader  # type: ignore[union-attr]
        self._loader.exec_module(module)
        register()


def watch() -> None:
    """Registers the games now or as soon as Gymnasium is imported."""
    if "gymnasium.envs.registration" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _Watch())
