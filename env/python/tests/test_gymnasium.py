"""The environments under Gymnasium's own checkers, wrappers and rules for vectors."""

from __future__ import annotations

import copy
import importlib.util
import os
import sys
import unittest
import warnings
from unittest import mock

import numpy as np

import moonfarm

try:
    import gymnasium
    from gymnasium.utils.env_checker import check_env
    from gymnasium.vector import SyncVectorEnv, VectorEnv
except ImportError as missing:
    raise unittest.SkipTest(f"left out: {missing}") from None

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "examples"))

import stable_baselines3_env as sb3  # noqa: E402

AutoresetMode = getattr(gymnasium.vector, "AutoresetMode", None)  # from release 1.1 on
BEFORE_1 = gymnasium.__version__ < "1."
MODES = ("next_step", "same_step", "disabled")
FORMS = ("planes", "packed", "both", ("planes",), ("planes", "action_mask"))


NAMES = [g["name"] for g in moonfarm.games()]
IDS = sorted(i for i in gymnasium.registry if i.startswith("moonfarm/"))


def game_of(env_id: str) -> str:
    """Returns the game's name in an environment's id."""
    return gymnasium.spec(env_id).kwargs["game"]


def vectors(games=None, **options):
    """Makes a small vector of each game whose episodes end after a few turns."""
    for game in games or [game_of(i) for i in IDS]:
        envs = moonfarm.make_vec(game, 3, opponent="random", max_turns=5, **options)
        try:
            yield game, envs
        finally:
            envs.close()


