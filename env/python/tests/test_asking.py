"""ask: what a policy would choose in the rows of an environment."""

import re
import unittest

import numpy as np

import moonfarm
from tests.test_vector import legal

# Two policies of each game whose orders its forms can say, and the turns that are compared.
PAIRS = {
    "towerdefence": ("econ", "rush", 60), "terminal": ("starter", "turtle", 12), "codecraft": ("random", "random", 30),
    "tron": ("territory", "safe", 40),
}  # fmt: skip


def turn(env):
    """Plays a turn of the one game of env with the answers for its row; returns the board."""
    policy = env.caller
    before = env.arrays["turn"][0]
    while env.arrays["turn"][0] == before:
        env.step(env.ask(policy))
    lines = env.text(0).splitlines()
    if env.game == "terminal":  # units have numbers in the order of their placement, which is not a part of every form
        lines = [sorted(re.sub(r"=\d+ ", " ", line).split()) for line in lines if not line.startswith("id")]
    return lines


class Answers(unittest.TestCase):
    def test_as_an_opponent(self):
        """A caller who plays the answers plays as the policy does in the place of an opponent, in every form."""
        for game in moonfarm.games():
            if game["name"] not in PAIRS:
                continue
            one, two, turns = PAIRS[game["name"]]
            for form in (f["name"] for f in game["forms"]):
                with self.subTest(f"{game['name']} {form}"):
                    envs = [
                        moonfarm.make_vec(game["name"], 1, form=form, opponent=other, seat=seat, seed=5, autoreset="disabled")
                        for other, seat in ((one, 0), (two, 1))
                    ]
                    for env, caller in zip(envs, (two, one)):
                        env.caller = caller
                        env.reset(seed=5)
                    for _ in range(turns):
                        boards = [turn(env) for env in envs]
                        self.assertEqual(boards[0], boards[1])
                        if envs[0]._terminated[0]:
                            break
                    self.assertGreater(envs[0].arrays["turn"][0], 10 if game["name"] != "tron" else 2)
                    for env in envs:
                        env.close()

    def test_layouts(self):
        """Answers depend neither on workers, blocks and copies, nor on the number of rows."""
        with moonfarm.make_vec("towerdefence", 6, opponent="rush", seat="random", seed=3) as env:
            others = [
                moonfarm.make_vec("towerdefence", 6, opponent="rush", seat="random", seed=3, **given)
                for given in ({"workers": 3, "batch_size": 2}, {"workers": 1, "copy": False})
            ]
            alone = moonfarm.make_vec("towerdefence", 1, opponent="rush", seat="random", seed=3 + 2)
            for e in (env, alone, *others):
                e.reset()
            rng = np.random.default_rng(1)
            for _ in range(40):
                for policy in ("econ", "random", "mix(1*turtle,1*random)"):
                    answers = env.ask(policy)
                    for other in others:
                        np.testing.assert_array_equal(other.ask(policy), answers)
                    self.assertEqual(alone.ask(policy), answers[2:3])
                    some = np.arange(6) % 3 == 1
                    np.testing.assert_array_equal(env.ask(policy, some), np.where(some, answers, -1))
                actions = legal(env, rng)
                for e in (env, *others):
                    e.step(actions)
                alone.step(actions[2:3])
            for e in (alone, *others):
                e.close()

    def test_shapes(self):
        for game in moonfarm.games():
            for form in game["forms"]:
                with self.subTest(f"{game['name']} {form['name']}"):
                    heads = () if len(form["heads"]) == 1 else (len(form["heads"]),)
                    with moonfarm.make_vec(game["name"], 2, form=form["name"]) as env:
                        env.reset(seed=1)
                        answers = env.ask("random")
                        self.assertEqual((answers.shape, answers.dtype), ((env.num_envs, *heads), np.int32))
                        env.step(answers)
                    single = moonfarm.make_env(game["name"], form=form["name"])
                    single.reset(seed=1)
                    self.assertEqual(np.shape(single.ask("random")), heads)
                    self.assertIsInstance(single.ask("random"), np.ndarray if heads else int)
                    single.step(single.ask("random"))
                    single.close()
                    many = moonfarm.parallel_env(game["name"], form=form["name"])
                    many.reset(seed=1)
                    many.step(many.ask("random"))
                    self.assertEqual([*many.ask("random")], many.agents)
                    many.close()

    def test_ended(self):
        """A game that has ended has no answer, and a row beside it has."""
        with moonfarm.make_vec("tron", 2, opponent="safe", autoreset="next_step") as env:
            env.reset(seed=1)
            env.set_state(env.get_state(0), 1)
            ended = False
            while not ended:
                env.step([-1, env.ask("safe")[1]])
                ended = env._terminated[0]
            self.assertEqual(env.ask("safe")[0], -1)
            self.assertEqual(env._terminated[1], env.ask("safe")[1] == -1)
            env.step([0, 0])
            self.assertTrue((env.ask("safe") >= 0).all())

    def test_function_opponents(self):
        """Only the caller's rows are asked for."""
        with moonfarm.make_vec("tron", 5, opponent=lambda obs, infos: [0] * len(infos["mask"]), seat="random", seed=1) as env:
            twin = moonfarm.make_vec("tron", 5, seed=1)
            env.reset()
            twin.reset()
            rows = np.arange(5) * 2 + env.seats
            np.testing.assert_array_equal(env.ask("safe"), twin.ask("safe")[rows])
            some = np.array([True, False, False, True, False])
            np.testing.assert_array_equal(env.ask("safe", some), np.where(some, twin.ask("safe")[rows], -1))
            twin.close()

    def test_nothing_changes(self):
        """Asking changes no game."""
        with moonfarm.make_vec("towerdefence", 3, opponent="random", seed=1) as env:
            env.reset()
            before = env.get_state(), {name: a.copy() for name, a in env.arrays.items()}
            for policy in ("econ", "random", "mcts(sims=20)"):
                env.ask(policy)
            self.assertEqual(env.get_state(), before[0])
            for name, array in env.arrays.items():
                np.testing.assert_array_equal(array, before[1][name])

    def test_dagger(self):
        """A linear learner becomes like the policy that labels the states which the learner reaches."""
        weights, seen, wanted, right = np.zeros((385, 3)), [], [], []
        with moonfarm.make_vec("tron", 64, opponent="random", seat="random", copy=False) as env:
            obs, infos = env.reset(seed=1)
            for step in range(40):
                labels = env.ask("territory")
                asked = labels >= 0
                self.assertTrue(infos["action_mask"][asked, labels[asked]].all())
                x = np.append(obs["planes"].reshape(64, -1), np.ones((64, 1)), axis=1)
                actions = np.where(infos["action_mask"], x @ weights, -np.inf).argmax(1)
                right.append((actions == labels)[asked].mean())
                seen.append(x[asked])
                wanted.append(labels[asked])
                if step % 5 == 4:
                    inputs, targets = np.concatenate(seen), np.eye(3)[np.concatenate(wanted)]
                    for _ in range(20):
                        odds = np.exp(inputs @ weights)
                        odds /= odds.sum(1, keepdims=True)
                        weights -= 0.5 * inputs.T @ (odds - targets) / len(inputs)
                obs, _, _, _, infos = env.step(actions)
        self.assertGreater(np.mean(right[30:]), np.mean(right[:5]) + 0.05)

    def test_wrong(self):
        with moonfarm.make_vec("towerdefence", 2, opponent="random", batch_size=1) as env:
            with self.assertRaisesRegex(moonfarm.StateError, "has not begun"):
                env.ask("econ")
            env.reset(seed=1)
            for policy, error in (
                ("ecom", 'policy "ecom"'), ("", "policy: the name is empty"), (None, "policy: expected a text"),
                ("mcts(ms=5)", "ms"), ("missing.onnx", "missing.onnx"),
            ):  # fmt: skip
                with self.assertRaisesRegex((ValueError, TypeError), error):
                    env.ask(policy)
            for mask in (np.ones(3, np.bool_), [True, False], np.ones(2)):
                with self.assertRaisesRegex((ValueError, TypeError), "mask: expected"):
                    env.ask("econ", mask)
            env.send([0], 0)
            with self.assertRaises(moonfarm.StateError):
                env.ask("econ")
            env.recv()
            self.assertTrue((env.ask("econ") >= 0).all())
        with self.assertRaises(moonfarm.HandleError):
            env.ask("econ")


if __name__ == "__main__":
    unittest.main()
