"""Errors name the argument; infos name the opponent."""

import collections
import tempfile
import unittest
from pathlib import Path

import numpy as np

import moonfarm


def left(obs, infos):
    return np.ones(len(infos["mask"]), np.int32)


def on(obs, infos):
    return np.zeros(len(infos["mask"]), np.int32)


class Arguments(unittest.TestCase):
    def test_seeds(self):
        env, one, both = moonfarm.make_vec("tron", 2), moonfarm.make_env("tron"), moonfarm.parallel_env("tron")
        for wrong, kind in ((1.0, TypeError), ("1", TypeError), (-1, ValueError), (2**64, ValueError), (np.float32(1), TypeError)):
            for each in (env, one, both):
                with self.assertRaisesRegex(kind, "^seed: "):
                    each.reset(seed=wrong)
        with self.assertRaisesRegex(TypeError, "^seed: "):
            env.reset(seed=[1, 2.0])
        with self.assertRaisesRegex(TypeError, "^seed: "):
            one.reset(seed=[1])
        for good in (1, np.int64(1), np.array(1)):
            one.reset(seed=good)
        for each in (env, one, both):
            with self.assertRaisesRegex(TypeError, "^options: "):
                each.reset(options=[1])

    def test_step_before_reset(self):
        for env, action in ((moonfarm.make_vec("tron", 2), [0] * 4), (moonfarm.make_env("tron"), 0), (moonfarm.parallel_env("tron"), {})):
            with self.assertRaisesRegex(moonfarm.StateError, "has not begun"):
                env.step(action)

    def test_render_modes(self):
        """A mode that does not exist is a TypeError in Gymnasium, and Stable-Baselines3 catches nothing else."""
        for make in (moonfarm.make_vec, moonfarm.make_env, moonfarm.parallel_env):
            for mode in ("rgb", "human", ""):
                with self.assertRaisesRegex(TypeError, f"^render_mode: '{mode}' "):
                    make("tron", render_mode=mode)

    def test_names_and_paths(self):
        for name in ("game", "reward", "opponent", "rules"):
            given = {"game": "tron", "opponent": "safe", name: "a\0b"}
            with self.assertRaisesRegex(ValueError, f"^{name}: "):
                moonfarm.make_vec(**given)
        for name in ("game", "reward"):
            with self.assertRaisesRegex(ValueError, f"^{name}: the name is empty"):
                moonfarm.make_vec(**{"game": "tron", name: ""})
        for wrong, kind in (("", ValueError), ("a\0b", ValueError), (b"a", TypeError), (3, TypeError)):
            with self.assertRaisesRegex(kind, "^path: "):
                moonfarm.dataset(wrong)
        with self.assertRaisesRegex(ValueError, "^rules: "):
            moonfarm.make_vec("tron", rules=Path("a\0b"))
        with tempfile.TemporaryDirectory() as folder:
            rules = Path(folder) / "rules"
            rules.write_bytes(b"\xef\xbb\xbftorus=true\n")
            self.assertIn("torus=true", moonfarm.make_vec("tron", rules=rules).description["rules"])

    def test_overlapping_buffers(self):
        memory = np.zeros(24, np.float32)
        given = {"reward": memory[:4], "final_score": memory[2:6]}
        with self.assertRaisesRegex(ValueError, "^buffers: .* overlap"):
            moonfarm.make_vec("tron", 2, buffers=given)
        env = moonfarm.make_vec("tron", 16384, opponent="safe", buffers={"reward": np.zeros(16384, np.float32)})
        env.reset(seed=1)
        with self.assertRaisesRegex(moonfarm.ArgumentError, "overlap"):
            env.step(env.arrays["reward"].view(np.int32))

    def test_games(self):
        for game in moonfarm.games():
            env = moonfarm.make_vec(game["name"], 1)
            self.assertEqual((game["heads"], game["players"], game["max_turns"]), (env.heads, env.players, env.max_turns))
            self.assertEqual(game["rewards"], env.description["rewards"])
            self.assertEqual(tuple(game["shapes"]["planes"]), env.arrays["planes"].shape[1:])
            self.assertEqual(tuple(game["shapes"]["mask"]), env.arrays["mask"].shape[1:])


