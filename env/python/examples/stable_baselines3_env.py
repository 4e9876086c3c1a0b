"""A vector of games as the VecEnv that Stable-Baselines3 trains on.

    from stable_baselines3 import PPO
    from stable_baselines3_env import StableBaselinesEnv

    model = PPO("MlpPolicy", StableBaselinesEnv("tron", 64, opponent="safe"))
    model.learn(200_000)

Observations are vectors: planes (or tensors of the form) and scalars, divided by their scales, in sequence. With
flat=False they are dicts, for a network of your own, because that of MultiInputPolicy is for pictures larger than most
boards. With opponent=None the policy plays all seats: each is an environment of its own.
env_method("action_masks") returns the masks that MaskablePPO of sb3-contrib asks for. The file is complete: copy it
and change it. As a program it trains for a while, if Stable-Baselines3 is installed:

    python3 stable_baselines3_env.py tron --seconds 60
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from gymnasium import spaces

import moonfarm

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    VecEnv = object  # the class has the same methods without Stable-Baselines3


def scales(description: dict[str, Any]) -> dict[str, np.ndarray]:
    """Returns what to divide the parts of an observation by."""
    found = {name: np.array([x["scale"] for x in description[name]], np.float32) for name in ("planes", "scalars")}
    found["planes"] = found["planes"][:, None, None]
    for t in description["tensors"]:
        shape = [1] * len(t["dims"])
        shape[t["axis"]] = -1
        found[t["name"]] = np.array([x["scale"] for x in t["fields"]], np.float32).reshape(shape)
    return found


class StableBaselinesEnv(VecEnv):
    """A VecEnv with the arguments of make_vec."""

    def __init__(self, game: str, num_envs: int, *, seed: int | None = None, flat: bool = True, **options: Any) -> None:
        self.envs = moonfarm.make_vec(game, num_envs, autoreset="same_step", **options)
        self.render_mode = None
        self.num_envs = self.envs.num_envs  # in self-play the seats of all games
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space
        self._flat = flat
        if flat:
            self._scales = scales(self.envs.description)
            size = sum(int(np.prod(space.shape)) for space in self.observation_space.values())
            self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self._next_seed = seed
        self._actions: np.ndarray | None = None
        if VecEnv is not object:
            super().__init__(self.num_envs, self.observation_space, self.action_space)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Sets the seed of the next reset; environment i gets seed + i."""
        self._next_seed = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def reset(self) -> Any:
        observation, _ = self.envs.reset(seed=self._next_seed)
        self._next_seed = None
        return self._seen(observation)

    def _seen(self, observation: Any) -> Any:
        """Returns observations of any number of rows in the chosen form."""
        if not self._flat:
            return observation
        rows = observation["scalars"].shape[:-1]
        parts = [np.float32(array / self._scales.get(name, 1)).reshape(*rows, -1) for name, array in observation.items()]
        return np.concatenate(parts, axis=-1)

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        observation, reward, terminated, truncated, found = self.envs.step(self._actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(done):
            infos[i]["terminal_observation"] = self._seen(found["final_obs"][i])
            infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
            for name in ("opponent", "score", "result"):  # for VecMonitor(…, info_keywords=("opponent", "result"))
                if name in found["final_info"]:
                    infos[i][name] = found["final_info"][name][i]
        return self._seen(observation), reward, done, infos

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        self.step_async(actions)
        return self.step_wait()

    def close(self) -> None:
        self.envs.close()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        if method_name == "action_masks":
            masks = self.envs.action_masks()
            return [masks[i] for i in self._indices(indices)]
        raise AttributeError(f"environments have no method {method_name!r}")

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        if attr_name == "action_masks":  # MaskablePPO looks for such a method
            return [lambda i=i: self.envs.action_masks()[i] for i in self._indices(indices)]
        return [getattr(self, attr_name) for _ in self._indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise AttributeError("all games of a vector have the same attributes, and those cannot be set")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False for _ in self._indices(indices)]

    def _indices(self, indices: Any) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, int) else list(indices)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", default="tron")
    parser.add_argument("--opponent", default="random")
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if VecEnv is object:
        raise SystemExit("Stable-Baselines3 is not installed")
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecMonitor

    class StopAfter(BaseCallback):
        end = time.monotonic() + args.seconds

        def _on_step(self) -> bool:
            return time.monotonic() < self.end

    envs = VecMonitor(StableBaselinesEnv(args.game, args.envs, opponent=args.opponent, seed=args.seed))
    model = PPO("MlpPolicy", envs, n_steps=128, batch_size=1024, seed=args.seed, verbose=1)
    model.learn(10**9, callback=StopAfter())
    envs.close()


if __name__ == "__main__":
    main()
