"""Copies of environments go on as the originals do, in this process and in others."""

import copy
import multiprocessing
import pickle
import tempfile
import unittest
from pathlib import Path

import numpy as np

import moonfarm

GAMES = [g["name"] for g in moonfarm.games()]


def by_mask(obs, infos):
    """An opponent in Python that plays the first legal choice."""
    return (infos["mask"][:, :1] == 0).astype(np.int32)[:, 0] * 0


class Stateful:
    """An opponent with a state."""

    def __init__(self):
        self.turns = 0

    def __call__(self, obs, infos):
        self.turns += 1
        return np.full(len(infos["mask"]), self.turns % 3)


class Own(moonfarm.VectorEnv):
    """A caller's class."""


def deep(env):
    return copy.deepcopy(env)


def pickled(env):
    return pickle.loads(pickle.dumps(env))


WAYS = (copy.copy, deep, pickled)


def equal(a, b):
    """Whether two results are bitwise equal."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, np.ndarray) and a.dtype != object:
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


def go_on(env, steps):
    """Returns the results of some steps, with actions drawn from the space."""
    out = []
    for _ in range(steps):
        out.append(copy.deepcopy(env.step(env.action_space.sample())))
        if isinstance(env, moonfarm.SingleEnv) and (out[-1][2] or out[-1][3]):
            out.append(env.reset())
    return out


def go_on_together(env, steps):
    """go_on for a parallel environment."""
    out = []
    for _ in range(steps):
        if not env.agents:
            out.append(env.reset())
        out.append(env.step({agent: env.action_space(agent).sample() for agent in env.agents}))
    return out


def answer(connection):
    """Another process: it continues with the environment that it is sent, and answers with the results."""
    env = connection.recv()
    connection.send((go_on_together if isinstance(env, moonfarm.ParallelEnv) else go_on)(env, 6))


class Copies(unittest.TestCase):
    def check(self, env, steps=8):
        for way in WAYS:
            with self.subTest(way=way.__name__):
                other, third = way(env), way(env)
                self.assertIs(type(other), type(env))
                self.assertTrue(equal(go_on(other, steps), go_on(third, steps)))
        others = [way(env) for way in WAYS]
        want = go_on(env, steps)
        for other in others:
            self.assertTrue(equal(go_on(other, steps), want))

    def test_vectors(self):
        for game in GAMES:
            steps = 5 if game == "codecraft" else 12
            for autoreset in ("next_step", "same_step"):
                with self.subTest(game, autoreset=autoreset):
                    env = moonfarm.make_vec(
                        game, 3, opponent=["random", "empty"], seat="random", autoreset=autoreset, max_turns=4,
                    )
                    env.reset(seed=5)
                    env.action_space.seed(3)
                    go_on(env, 4)  # an episode has just ended then
                    self.check(env, steps)

    def test_all_that_can_be_chosen(self):
        with tempfile.TemporaryDirectory() as folder:
            rules = Path(folder) / "rules"
            rules.write_text("")
            env = moonfarm.make_vec("towerdefence", 2, opponent="econ", obs="packed", rules=rules, copy=False, render_mode="ansi")
        env.reset(seed=1)
        env.action_space.seed(1)
        self.check(env)
        self.assertEqual(pickled(env).render(), env.render())
        fog = moonfarm.make_vec("codecraft", 1, opponent="econ", memory=True)
        fog.reset(seed=2)
        fog.action_space.seed(1)
        go_on(fog, 6)
        self.check(fog, 4)
        mine = Own(**fog._arguments)
        mine.reset(seed=2)
        mine.action_space.seed(1)
        self.check(mine, 2)

    def test_opponents_in_python(self):
        for opponent in (by_mask, [by_mask, by_mask], Stateful()):
            env = moonfarm.make_vec("tron", 3, opponent=opponent, seat="random")
            env.reset(seed=5)
            env.action_space.seed(1)
            go_on(env, 3)
            self.check(env)

    def test_before_reset(self):
        for way in WAYS:
            env = moonfarm.make_vec("tron", 2, opponent="random")
            other = way(env)
            with self.assertRaisesRegex(moonfarm.StateError, "has not begun"):
                other.step(np.zeros(2, np.int32))
            self.assertTrue(equal(other.reset(), env.reset()))

    def test_single(self):
        for game in GAMES:
            with self.subTest(game):
                env = moonfarm.make_env(game, opponent="random", max_turns=4)
                env.reset(seed=4)
                env.action_space.seed(9)
                go_on(env, 2)
                self.check(env)

    def test_parallel(self):
        for game in GAMES:
            with self.subTest(game):
                env = moonfarm.parallel_env(game, max_turns=4)
                with self.assertRaisesRegex(moonfarm.StateError, "has not begun"):
                    pickled(env).step({})
                env.reset(seed=4)
                for agent in env.agents:
                    env.action_space(agent).seed(9)
                go_on_together(env, 3)
                others = [way(env) for way in WAYS]
                want = go_on_together(env, 4)
                for other in others:
                    self.assertTrue(equal(go_on_together(other, 4), want))

    def test_generators_and_attributes(self):
        env = moonfarm.make_env("tron", opponent="safe")
        env.reset(seed=3)
        env.np_random.random(5)
        env.observation_space.seed(2)
        env.spec, env.note = {"id": "a spec"}, ["mine"]
        others = [way(env) for way in WAYS]
        want = env.np_random.random(4).tolist(), env.observation_space.sample()
        for other in others:
            self.assertEqual((other.spec, other.note, other.np_random_seed), ({"id": "a spec"}, ["mine"], 3))
            self.assertIsNot(other.note, env.note)
            self.assertTrue(equal((other.np_random.random(4).tolist(), other.observation_space.sample()), want))
        both = copy.deepcopy([env, env])
        self.assertIs(both[0], both[1])

    def test_copies_are_apart(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe")
        env.reset(seed=1)
        other = copy.copy(env)
        env.close()
        other.step(np.zeros(2, np.int32))
        with self.assertRaisesRegex(moonfarm.HandleError, "closed"):
            pickle.dumps(env)

    def test_other_processes(self):
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        for env in (
            moonfarm.make_vec("tron", 3, opponent=["safe", "random"], seat="random"),
            moonfarm.make_vec("tron", 3, opponent=by_mask), moonfarm.parallel_env("tron"),
        ):  # fmt: skip
            env.reset(seed=8)
            for space in env.action_spaces.values() if isinstance(env, moonfarm.ParallelEnv) else [env.action_space]:
                space.seed(1)
            process = context.Process(target=answer, args=(theirs,))
            process.start()
            ours.send(env)
            self.assertTrue(ours.poll(120), "there is no answer")
            got = ours.recv()
            process.join()
            self.assertTrue(equal(got, (go_on_together if isinstance(env, moonfarm.ParallelEnv) else go_on)(env, 6)))

    def test_what_cannot_be_pickled(self):
        env = moonfarm.make_env("tron", opponent=[by_mask, lambda obs, infos: np.zeros(len(infos["mask"]), np.int32)])
        env.reset(seed=1)
        with self.assertRaisesRegex(TypeError, "^opponent: the function .*test_what_cannot_be_pickled.*<lambda>.* cannot be pickled"):
            pickle.dumps(env)
        copy.deepcopy(env).step(0)
        try:
            import cloudpickle
        except ImportError:
            return
        env.action_space.seed(1)
        self.assertTrue(equal(go_on(pickle.loads(cloudpickle.dumps(env)), 1)[0][1:4], go_on(env, 1)[0][1:4]))


if __name__ == "__main__":
    unittest.main()
