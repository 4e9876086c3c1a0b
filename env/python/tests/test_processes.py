"""Vectors of other packages, with environments in spawned processes."""

import importlib.util
import multiprocessing
import unittest
from unittest import mock

import numpy as np

import moonfarm


def needs(*names):
    """Skips a test if packages are missing."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"left out: not installed: {', '.join(missing)}")


class Processes(unittest.TestCase):
    @needs("gymnasium", "cloudpickle")
    def test_gymnasium(self):
        import gymnasium

        envs = gymnasium.vector.AsyncVectorEnv([lambda: gymnasium.make("moonfarm:moonfarm/Tron-v0")] * 2, context="spawn")
        envs.reset(seed=1)
        self.assertEqual(envs.step(np.zeros(2, np.int64))[1].shape, (2,))
        envs.close()

    @needs("supersuit", "pettingzoo", "cloudpickle")
    def test_supersuit(self):
        import supersuit

        spawn = multiprocessing.get_context("spawn")
        with mock.patch.multiple(multiprocessing, Process=spawn.Process):
            one = supersuit.pettingzoo_env_to_vec_env_v1(moonfarm.parallel_env("towerdefence", max_turns=4))
            for processes in (0, 2):
                envs = supersuit.concat_vec_envs_v1(one, 4, num_cpus=processes, base_class="gymnasium")
                envs.reset(seed=1)
                for _ in range(6):
                    self.assertEqual(envs.step(np.zeros(8, np.int64))[1].shape, (8,))
                envs.close()

    @needs("stable_baselines3", "cloudpickle")
    def test_stable_baselines(self):
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

        for kind, options in ((DummyVecEnv, {}), (SubprocVecEnv, {"start_method": "spawn"})):
            envs = make_vec_env(
                "moonfarm:moonfarm/TowerDefence-v0", 2, seed=3, env_kwargs={"opponent": "econ", "max_turns": 4},
                vec_env_cls=kind, vec_env_kwargs=options,
            )  # fmt: skip
            envs.reset()
            for _ in range(6):
                self.assertEqual(envs.step([0, 0])[0]["planes"].shape[0], 2)
            envs.close()

    @needs("gymnasium", "cloudpickle")
    def test_wrapped(self):
        """Copies of wrapped environments keep their spec, also by cloudpickle, which Ray uses."""
        import copy

        import cloudpickle
        import gymnasium

        env = gymnasium.make("moonfarm/Tron-v0", opponent="safe")
        env.reset(seed=1)
        for other in (copy.deepcopy(env), cloudpickle.loads(cloudpickle.dumps(env))):
            self.assertEqual(other.spec, env.spec)
            self.assertIs(type(other.unwrapped), type(env.unwrapped))
            np.testing.assert_array_equal(other.step(0)[0]["planes"], copy.deepcopy(env).step(0)[0]["planes"])


if __name__ == "__main__":
    unittest.main()
