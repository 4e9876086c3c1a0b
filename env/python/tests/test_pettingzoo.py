"""The environments of several agents under PettingZoo's own tests."""

from __future__ import annotations

import functools
import unittest
import warnings

import numpy as np

import moonfarm

try:
    import gymnasium  # noqa: F401  PettingZoo's spaces are Gymnasium's
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
    from pettingzoo.utils.conversions import parallel_to_aec
except ImportError as missing:
    raise unittest.SkipTest(f"left out: {missing}") from None

NAMES = [g["name"] for g in moonfarm.games()]


class PettingZoo(unittest.TestCase):
    def each(self, check, turns=30):
        """Calls check for each game with a constructor of its environment. A warning is an error."""
        for game in NAMES:
            with self.subTest(game=game), warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", category=DeprecationWarning)
                check(functools.partial(moonfarm.parallel_env, game, max_turns=turns))

    def test_api(self):
        self.each(lambda make: parallel_api_test(make(), num_cycles=100))

    def test_modules(self):
        """The module of each game makes a game of agents that act one after the other, as those of PettingZoo do."""
        for game in NAMES:
            env = getattr(moonfarm, f"{game}_v0").env(max_turns=4)
            self.assertEqual(env.metadata["name"], f"{game}_v0")
            api_test(env, num_cycles=4)

    def test_seeds(self):
        self.each(lambda make: parallel_seed_test(make, num_cycles=40))

    def test_one_agent_at_a_time(self):
        """Uses PettingZoo's conversion, which draws choices by the masks."""
        self.each(self.one_agent_at_a_time, turns=12)

    def one_agent_at_a_time(self, make):
        seed_test(lambda: parallel_to_aec(make()), num_cycles=8)
        with warnings.catch_warnings():
            # About styles of observations, and an optional method.
            warnings.simplefilter("ignore")
            # Up to 1.24.3 the test only supports masks beside observations that are arrays.
            api_test(parallel_to_aec(make(obs=("planes",))), num_cycles=20)

    def test_seats_of_all_rules(self):
        env = moonfarm.parallel_env("codecraft", rules="round1-3", max_turns=4)
        self.assertEqual(len(env.possible_agents), 3)
        parallel_api_test(env, num_cycles=6)

    def test_ansi(self):
        self.each(self.ansi)

    def ansi(self, make):
        env = make(render_mode="ansi")
        env.reset(seed=1)
        self.assertIsInstance(env.render(), str)
        env = make(render_mode="rgb_array", render_width=128)
        env.reset(seed=1)
        self.assertEqual((env.render().shape[1:], env.render().dtype), ((128, 3), np.uint8))
        env.close()


if __name__ == "__main__":
    unittest.main()
