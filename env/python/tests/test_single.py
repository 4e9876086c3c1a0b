"""One game, and one game with all its players, compared with the library."""

import copy
import pickle
import unittest

import numpy as np

import moonfarm


class Names(unittest.TestCase):
    def test_ids_and_modules(self):
        for name in ("TowerDefence-v0", "moonfarm/TowerDefence-v0", "towerdefence"):
            self.assertEqual(moonfarm.make(name).vector.game, "towerdefence")
            self.assertEqual(moonfarm.parallel_env(name).vector.game, "towerdefence")
        for game in moonfarm.games():
            module = getattr(moonfarm, f"{game['name']}_v0")
            self.assertEqual(str(module.parallel_env(max_turns=4)), module.__name__.rpartition(".")[2])
        from moonfarm import tron_v0

        self.assertIs(tron_v0, moonfarm.tron_v0)
        for name in ("chess_v0", "towerdefence_v1"):
            with self.assertRaisesRegex(AttributeError, name):
                getattr(moonfarm, name)


class Single(unittest.TestCase):
    def test_every_game(self):
        for game in moonfarm.games():
            with self.subTest(game["name"]):
                env = moonfarm.make_env(game["name"], max_turns=3, render_mode="ansi")
                obs, info = env.reset(seed=1)
                self.assertIn(obs, env.observation_space)
                env.action_space.seed(1)
                for turn in range(3):
                    self.assertEqual(set(info), {"mask", "action_mask", "opponent", "score", "result"})
                    self.assertTrue(np.isnan(info["score"]) and np.isnan(info["result"]))
                    self.assertEqual(copy.deepcopy(info["score"]), pickle.loads(pickle.dumps(info["score"])))
                    obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
                    self.assertIn(obs, env.observation_space)
                    self.assertEqual([type(x) for x in (reward, terminated, truncated)], [float, bool, bool])
                    self.assertEqual(truncated, turn == 2)
                self.assertFalse(np.isnan(info["score"]) or np.isnan(info["result"]))
                self.assertIsInstance(info["score"], np.float32)
                self.assertEqual(info["action_mask"].dtype, np.bool_)
                np.testing.assert_array_equal(info["action_mask"], env.action_masks())
                self.assertIsInstance(env.render(), str)
                with self.assertRaises(moonfarm.StateError):
                    env.step(env.action_space.sample())
                env.close()
                with self.assertRaises(moonfarm.HandleError):
                    env.step(0)

    def test_as_in_a_vector(self):
        def policy(obs, infos):
            return np.full(len(infos["mask"]), 320)

        for opponent in ("econ", ["rush", "turtle"], policy):
            env = moonfarm.make_env("towerdefence", opponent=opponent, seat="random", reward="score", max_turns=30)
            vec = moonfarm.make_vec(
                "towerdefence", 1, opponent=opponent, seat="random", reward="score", max_turns=30, autoreset="disabled"
            )
            for episode in range(3):
                seed = {"seed": 4} if episode == 0 else {}
                (obs, info), (all_obs, infos) = env.reset(**seed), vec.reset(**seed)
                rng, ended = np.random.default_rng(episode), False
                while not ended:
                    np.testing.assert_array_equal(obs["planes"], all_obs["planes"][0])
                    np.testing.assert_array_equal(info["mask"], infos["mask"][0])
                    np.testing.assert_array_equal(info["action_mask"], infos["action_mask"][0])
                    np.testing.assert_array_equal(env.action_masks(), vec.action_masks()[0])
                    action = rng.choice(np.flatnonzero(env.action_masks()))
                    obs, reward, terminated, truncated, info = env.step(action)
                    all_obs, *others, infos = vec.step([action])
                    self.assertEqual((reward, terminated, truncated), tuple(x[0] for x in others))
                    ended = terminated or truncated
                self.assertEqual(info["score"], infos["score"][0])

    def test_actions(self):
        env = moonfarm.make_env("tron", opponent="safe")
        for good in (1, np.int64(1), np.int32(1), np.uint8(1), np.array(1)):
            env.reset(seed=1)
            env.step(good)
        for wrong, kind in (
            (1.0, TypeError), (np.float32(1), TypeError), (None, TypeError), ([1], ValueError), ("1", TypeError),
            (True, TypeError), (np.True_, TypeError), (np.array(True), TypeError),
        ):
            with self.assertRaisesRegex(kind, "^action: "):
                env.step(wrong)
        in_python = moonfarm.make_env("tron", opponent=lambda obs, infos: np.zeros(len(infos["mask"]), np.int32))
        in_python.reset(seed=1)
        with self.assertRaisesRegex(TypeError, "^actions: "):
            in_python.step(True)
        for wrong in (3, -2, 2**40, np.int64(2**32)):
            with self.assertRaises(moonfarm.ArgumentError):
                env.step(wrong)
        many = moonfarm.make_env("terminal")
        many.reset(seed=1)
        many.step(many.action_space.sample())
        with self.assertRaisesRegex(TypeError, "^action: "):
            many.step([True] + [0] * (len(many.vector.heads) - 1))
        with self.assertRaisesRegex(ValueError, "^action: expected shape"):
            many.step(0)

    def test_clones(self):
        env = moonfarm.make_env("codecraft", opponent="econ", form="cells")
        env.reset(seed=1)
        idle = np.zeros(len(env.vector.heads), np.int32)
        for _ in range(5):
            env.step(idle)
        state, other = env.get_state(), copy.deepcopy(env)
        want = [env.step(idle)[0]["planes"] for _ in range(20)]
        np.testing.assert_array_equal([other.step(idle)[0]["planes"] for _ in range(20)], want)
        env.set_state(state)
        np.testing.assert_array_equal([env.step(idle)[0]["planes"] for _ in range(20)], want)

    def test_no_copies(self):
        env = moonfarm.make_env("tron", opponent="safe", copy=False)
        env.reset(seed=1)
        one, other = env.step(0)[0]["planes"], env.step(0)[0]["planes"]
        self.assertIs(one, other)
        env = moonfarm.make_env("tron", opponent="safe")
        env.reset(seed=1)
        one, other = env.step(0)[0]["planes"], env.step(0)[0]["planes"]
        self.assertFalse(np.array_equal(one, other))

    def test_refused(self):
        for arguments, kind in (
            ({"opponent": None}, ValueError), ({"num_envs": 2}, TypeError), ({"autoreset": "disabled"}, TypeError),
        ):
            with self.assertRaisesRegex(kind, f"^{next(iter(arguments))}: "):
                moonfarm.make_env("tron", **arguments)