class Opponents(unittest.TestCase):
    def statistics(self, env, steps):
        """Returns the results against each opponent, as reported in infos."""
        results = collections.defaultdict(list)
        infos = env.reset(seed=3)[1]
        for _ in range(steps):
            before = infos["opponent"]
            self.assertEqual(before.shape, (env.num_envs,))
            *_, terminated, truncated, infos = env.step(np.zeros(env.num_envs, np.int32))
            end = infos.get("final_info", infos)
            if "result" in end:
                ended = end["_result"]
                np.testing.assert_array_equal(end["opponent"][ended], before[ended])
                for name, result in zip(end["opponent"][ended], end["result"][ended]):
                    results[name].append(float(result))
            if env._mode == 2 and (terminated | truncated).any():
                infos = env.reset(options={"reset_mask": terminated | truncated})[1]
        return results

    def test_texts(self):
        for mode in ("next_step", "same_step", "disabled"):
            for copy in (True, False):
                env = moonfarm.make_vec("tron", 8, opponent=["safe", "empty", "random"], seat="random", autoreset=mode, copy=copy)
                found = self.statistics(env, 200)
                self.assertEqual(set(found), {"safe", "empty", "random"})
                self.assertGreater(min(map(len, found.values())), 5)

    def test_who_is_named_plays(self):
        """A vector against one opponent plays what the opponent of that name plays in a vector against several."""
        several = moonfarm.make_vec("towerdefence", 12, opponent=["econ", "rush", "empty"])
        names = several.reset(seed=5)[1]["opponent"]
        self.assertEqual(len(set(names)), 3)
        alone = {name: moonfarm.make_vec("towerdefence", 12, opponent=name) for name in set(names)}
        for name, env in alone.items():
            self.assertEqual(set(env.reset(seed=5)[1]["opponent"]), {name})
        for _ in range(30):
            idle = np.full(12, 320)
            got = several.step(idle)[0]["planes"]
            for name, env in alone.items():
                want = env.step(idle)[0]["planes"]
                np.testing.assert_array_equal(got[names == name], want[names == name])

    def test_functions(self):
        for mode in ("next_step", "same_step"):
            found = self.statistics(moonfarm.make_vec("tron", 6, opponent=[left, on], seat="random", autoreset=mode), 100)
            self.assertEqual(set(found), {"left", "on"})
        lambdas = [lambda obs, infos: left(obs, infos), lambda obs, infos: on(obs, infos)]
        names = moonfarm.make_vec("tron", 9, opponent=lambdas).reset(seed=1)[1]["opponent"]
        self.assertEqual(set(names), {"<lambda>#0", "<lambda>#1"})

    def test_blocks_and_states(self):
        env = moonfarm.make_vec("tron", 4, opponent=["safe", "random"], batch_size=2)
        names = env.reset(seed=2)[1]["opponent"]
        env.send(np.zeros(4, np.int32))
        for _ in range(2):
            infos = env.recv()[4]
            np.testing.assert_array_equal(infos["opponent"], names[infos["env_id"]])
        other = moonfarm.make_vec("tron", 4, opponent=["safe", "random"])
        other.reset(seed=77)
        np.testing.assert_array_equal(other.set_state(env.get_state())[1]["opponent"], names)

    def test_single(self):
        env = moonfarm.make_env("tron", opponent=["safe", "random", "empty"])
        seen = set()
        for episode in range(30):
            name = env.reset(seed=7 if episode == 0 else None)[1]["opponent"]
            seen.add(name)
            ended = False
            while not ended:
                *_, terminated, truncated, info = env.step(0)
                ended = terminated or truncated
                self.assertEqual(info["opponent"], name)
        self.assertEqual(seen, {"safe", "random", "empty"})
        self.assertNotIn("opponent", moonfarm.make_vec("tron", 1).reset()[1])


if __name__ == "__main__":
    unittest.main()