def same(a, b) -> bool:
    """Whether two results of environments are bitwise equal and of equal types."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


def rows(observation, which):
    """Returns the rows of a batch of observations."""
    if isinstance(observation, dict):
        return {k: v[which] for k, v in observation.items()}
    return observation[which]


class Single(unittest.TestCase):
    def test_every_game_has_an_environment(self):
        self.assertEqual(sorted(game_of(i) for i in IDS), sorted(NAMES))

    def test_check_env(self):
        """check_env raises on errors and otherwise warns: only warnings about scalars without bounds are allowed."""
        for env_id in IDS:
            for seat in (0, 1, "random"):
                for obs in FORMS:
                    with self.subTest(id=env_id, seat=seat, obs=obs):
                        self.check(gymnasium.make(env_id, opponent="random", seat=seat, obs=obs).unwrapped)

    def check(self, env):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            check_env(env)
        env.close()
        self.assertEqual([str(w.message) for w in found if "infinity" not in str(w.message)], [])

    def test_through_make(self):
        """gymnasium.make adds its own passive checker, which warns at each step."""
        for env_id in IDS:
            with self.subTest(id=env_id), warnings.catch_warnings():
                warnings.simplefilter("error")
                env = gymnasium.make(env_id, opponent="random", max_turns=5)
                env.reset(seed=1)
                for turn in range(1, 6):
                    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
                    self.assertIn(observation, env.observation_space)
                    if terminated or truncated:
                        break
                self.assertTrue(terminated or truncated)
                self.assertIs(type(truncated), bool)
                env.close()

    def test_seeds(self):
        for env_id in IDS:
            with self.subTest(id=env_id):
                env = gymnasium.make(env_id, opponent="random", max_turns=300, seat="random", obs="packed").unwrapped
                first, again, other = (self.play(env, seed) for seed in (7, 7, 8))
                env.close()
                self.assertTrue(same(first, again))
                self.assertFalse(same(first, other))

    def play(self, env, seed):
        """Returns all results of two episodes, the second of them without a seed."""
        env.action_space.seed(3)
        out = []
        for episode in range(2):
            out.append(env.reset(seed=seed if episode == 0 else None))
            while True:
                out.append(env.step(env.action_space.sample()))
                if out[-1][2] or out[-1][3]:
                    break
        return out

    def test_wrappers(self):
        wrappers = gymnasium.wrappers
        for env_id in IDS:
            with self.subTest(id=env_id):
                env = gymnasium.make(env_id, opponent="random", max_turns=5, form="cells")
                space = gymnasium.spaces.Box(0, 1, env.observation_space["planes"].shape, np.float32)
                see = {"func": lambda o: o["planes"].astype(np.float32) / 255}
                try:
                    env = wrappers.TransformObservation(env, see["func"], space)
                except TypeError:  # before 1.0 the space is set afterwards
                    env = wrappers.TransformObservation(env, see["func"])
                    env.observation_space = space
                env = wrappers.NormalizeReward(wrappers.RecordEpisodeStatistics(env))
                observation, _ = env.reset(seed=1)
                self.assertIn(observation, space)
                done = False
                turns = 0
                while not done:
                    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
                    self.assertIn(observation, space)
                    self.assertTrue(np.isfinite(reward))
                    done = terminated or truncated
                    turns += 1
                self.assertEqual(int(np.asarray(info["episode"]["l"]).item()), turns)
                env.close()

    def test_ansi(self):
        for env_id in IDS:
            with self.subTest(id=env_id):
                env = gymnasium.make(env_id, opponent="random", render_mode="ansi")
                env.reset(seed=1)
                first = env.render()
                self.assertIsInstance(first, str)
                self.assertGreater(len(first.splitlines()), 3)
                env.close()


    def test_rgb_array(self):
        for env_id in IDS:
            with self.subTest(id=env_id):
                env = gymnasium.make(env_id, opponent="random", render_mode="rgb_array", render_width=100)
                env.reset(seed=1)
                picture = env.render()
                self.assertEqual((picture.dtype, picture.shape[1:]), (np.uint8, (100, 3)))
                env.close()

    def test_modes_of_wrappers(self):
        """Gymnasium collects pictures, and shows them in its own window if pygame is there."""
        for env_id in IDS:
            with self.subTest(id=env_id), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the environment has no window of its own
                env = gymnasium.make(env_id, render_mode="rgb_array_list", render_width=101)
                env.reset(seed=1)
                env.step(env.action_space.sample())
                self.assertEqual([p.shape[1:] for p in env.render()], [(102, 3)] * 2)
                env.close()
                env = gymnasium.make(env_id, render_mode="human")
                self.assertIsInstance(env, gymnasium.wrappers.HumanRendering)
                if importlib.util.find_spec("pygame") is not None:
                    with mock.patch.dict(os.environ, {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}):
                        env.reset(seed=1)
                        self.assertIsNone(env.render())
                env.close()

    def test_longest_episodes(self):
        for env_id in IDS:
            game = moonfarm.make_vec(game_of(env_id), 1)
            for most in (game.max_turns, 3):
                options = {} if most == game.max_turns else {"max_turns": most}
                env = gymnasium.make(env_id, **options)
                self.assertEqual(env.spec.max_episode_steps, most)
                self.assertEqual(copy.deepcopy(env.unwrapped).spec.max_episode_steps, most)
                self.assertEqual(gymnasium.make(env.spec).spec.max_episode_steps, most)
                if not BEFORE_1:
                    envs = gymnasium.make_vec(env_id, num_envs=2, **options)
                    self.assertEqual(envs.spec.max_episode_steps, most)
                    envs = gymnasium.make_vec(env_id, num_envs=2, max_episode_steps=3)
                    self.assertEqual(envs.unwrapped.max_turns, 3)
        self.assertIsNone(gymnasium.make("moonfarm/Terminal-v0", form="orders").spec.max_episode_steps)

    def test_time_limit(self):
        """max_episode_steps truncates; in a sequential form it limits the steps of single environments."""
        for form in (None, "orders"):
            env = gymnasium.make("moonfarm/Terminal-v0", form=form, max_episode_steps=3)
            envs = [] if BEFORE_1 else [gymnasium.make_vec("moonfarm/Terminal-v0", 2, "sync", form=form, max_episode_steps=3)]
            if form is None and not BEFORE_1:
                envs.append(gymnasium.make_vec("moonfarm/Terminal-v0", 2, max_episode_steps=3))
            for e in (env, *envs):
                e.reset(seed=1)
                for step in (1, 2, 3):
                    action = np.zeros(e.action_space.shape, e.action_space.dtype)
                    _, _, terminated, truncated, _ = e.step(action)
                    self.assertEqual((np.any(terminated), np.all(truncated), np.any(truncated)), (False, step == 3, step == 3))
                e.close()
        if not BEFORE_1:
            with self.assertRaisesRegex(ValueError, "max_turns limits the turns, or vectorization_mode="):
                gymnasium.make_vec("moonfarm/Terminal-v0", 2, form="orders", max_episode_steps=3)
            gymnasium.make_vec("moonfarm/Terminal-v0", 2, form="orders", max_episode_steps=-1).close()


class Vector(unittest.TestCase):
    def test_spaces(self):
        """A vector returns what Gymnasium's own vector of single environments returns."""
        for env_id in IDS:
            for obs in FORMS:
                with self.subTest(id=env_id, obs=obs):
                    theirs = SyncVectorEnv([lambda: gymnasium.make(env_id, opponent="random", obs=obs)] * 3)
                    ours = moonfarm.make_vec(game_of(env_id), 3, opponent="random", obs=obs)
                    self.assertIsInstance(ours, VectorEnv)
                    for name in (
                        "single_observation_space", "single_action_space", "observation_space", "action_space",
                    ):
                        self.assertEqual(getattr(ours, name), getattr(theirs, name), name)
                    self.assertEqual(ours.num_envs, 3)
                    theirs.close()
                    ours.close()

    def test_same_games_as_single_environments(self):
        for env_id in IDS:
            with self.subTest(id=env_id):
                options = {"opponent": "random", "max_turns": 5, "seat": "random"}
                theirs = SyncVectorEnv([lambda: gymnasium.make(env_id, **options)] * 3)
                # Before 1.0, Gymnasium's own vectors restarted in the same step.
                mode = "same_step" if BEFORE_1 else "next_step"
                ours = moonfarm.make_vec(game_of(env_id), 3, autoreset=mode, **options)
                ours.action_space.seed(5)
                a, b = theirs.reset(seed=11), ours.reset(seed=11)
                self.assertTrue(same(a[0], b[0]))
                for _ in range(5):
                    action = ours.action_space.sample()
                    a, b = theirs.step(action), ours.step(action)
                    self.assertTrue(same(a[0], b[0]))
                    for i in (1, 2, 3):
                        np.testing.assert_array_equal(a[i], b[i])
                    if a[2].any() or a[3].any():
                        break
                theirs.close()
                ours.close()

    def test_steps(self):
        """Shapes, types and spaces of all results of a vector, in all modes."""
        for mode in MODES:
            for obs in FORMS:
                for game, envs in vectors(autoreset=mode, obs=obs):
                    with self.subTest(game=game, mode=mode, obs=obs):
                        self.step_through(envs, mode)

    def step_through(self, envs, mode):
        if AutoresetMode is not None:
            self.assertIs(envs.metadata["autoreset_mode"], AutoresetMode[mode.upper()])
            self.assertIs(envs.autoreset_mode, AutoresetMode[mode.upper()])
        observation, infos = envs.reset(seed=3)
        self.assertIn(observation, envs.observation_space)
        self.assertIsInstance(infos, dict)
        ended = 0
        done = np.zeros(3, bool)
        for _ in range(13):
            before = done
            if mode == "disabled" and done.any():
                kept = rows(observation, ~done)
                observation, _ = envs.reset(options={"reset_mask": done})
                self.assertTrue(same(rows(observation, ~done), kept))
            observation, reward, terminated, truncated, infos = envs.step(envs.action_space.sample())
            self.assertIn(observation, envs.observation_space)
            for a, kind in ((reward, np.floating), (terminated, np.bool_), (truncated, np.bool_)):
                self.assertEqual(a.shape, (3,))
                self.assertTrue(np.issubdtype(a.dtype, kind))
            done = terminated | truncated
            ended += int(done.sum())
            if mode == "next_step" and before.any():
                self.assertFalse(done[before].any())
                np.testing.assert_array_equal(reward[before], 0)
            self.assertEqual("final_obs" in infos, mode == "same_step" and bool(done.any()))
            if "final_obs" in infos:
                np.testing.assert_array_equal(infos["_final_obs"], done)
                np.testing.assert_array_equal(infos["_final_info"], done)
                for final, is_final in zip(infos["final_obs"], done):
                    self.assertEqual(final is not None, is_final)
                    self.assertTrue(final is None or final in envs.single_observation_space)
            self.assertNotIn("episode", infos)
        self.assertGreaterEqual(ended, 6)

    def test_modes_play_the_same_episodes(self):
        """The first episodes are the same in each mode, and so are the first observations of the second episodes."""
        for game, envs in vectors():
            with self.subTest(game=game):
                a, b, c = (self.two_episodes(game, mode) for mode in MODES)
                self.assertTrue(same(a, b))
                self.assertTrue(same(a, c))

    def two_episodes(self, game, mode):
        envs = moonfarm.make_vec(game, 1, opponent="random", max_turns=4, autoreset=mode)
        out = [envs.reset(seed=9)[0]]
        while True:
            action = np.zeros(envs.action_space.shape, envs.action_space.dtype)
            observation, reward, terminated, truncated, infos = envs.step(action)
            if not (terminated | truncated).any():
                out.append((observation, reward))
                continue
            if mode == "same_step":
                final = infos["final_obs"][0]
                first = observation
            else:
                final = rows(observation, 0)
                if mode == "disabled":
                    first = envs.reset(options={"reset_mask": np.array([True])})[0]
                else:
                    first = envs.step(action)[0]
            envs.close()
            return out + [(final, reward, first)]

    def test_seeds(self):
        for game, envs in vectors(seat="random"):
            with self.subTest(game=game):
                one, _ = envs.reset(seed=4)
                again, _ = envs.reset(seed=[4, 5, 6])
                self.assertTrue(same(one, again))
                envs.step(envs.action_space.sample())
                part, _ = envs.reset(seed=[4, 0, 6], options={"reset_mask": np.array([True, False, True])})
                which = [0, 2]
                self.assertTrue(same(rows(part, which), rows(one, which)))

    def test_reset_mask_is_checked(self):
        for _, envs in vectors(games=["tron"], autoreset="disabled"):
            envs.reset(seed=1)
            for mask, kind, text in (
                (np.array([True]), ValueError, "shape"),
                (np.array([False] * 3), ValueError, "True"),
                (np.array([1, 1, 0]), TypeError, "bool"),
                ([True, False, True], TypeError, "array"),
            ):
                with self.assertRaisesRegex(kind, text):
                    envs.reset(options={"reset_mask": mask})

    def test_number_of_actions(self):
        for _, envs in vectors(games=["tron"], autoreset="disabled"):
            envs.reset(seed=1)
            good = envs.action_space.sample()
            with self.assertRaises(ValueError):
                envs.step(good[:2])
            with self.assertRaises(ValueError):
                envs.step(np.concatenate([good, good[:1]]))
            with self.assertRaises((TypeError, ValueError)):
                envs.step(0)
            envs.step(list(good))

    def test_copies(self):
        """Results stay unchanged in later steps."""
        for game, envs in vectors():
            with self.subTest(game=game):
                envs.reset(seed=1)
                last = envs.step(envs.action_space.sample())
                kept = np.array(last[1], copy=True), {k: v.copy() for k, v in last[0].items()}
                envs.step(envs.action_space.sample())
                np.testing.assert_array_equal(last[1], kept[0])
                self.assertTrue(same(last[0], kept[1]))

    @unittest.skipIf(BEFORE_1, "wrappers of vectors are another kind before 1.0")
    def test_wrappers(self):
        wrappers = gymnasium.wrappers.vector
        for mode in MODES[:2]:
            for game, envs in vectors(autoreset=mode, form="cells"):
                with self.subTest(game=game, mode=mode):
                    self.wrap(envs, wrappers, mode)

    def wrap(self, envs, wrappers, mode):
        shape = envs.single_observation_space["planes"].shape
        space = gymnasium.spaces.Box(0, 1, shape, np.float32)
        batch = gymnasium.vector.utils.batch_space(space, envs.num_envs)
        statistics = wrappers.RecordEpisodeStatistics(envs)
        wrapped = wrappers.NormalizeReward(statistics)
        try:
            wrapped = wrappers.TransformObservation(
                wrapped, lambda o: o["planes"].astype(np.float32) / 255,
                observation_space=batch, single_observation_space=space,
            )
        except TypeError:  # 1.0 knows the batch's space only
            wrapped = wrappers.TransformObservation(wrapped, lambda o: o["planes"].astype(np.float32) / 255, batch)
        except (AssertionError, ValueError):  # this wrapper ignores observations of ended episodes
            self.assertEqual(mode, "same_step")
            batch = envs.observation_space
        observation, _ = wrapped.reset(seed=1)
        self.assertIn(observation, batch)
        ends = 0
        for _ in range(12):
            observation, reward, terminated, truncated, infos = wrapped.step(wrapped.action_space.sample())
            self.assertIn(observation, batch)
            self.assertTrue(np.isfinite(reward).all())
            done = terminated | truncated
            ends += int(done.sum())
            self.assertEqual("episode" in infos, bool(done.any()))
        self.assertGreaterEqual(ends, 6)
        self.assertEqual(statistics.episode_count, ends)
        self.assertLessEqual(max(statistics.length_queue), 5 if mode == "next_step" or AutoresetMode else 99)

    @unittest.skipIf(BEFORE_1, "make_vec forks before 1.0")
    def test_make_vec_of_gymnasium(self):
        for env_id in IDS:
            with self.subTest(id=env_id), warnings.catch_warnings():
                warnings.simplefilter("error")
                envs = gymnasium.make_vec(env_id, num_envs=2, opponent="random", max_turns=5)
                self.assertIs(type(envs.unwrapped), type(moonfarm.make_vec("tron", 1)))
                self.assertIn(envs.reset(seed=1)[0], envs.observation_space)
                envs.step(envs.action_space.sample())
                self.assertEqual(envs.spec.id, env_id)
                envs.close()