class Parallel(unittest.TestCase):
    def test_every_game(self):
        for game in moonfarm.games():
            with self.subTest(game["name"]):
                env = moonfarm.parallel_env(game["name"], max_turns=3, render_mode="ansi")
                agents = env.possible_agents
                for agent in agents:
                    env.action_space(agent).seed(1)
                self.assertEqual(agents, ["player_0", "player_1"])
                for start in range(2):
                    obs, infos = env.reset(seed=1)
                    self.assertEqual(env.agents, agents)
                    for turn in range(3):
                        actions = {}
                        for agent in env.agents:
                            self.assertTrue(np.isnan(infos[agent]["score"]) and np.isnan(infos[agent]["result"]))
                            self.assertIs(env.action_space(agent), env.action_space(agent))
                            self.assertIn(obs[agent], env.observation_space(agent))
                            one = len(env.vector.heads) == 1
                            mask = (obs if one else infos)[agent]["action_mask"]
                            self.assertEqual([len(m) for m in ([mask] if one else mask)], env.vector.heads)
                            whole = mask if one else np.concatenate(mask)
                            self.assertEqual(whole.dtype, np.int8)
                            np.testing.assert_array_equal(whole, env.action_masks(agent))
                            actions[agent] = env.action_space(agent).sample(mask)
                        obs, rewards, terminated, truncated, infos = env.step(actions)
                        self.assertEqual(sum(rewards.values()), 0)
                        ended = {agent: terminated[agent] or truncated[agent] for agent in agents}
                        self.assertEqual(ended, dict.fromkeys(agents, turn == 2))
                    self.assertEqual((env.agents, set(obs)), ([], set(agents)))
                    self.assertFalse(np.isnan(infos["player_1"]["score"]))
                self.assertEqual(env.step({}), ({}, {}, {}, {}, {}))
                self.assertIsInstance(env.render(), str)
                env.close()

    def test_clones(self):
        env = moonfarm.parallel_env("tron")
        env.reset(seed=1)
        still = dict.fromkeys(env.agents, 0)
        env.step(still)
        other, state = env.clone(), env.get_state()
        want = env.step(still)[0]["player_0"]["observation"]["planes"]
        np.testing.assert_array_equal(other.step(still)[0]["player_0"]["observation"]["planes"], want)
        env.set_state(state)
        np.testing.assert_array_equal(env.step(still)[0]["player_0"]["observation"]["planes"], want)

    def test_refused(self):
        env = moonfarm.parallel_env("tron")
        env.reset(seed=1)
        with self.assertRaisesRegex(ValueError, "^actions: no action for player_1"):
            env.step({"player_0": 0})
        with self.assertRaisesRegex(TypeError, "^actions: .*bool"):
            env.step({"player_0": 0, "player_1": True})
        with self.assertRaisesRegex(TypeError, "^opponent: "):
            moonfarm.parallel_env("tron", opponent="safe")


if __name__ == "__main__":
    unittest.main()
