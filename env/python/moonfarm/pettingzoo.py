"""All players of one game by name: pettingzoo.ParallelEnv."""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, library, making, spaces
from .arrays import UNENDED
from .copies import Copied, plain, plain_class, with_base
from .vector import VectorEnv


@plain_class
class ParallelEnv(Copied):
    """One game in which every player is an agent: "player_0", "player_1" …

    If PettingZoo is installed, parallel_env returns a pettingzoo.ParallelEnv. If an
    action has one head, an observation is a dict of "observation" and "action_mask"
    (int8 [choices], 1 where legal), as in PettingZoo's own games. With several heads
    it is only the observation, and infos have "action_mask", a tuple of the heads'
    masks. action_space(agent).sample takes either kind of mask; with action_mask=False
    there is neither, for libraries whose infos must be arrays. At the end of an
    episode only the choice that orders nothing is legal. In a sequential form the same
    is true of an agent that has ended its turn and waits for others, and infos have
    "waits", bool.
    """

    def __init__(self, game: str, **arguments: Any) -> None:
        for name in ("num_envs", "opponent", "opponent_weights", "seat", "autoreset", "batch_size", "copy"):
            if name in arguments:
                raise TypeError(f"{name}: there is one game, every seat of which is an agent")
        arguments.setdefault("workers", 1)
        self._around(making.make_vec(game, 1, autoreset="disabled", copy=True, **arguments))

    def _around(self, v: VectorEnv) -> None:
        """Makes this environment the one game of a vector."""
        self.vector = v
        self._begun = False
        self.possible_agents = [f"player_{i}" for i in range(v.players)]
        self.agents: list[str] = []
        self._in_observation = len(v.heads) == 1 and v._with_action_mask
        self._borders = np.cumsum(v.heads)[:-1]  # of the heads among all choices
        self.metadata = {
            "name": v.game + "_v0", "render_modes": [*arguments.RENDER_MODES], "render_fps": 10, "is_parallelizable": True,
        }  # fmt: skip
        self.render_mode = v.render_mode
        shapes = {name: array.shape[1:] for name, array in v._whole.parts}
        self.action_spaces, self.observation_spaces = {}, {}
        for agent in self.possible_agents:
            seen = spaces.observation(shapes, v._alone)
            if self._in_observation:
                seen = spaces.with_mask(seen, v.choices)
            self.observation_spaces[agent] = seen
            self.action_spaces[agent] = spaces.action(v.heads)
        self._seal()

    def observation_space(self, agent: str) -> Any:
        """Returns the space of the agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Returns the space of the agent's actions, always the same object."""
        return self.action_spaces[agent]

    @property
    def num_agents(self) -> int:
        """The number of agents that still play."""
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        """The number of agents."""
        return len(self.possible_agents)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begins an episode: with the seed, or the next one of the latest seed. Returns observations and infos by agent."""
        """Begins an episode: with the seed, or the next of the latest seed. Returns observations and infos by agent."""
        obs, infos = self.vector.reset(seed=seed, options=options)
        self.agents, self._begun = self.possible_agents[:], True
        return self._seen(obs, infos)

    def _seen(self, obs: Any, infos: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        masks = infos["action_mask"].view(np.int8) if "action_mask" in infos else None
        observations, said = {}, {}
        for row, agent in enumerate(self.possible_agents):
            mine = obs[row] if self.vector._alone else {name: array[row] for name, array in obs.items()}
            said[agent] = {"mask": infos["mask"][row], "score": UNENDED, "result": UNENDED}
            if "waits" in infos:
                said[agent]["waits"] = bool(infos["waits"][row])
            if masks is not None and self._in_observation:
                mine = {"observation": mine, "action_mask": masks[row]}
            elif masks is not None:
                said[agent]["action_mask"] = tuple(np.split(masks[row], self._borders))
            observations[agent] = mine
        return observations, said

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Plays a turn.

        actions: for each agent a whole number, or int [heads]. Returns
        observations, rewards, terminations, truncations and infos by agent; infos
        have "mask", the legal choices as bits, and "score" and "result" of
        the episode, NaN until its end. An episode that has ended has no agents, and its step returns
        nothing.
        """
        if not self._begun:
            raise library.StateError("step: the game has not begun, reset begins it")
        if not self.agents:
            return {}, {}, {}, {}, {}
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise ValueError(f"actions: no action for {', '.join(missing)}")
        obs, reward, terminated, truncated, infos = self.vector.step([actions[agent] for agent in self.agents])
        observations, said = self._seen(obs, infos)
        agents = self.agents
        for row, agent in enumerate(agents):
            if infos["_score"][row]:
                said[agent].update({k: infos[k][row] for k in ("score", "result")})
        rewards = dict(zip(agents, reward.tolist()))
        terminations, truncations = dict(zip(agents, terminated.tolist())), dict(zip(agents, truncated.tolist()))
        if terminated[0] or truncated[0]:
            self.agents = []
        return observations, rewards, terminations, truncations, said

    def action_masks(self, agent: str) -> NDArray[np.bool_]:
        """Returns the agent's legal choices as bool [choices], head after head."""
        return self.vector.action_masks()[self.possible_agents.index(agent)]

    def ask(self, policy: str) -> dict[str, Any]:
        """Returns what a policy would choose for each agent: an action for step; see VectorEnv.ask."""
        answers = self.vector.ask(policy)
        return {agent: answers[self.possible_agents.index(agent)] for agent in self.agents}

    def get_state(self) -> bytes:
        """Returns the complete state of the game as bytes."""
        return self.vector.get_state(0)

    def set_state(self, state: bytes) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Restores a state of get_state, of a running game. Returns observations and infos by agent."""
        obs, infos = self.vector.set_state(state, 0)
        self.agents, self._begun = self.possible_agents[:], True
        return self._seen(obs, infos)

    def clone(self) -> ParallelEnv:
        """Returns another environment in the same state. set_state of an existing one is much faster."""
        other = _remade(plain(type(self)), self.vector.clone())
        other.agents, other._begun = self.agents[:], self._begun
        return other

    def _made(self) -> tuple[Any, tuple[Any, ...]]:
        return _remade, (plain(type(self)), self.vector)

    def _state(self) -> dict[str, Any]:
        return {"generators": [spaces.generators(space) for space in self._spaces()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for space, generators in zip(self._spaces(), state["generators"]):
            spaces.give(space, generators)
        super().__setstate__(state)

    def _spaces(self) -> list[Any]:
        return [*self.observation_spaces.values(), *self.action_spaces.values()]

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
    def unwrapped(self) -> ParallelEnv:
        """This environment."""
        return self

    def __str__(self) -> str:
        return str(self.metadata["name"])


@functools.lru_cache(maxsize=None)
def parallel_class() -> type[ParallelEnv]:
    """Returns the class, as a pettingzoo.ParallelEnv if PettingZoo is installed."""
    try:
        import pettingzoo
    except ImportError:
        return ParallelEnv
    return with_base(ParallelEnv, pettingzoo.ParallelEnv)


def _remade(kind: type[ParallelEnv], vector: VectorEnv) -> ParallelEnv:
    """Makes an environment of a class around a vector of one game."""
    kind = parallel_class() if kind is ParallelEnv else kind
    env = kind.__new__(kind)
    env._around(vector)
    return env


def parallel_env(game: str, **arguments: Any) -> ParallelEnv:
    """Makes one game in which all players are agents; the arguments but those of vectors and opponents as for make_vec."""
    return parallel_class()(game, **arguments)


def aec_env(game: str, **arguments: Any) -> Any:
    """Makes a pettingzoo.AECEnv, in which the agents act one after the other; it needs PettingZoo."""
    from pettingzoo.utils.conversions import parallel_to_aec

    return parallel_to_aec(parallel_env(game, **arguments))


@functools.lru_cache(maxsize=None)
def module_of(game: str) -> types.ModuleType:
    """Returns a module with parallel_env and env, as PettingZoo has one for each of its games."""
    module = types.ModuleType(f"moonfarm.{game}_v0", f"The game {game} as a module of PettingZoo: parallel_env(**arguments) and env(**arguments).")
    module.parallel_env, module.env = functools.partial(parallel_env, game), functools.partial(aec_env, game)  # type: ignore[attr-defined]
    return module