@unittest.skipUnless(importlib.util.find_spec("torchrl"), "TorchRL is not installed")
class TorchRL(unittest.TestCase):
    def test_rollouts(self):
        """The wrappers of TorchRL find the specs that they are told; readers of infos have their keys from the reset on."""
        from torchrl.data import Unbounded
        from torchrl.envs import GymWrapper, PettingZooWrapper, check_env_specs, default_info_dict_reader

        keys = ["score", "result"]
        for env_id in IDS:
            with self.subTest(env_id), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                game = game_of(env_id)
                one = GymWrapper(gymnasium.make(env_id, obs=("planes", "scalars", "action_mask")))
                one.set_info_dict_reader(default_info_dict_reader(keys))
                many = GymWrapper(moonfarm.make_vec(game, 3, opponent="random", autoreset="disabled"))
                many.set_info_dict_reader(default_info_dict_reader(keys, spec=[Unbounded((3,))] * 2))
                masks = len(moonfarm.make_vec(game, 1).heads) == 1
                several = PettingZooWrapper(moonfarm.parallel_env(game, action_mask=masks), use_mask=True)
                for env in (one, many, several):
                    check_env_specs(env)
                    self.assertEqual(env.rollout(4, break_when_any_done=False).shape[-1], 4)


class StableBaselines(unittest.TestCase):
    def test_adapter(self):
        for game in NAMES:
            for flat, opponent in ((True, "random"), (False, "random"), (True, None)):
                with self.subTest(game=game, flat=flat, opponent=opponent):
                    self.adapt(sb3.StableBaselinesEnv(game, 3, opponent=opponent, max_turns=5, flat=flat))

    def test_forms(self):
        for game in moonfarm.games():
            for form in game["forms"][1:]:
                for opponent in ("random", None):
                    with self.subTest(form=form["name"], opponent=opponent):
                        envs = sb3.StableBaselinesEnv(game["name"], 2, opponent=opponent, form=form["name"], max_turns=1)
                        first = envs.reset()
                        self.assertIn(first[0], envs.observation_space)
                        self.assertLess(np.abs(first).max(), 100, "all parts are divided by their scales")
                        self.assertEqual((envs.num_envs, len(first)), (2 if opponent else 4,) * 2)
                        ended = 0
                        while not ended:  # in a sequential form rows wait for the others of their games
                            action = np.zeros((envs.num_envs, *envs.action_space.shape), np.int64)
                            if form["sequential"]:
                                action += envs.envs.description["nothing"]
                            _, _, done, infos = envs.step(action)
                            ended = int(done.sum())
                        self.assertEqual((ended, [*infos[0]][:1]), (envs.num_envs, ["terminal_observation"]))

    @unittest.skipUnless(importlib.util.find_spec("stable_baselines3"), "Stable-Baselines3 is not installed")
    def test_learns(self):
        """Self-play, and a form with tensors, under Stable-Baselines3's own algorithms."""
        from stable_baselines3 import PPO

        for game, options in (("tron", {"opponent": None}), ("codecraft", {"opponent": "random", "form": "entities"})):
            envs = sb3.StableBaselinesEnv(game, 2, max_turns=3, **options)
            PPO("MlpPolicy", envs, n_steps=4, batch_size=4, n_epochs=1).learn(2 * envs.num_envs)
        if importlib.util.find_spec("sb3_contrib") is not None:
            from sb3_contrib import MaskablePPO

            envs = sb3.StableBaselinesEnv("terminal", 2, opponent=None, form="orders", max_turns=3)
            MaskablePPO("MlpPolicy", envs, n_steps=4, batch_size=4, n_epochs=1).learn(2 * envs.num_envs)

    def adapt(self, envs):
        self.assertIn(rows(envs.reset(), 0), envs.observation_space)
        ends = 0
        for _ in range(12):
            action = np.stack([envs.action_space.sample() for _ in range(envs.num_envs)])
            observation, reward, done, infos = envs.step(action)
            self.assertIn(rows(observation, 0), envs.observation_space)
            self.assertEqual((reward.shape, done.shape, len(infos)), ((envs.num_envs,),) * 2 + (envs.num_envs,))
            for ended, info in zip(done, infos):
                ends += ended
                self.assertEqual("terminal_observation" in info, bool(ended))
                if ended:
                    self.assertIn(info["terminal_observation"], envs.observation_space)
                    self.assertIn("TimeLimit.truncated", info)
        self.assertGreaterEqual(ends, 6)
        for mask in envs.env_method("action_masks"):
            self.assertEqual(mask.dtype, bool)
            self.assertEqual(
                mask.size, int(np.sum(getattr(envs.action_space, "nvec", getattr(envs.action_space, "n", 0)))),
            )
        envs.close()


if __name__ == "__main__":
    unittest.main()
