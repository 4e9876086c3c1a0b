"""The vector environment, compared with the library."""

import copy
import hashlib
import unittest

import numpy as np

import moonfarm


def legal(env, rng):
    """Draws a legal choice of every head of every row."""
    masks, at, heads = env.action_masks(), 0, []
    for n in env.heads:
        part = masks[:, at : at + n]
        heads.append((rng.random(part.shape) * part).argmax(axis=1))
        at += n
    return heads[0] if len(heads) == 1 else np.stack(heads, axis=1)


def _flat(out):
    return [*out[0].values(), *out[1:4], out[4]["mask"]]


class Digest:
    """Returns a hash of all results of steps, row by row."""

    def __init__(self, rows):
        self.rows = [hashlib.sha256() for _ in range(rows)]

    def add(self, out, rows=None):
        obs, reward, terminated, truncated, infos = out
        parts = [*(obs.values() if isinstance(obs, dict) else [obs]), reward, terminated, truncated, infos["mask"]]
        for i, row in enumerate(range(len(reward)) if rows is None else rows):
            for part in parts:
                self.rows[row].update(np.ascontiguousarray(part[i]).tobytes())

    def sums(self):
        return [h.hexdigest() for h in self.rows]


class Shapes(unittest.TestCase):
    def test_every_game(self):
        for game in moonfarm.games():
            with self.subTest(game["name"]), moonfarm.make_vec(game["name"], 2, obs="both", seed=1) as env:
                self.assertEqual((env.num_games, env.num_envs), (2, 2 * env.players))
                obs, infos = env.reset(seed=1)
                arrays = [t["name"] for t in env.description["tensors"]] or ["planes"]
                self.assertEqual(set(obs), {*arrays, "packed", "scalars"})
                self.assertIn(obs, env.observation_space)
                env.action_space.seed(1)
                out = env.step(env.action_space.sample())
                self.assertIn(out[0], env.observation_space)
                for array, dtype in zip(out[1:4], (np.float32, np.bool_, np.bool_)):
                    self.assertEqual((array.shape, array.dtype), ((env.num_envs,), dtype))
                self.assertEqual(env.action_masks().shape, (env.num_envs, sum(env.heads)))
                self.assertEqual(env.action_masks(infos["mask"]).dtype, np.bool_)
                self.assertEqual(
                    [len(env.description[k]) for k in ("planes", "scalars")],
                    [env.arrays["planes"].shape[1], obs["scalars"].shape[1]]
                )  # fmt: skip

    def test_obs(self):
        with moonfarm.make_vec("tron", 3, opponent="safe", obs=("planes",)) as env:
            obs, _ = env.reset()
            self.assertEqual((obs.shape, obs.dtype), ((3, 6, 8, 8), np.uint8))
            self.assertIn(obs, env.observation_space)
            self.assertEqual(env.single_observation_space.shape, (6, 8, 8))
        with moonfarm.make_vec("tron", 3, opponent="safe", obs=("packed", "mask", "key")) as env:
            obs, infos = env.reset()
            self.assertEqual({k: v.shape for k, v in obs.items()}, {"packed": (3, 6), "mask": (3, 1), "key": (3,)})
            np.testing.assert_array_equal(obs["mask"], infos["mask"])
            self.assertEqual(len(set(obs["key"].tolist())), 3)

    def test_rules_rewards_and_turns(self):
        with moonfarm.make_vec("towerdefence", 2, opponent="econ", reward="score", max_turns=5) as env:
            env.reset(seed=1)
            outs = [env.step([320, 320]) for _ in range(5)]
            self.assertTrue(outs[4][3].all() and not outs[4][2].any())
            self.assertTrue(any(out[1].any() for out in outs), "the score changes from the start")
        self.assertEqual(env.description["reward"], "score")
        with self.assertRaisesRegex(moonfarm.ArgumentError, "zzz"):
            moonfarm.make_vec("towerdefence", reward="zzz")


class Trajectories(unittest.TestCase):
    ARGUMENTS = [{"opponent": None}, {"opponent": ["rush", "econ"], "seat": "random"}]

    def played(self, sync, steps=60, mode="next_step", **arguments):
        """Returns the hashes of the rows; actions of a row are drawn from the row's own generator."""
        env = moonfarm.make_vec("towerdefence", 6, max_turns=25, autoreset=mode, **arguments)
        rngs = [np.random.default_rng(row) for row in range(env.num_envs)]

        def act(masks, rows):
            return [int(rngs[r].choice(np.flatnonzero(m))) if m.any() else 0 for m, r in zip(masks, rows)]

        digest = Digest(env.num_envs)
        _, infos = env.reset(seed=9)
        if sync:
            rows = range(env.num_envs)
            for _ in range(steps):
                out = env.step(act(env.action_masks(infos["mask"]), rows))
                digest.add(out)
                infos = out[4]
            return digest.sums()
        n, left = env.num_envs // env.blocks, dict.fromkeys(range(env.blocks), steps)
        for b in left:
            rows = range(b * n, (b + 1) * n)
            env.send(act(env.action_masks(infos["mask"][rows.start : rows.stop]), rows), b)
        while left:
            out = env.recv()
            b, rows = out[4]["block"], out[4]["env_id"]
            digest.add(out, rows)
            left[b] -= 1
            if left[b]:
                env.send(act(env.action_masks(out[4]["mask"]), rows), b)
            else:
                del left[b]
        return digest.sums()

    def test_the_same_for_any_workers_blocks_and_modes_of_calling(self):
        for arguments in self.ARGUMENTS:
            for mode in ("next_step", "same_step"):
                with self.subTest(mode=mode, **arguments):
                    want = self.played(True, mode=mode, workers=1, **arguments)
                    self.assertEqual(len(set(want)), len(want))
                    for workers, batch, sync in (
                        (2, 0, True), (3, 2, True), (2, 2, False), (1, 1, False), (2, 3, False),
                    ):
                        got = self.played(sync, mode=mode, workers=workers, batch_size=batch, **arguments)
                        self.assertEqual(got, want, f"{workers} workers, blocks of {batch}, sync {sync}")

    def test_seeds(self):
        env = moonfarm.make_vec("codecraft", 3, opponent="random", seed=5, form="cells")
        first = env.reset(seed=5)[0]["planes"]
        self.assertFalse(np.array_equal(first[0], first[1]))
        second = env.reset()[0]["planes"]
        self.assertFalse(np.array_equal(first, second))
        np.testing.assert_array_equal(env.reset(seed=[7, 6, 5])[0]["planes"][::-1], first)
        env.reset(seed=5)
        some = env.reset(seed=[None, 5, None])[0]["planes"]
        np.testing.assert_array_equal(some[1], first[0])
        np.testing.assert_array_equal(some[[0, 2]], second[[0, 2]])
        self.assertEqual(env.np_random_seed, 5)
        large = env.reset(seed=2**64 - 2)[0]["planes"]
        np.testing.assert_array_equal(env.reset(seed=[0, 2**64 - 1, 2**64 - 2])[0]["planes"][::-1], large)
        for wrong, kind in (
            (-1, ValueError), ([1, 2, 2**64], ValueError), ([1, 2], ValueError), ([1, 2, 3.0], TypeError),
            ("abc", TypeError),
        ):  # fmt: skip
            with self.assertRaisesRegex(kind, "^seed: "):
                env.reset(seed=wrong)


class Autoreset(unittest.TestCase):
    def env(self, mode, **arguments):
        return moonfarm.make_vec("tron", 4, autoreset=mode, seed=1, **{"opponent": "safe", **arguments})

    def test_next_step(self):
        env = self.env("next_step")
        env.reset()
        for _ in range(40):
            out = env.step([0] * 4)
            ended = out[2] | out[3]
            if ended.any():
                break
        infos = out[4]
        np.testing.assert_array_equal(infos["_score"], ended)
        np.testing.assert_array_equal(infos["_result"], ended)
        self.assertTrue((np.abs(infos["result"][ended]) <= 1).all())
        np.testing.assert_array_equal(out[1][ended], infos["result"][ended])
        self.assertTrue((infos["mask"][ended] == 1).all(), "straight on alone, once the game has ended")
        out = env.step([0] * 4)
        self.assertFalse((out[2] | out[3])[ended].any() or out[1][ended].any())
        self.assertTrue((out[0]["scalars"][ended] == 0).all(), "the new episode's first turn")

    def test_same_step(self):
        for obs in ("planes", ("planes",), ("scalars", "mask")):
            env, twin = self.env("same_step", obs=obs), self.env("next_step", obs=obs)
            env.reset()
            twin.reset()
            for _ in range(40):
                out, other = env.step([0] * 4), twin.step([0] * 4)
                ended = out[2] | out[3]
                if ended.any():
                    break
            infos = out[4]
            np.testing.assert_array_equal(infos["_final_obs"], ended)
            np.testing.assert_array_equal(infos["_final_info"], ended)
            np.testing.assert_array_equal(infos["final_info"]["result"][ended], other[4]["result"][ended])
            self.assertTrue((infos["final_info"]["result"][~ended] == 0).all())
            np.testing.assert_array_equal(infos["result"], other[4]["result"])
            for i in range(4):
                last = infos["final_obs"][i]
                if not ended[i]:
                    self.assertIsNone(last)
                    continue
                self.assertIn(last, env.single_observation_space)
                theirs = other[0][i] if obs == ("planes",) else {k: v[i] for k, v in other[0].items()}
                for k in [()] if obs == ("planes",) else theirs:
                    np.testing.assert_array_equal(last[k], theirs[k])
            self.assertTrue(infos["mask"].all(), "all rows show running games")

    def test_scores(self):
        """Scores and results are NaN but in the step that ends an episode."""
        for opponent in ("safe", None, lambda obs, infos: np.zeros(len(infos["mask"]), np.int32)):
            for mode in ("next_step", "same_step", "disabled"):
                env = self.env(mode, opponent=opponent, copy=False)
                found = [env.reset()[1]]
                for _ in range(40):
                    *_, terminated, truncated, infos = env.step(np.zeros(env.num_envs, np.int32))
                    found.append(infos)
                    ended = terminated | truncated
                    for name in ("score", "result"):
                        np.testing.assert_array_equal(infos[f"_{name}"], ended)
                        np.testing.assert_array_equal(np.isnan(infos[name]), ~ended)
                        self.assertEqual(infos[name].dtype, np.float32)
                    if ended.any():
                        break
                self.assertTrue(ended.any())
                self.assertTrue(np.isnan(found[0]["score"]).all() and not found[0]["_score"].any())
                self.assertLessEqual(set(found[0]), set(found[-1]), "an info reader finds its keys in each step")

    def test_action_mask_in_observations(self):
        for game in moonfarm.games():
            for opponent in ("random", lambda obs, infos: np.zeros((len(infos["mask"]), *shape), np.int32)):
                for mode, copied in (("same_step", True), ("disabled", False)):
                    with self.subTest(game["name"], mode=mode):
                        env = moonfarm.make_vec(
                            game["name"], 2, opponent=opponent, obs=("scalars", "action_mask"), autoreset=mode, max_turns=2,
                            seed=1, copy=copied,
                        )  # fmt: skip
                        shape = env.single_action_space.shape
                        obs, infos = env.reset()
                        for _ in range(2):
                            self.assertEqual(obs["action_mask"].dtype, np.bool_)
                            np.testing.assert_array_equal(obs["action_mask"], env.action_masks(infos["mask"]))
                            self.assertIn(obs, env.observation_space)
                            obs, _, _, truncated, infos = env.step(np.zeros(env.action_space.shape, np.int32))
                        np.testing.assert_array_equal(obs["action_mask"], env.action_masks(infos["mask"]))
                        self.assertTrue(truncated.all())
                        for last in infos.get("final_obs", []):
                            self.assertIn(last, env.single_observation_space)
                            self.assertLess(last["action_mask"].sum(), len(env.heads) + 1)

    def test_masks_at_the_end(self):
        """Only the choice that orders nothing is legal in every head, so that a masked softmax is not NaN."""
        for game in moonfarm.games():
            for mode in ("next_step", "same_step", "disabled"):
                with self.subTest(f"{game['name']}, {mode}"):
                    env = moonfarm.make_vec(
                        game["name"], 2, autoreset=mode, max_turns=1, obs=("scalars", "mask"), seed=1
                    )
                    env.reset()
                    actions = np.zeros(env._actions.shape, np.int32)
                    obs, _, _, truncated, infos = env.step(actions)
                    self.assertTrue(truncated.all())
                    last = np.array([o["mask"] for o in infos["final_obs"]]) if mode == "same_step" else infos["mask"]
                    nothing, first = env.description["nothing"], np.cumsum([0, *env.heads])[:-1]
                    want = np.zeros(env.choices, bool)
                    want[first + nothing] = True
                    legal = env.action_masks(last)
                    np.testing.assert_array_equal(legal, [want] * env.num_envs)
                    for row in legal:
                        for head in np.split(row, first[1:]):
                            shares = np.exp(np.where(head, 0.0, -np.inf))
                            self.assertAlmostEqual((shares / shares.sum()).sum(), 1)
                    env.close()

    def test_disabled(self):
        env = self.env("disabled")
        env.reset()
        for _ in range(40):
            out = env.step([0] * 4)
            ended = out[2] | out[3]
            if ended.any():
                break
        with self.assertRaises(moonfarm.StateError):
            env.step([0] * 4)
        obs, _ = env.reset(options={"reset_mask": ended})
        self.assertTrue((obs["scalars"][ended] == 0).all() and obs["scalars"][~ended].all())
        env.step([0] * 4)

    def test_reset_mask(self):
        env = self.env("disabled", opponent=None)
        mask = np.array([1, 1, 0, 0, 0, 0, 1, 1], bool)
        before, _ = env.reset()
        env.step([0] * 8)
        after, _ = env.reset(seed=3, options={"reset_mask": mask})
        self.assertEqual((after["scalars"][:, 0] == 0).tolist(), mask.tolist())
        for wrong, kind in (
            (mask[1:], ValueError), (mask * 1, TypeError), (~np.ones(8, bool), ValueError),
            (np.arange(8) == 3, ValueError),
        ):  # fmt: skip
            with self.assertRaisesRegex(kind, "reset_mask"):
                env.reset(options={"reset_mask": wrong})

    def test_names(self):
        for name in ("same_step", "SameStep", "SAME_STEP"):
            mode = self.env(name).metadata["autoreset_mode"]
            self.assertEqual(getattr(mode, "value", mode), "SameStep")
        with self.assertRaisesRegex(ValueError, "^autoreset: 'never'"):
            self.env("never")


class ActionMask(unittest.TestCase):
    def test_every_game(self):
        for game in moonfarm.games():
            for opponent in ("random", None, idle):
                with self.subTest(f"{game['name']}, {opponent}"):
                    env = moonfarm.make_vec(game["name"], 2, opponent=opponent, seed=1, action_mask=True)
                    infos = env.reset()[1]
                    for _ in range(2):
                        self.assertEqual(infos["action_mask"].dtype, np.bool_)
                        np.testing.assert_array_equal(infos["action_mask"], env.action_masks())
                        self.assertTrue(infos["_action_mask"].all() and len(infos["_action_mask"]) == env.num_envs)
                        infos = env.step(np.zeros(env._actions[: env.num_envs].shape, np.int32))[4]
                    env.close()
                    infos = moonfarm.make_vec(game["name"], opponent=opponent, action_mask=False).reset()[1]
                    self.assertNotIn("action_mask", infos)

    def test_blocks(self):
        env = moonfarm.make_vec("towerdefence", 4, opponent="random", batch_size=2, seed=1)
        env.reset()
        env.send(np.full(4, 320))
        for _ in range(2):
            infos = env.recv()[4]
            np.testing.assert_array_equal(infos["action_mask"], env.action_masks(infos["mask"]))


def idle(obs, infos):
    heads = {95: 294, 512: 256}.get(infos["mask"].shape[1], 1)  # of terminal and codecraft, which differ in the words of a mask
    return np.zeros((len(infos["mask"]), heads)[: 2 if heads > 1 else 1], np.int32)


class Copies(unittest.TestCase):
    def test_copies(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe", copy=True)
        first = env.reset(seed=1)[0]["planes"]
        kept = first.copy()
        out = env.step([0, 0])
        np.testing.assert_array_equal(first, kept)
        self.assertFalse(
            any(np.may_share_memory(a, b) for a in (out[1], out[2], out[4]["mask"]) for b in env.arrays.values())
        )

    def test_no_copies(self):
        for opponent in ("safe", None):
            env = moonfarm.make_vec("tron", 2, opponent=opponent, copy=False)
            first = env.reset(seed=1)[0]
            self.assertIs(
                first["planes"].base if first["planes"] is not env.arrays["planes"] else first["planes"],
                env.arrays["planes"],
            )  # fmt: skip
            actions = np.zeros(env.num_envs, np.int32)
            out = env.step(actions)
            again = env.step(actions)
            for a, b in (
                (out[0], again[0]), (out[1], again[1]), (out[2], again[2]), (out[4]["mask"], again[4]["mask"]),
            ):
                self.assertIs(a, b)

    def test_buffers(self):
        mine = np.zeros((3, 6, 8, 8), np.uint8)
        env = moonfarm.make_vec("tron", 3, opponent="safe", copy=False, buffers={"planes": mine})
        obs, _ = env.reset(seed=1)
        self.assertTrue(np.may_share_memory(obs["planes"], mine) and mine.any())
        for wrong, kind, text in (
            (
                {"planes": mine[:2]}, ValueError,
                r"buffers\['planes'\]: expected shape \(3, 6, 8, 8\), got \(2, 6, 8, 8\)",
            ),  # fmt: skip
            ({"planes": mine.astype(np.int8)}, TypeError, r"buffers\['planes'\]: expected dtype uint8, got int8"),
            ({"nothing": mine}, ValueError, "buffers: there is no array 'nothing'"),
            (
                {"reward": np.zeros(3, np.float32)[::-1]}, ValueError,
                r"buffers\['reward'\]: expected an array in C order",
            ),  # fmt: skip
        ):
            with self.assertRaisesRegex(kind, text):
                moonfarm.make_vec("tron", 3, opponent="safe", buffers=wrong)
        both = np.zeros(6, np.float32)
        with self.assertRaisesRegex(ValueError, "'reward' and 'scalars' overlap"):
            moonfarm.make_vec(
                "tron", 3, opponent="safe", buffers={"scalars": both[:3].reshape(3, 1), "reward": both[2:5]},
            )


class Opponents(unittest.TestCase):
    def test_functions_play_as_rows_of_self_play_do(self):
        """Against a function the caller sees the same as its rows of a self-play environment."""
        for seat in (0, 1, "random"):
            for mode in ("next_step", "same_step"):
                self.check(seat, mode)

    def check(self, seat, mode):
        def choice(mask):
            return (mask[:, 0] % 5 * 3 + 1) % 3

        def policy(obs, infos):
            self.assertEqual(len(obs["planes"]), len(infos["mask"]))
            self.assertTrue(infos["mask"].all(), "it is asked for running games alone")
            return np.ones(len(obs["planes"]), int)

        env = moonfarm.make_vec("tron", 5, opponent=policy, seat=seat, autoreset=mode, seed=4)
        twin = moonfarm.make_vec("tron", 5, autoreset=mode, seed=4)
        (obs, infos), (all_obs, _) = env.reset(seed=2), twin.reset(seed=2)
        for _ in range(50):
            seats = env.seats
            rows = np.arange(5) * 2 + seats
            np.testing.assert_array_equal(obs["planes"], all_obs["planes"][rows])
            everyone = np.ones(10, int)
            mine = choice(infos["mask"])
            everyone[rows] = mine
            obs, reward, terminated, truncated, infos = env.step(mine)
            all_obs, *others = twin.step(everyone)
            np.testing.assert_array_equal(reward, others[0][rows])
            np.testing.assert_array_equal(terminated, others[1][rows])
            np.testing.assert_array_equal(truncated, others[2][rows])
            if "final_obs" in infos:
                for i in np.flatnonzero(infos["_final_obs"]):
                    np.testing.assert_array_equal(
                        infos["final_obs"][i]["planes"], others[3]["final_obs"][rows[i]]["planes"],
                    )

    def test_three_seats(self):
        asked = []

        def policy(obs, infos):
            asked.append(len(infos["mask"]))
            return np.zeros((len(infos["mask"]), len(env.heads)), np.int32)

        env = moonfarm.make_vec("codecraft", 2, opponent=policy, seat=2, rules="round1-3", obs="packed")
        self.assertEqual((env.players, env.num_envs), (3, 2))
        env.reset(seed=1)
        env.step(np.zeros((2, len(env.heads)), np.int32))
        self.assertEqual((asked, env.seats.tolist()), ([4], [2, 2]))
        texts = moonfarm.make_vec(
            "codecraft", 2, opponent=["econ", "turtle"], seat="random", rules="round1-3", obs="packed",
        )
        self.assertEqual(texts.reset(seed=1)[0]["scalars"].shape[0], 2)

    def test_a_list_of_functions_draws_one_for_each_episode(self):
        calls = [0, 0]

        def player(k):
            def policy(obs, infos):
                calls[k] += len(infos["mask"])
                return np.zeros(len(infos["mask"]), int)

            return policy

        env = moonfarm.make_vec(
            "tron", 32, opponent=[player(0), player(1)], seat="random", autoreset="same_step", seed=1,
        )
        env.reset(seed=1)
        seats = set()
        for _ in range(20):
            before = sum(calls)
            env.step(np.zeros(32, int))
            self.assertEqual(sum(calls) - before, 32)
            seats |= set(env.seats.tolist())
        self.assertTrue(min(calls) > 100 and seats == {0, 1})

    def test_blocks_with_functions(self):
        def sync(sent):
            def policy(obs, infos):
                return np.ones(len(infos["mask"]), int)

            env = moonfarm.make_vec("tron", 4, opponent=policy, seat="random", batch_size=2, autoreset="same_step")
            env.reset(seed=1)
            digest = Digest(4)
            for _ in range(30):
                if sent:
                    env.send(np.zeros(4, int))
                    for _ in range(2):
                        out = env.recv()
                        digest.add(out, out[4]["env_id"])
                else:
                    digest.add(env.step(np.zeros(4, int)))
            return digest.sums()

        self.assertEqual(sync(False), sync(True))

    def test_what_functions_answer_is_checked(self):
        for answer, kind, text in (([0], ValueError, "expected shape"), (np.zeros(2), TypeError, "whole numbers")):
            env = moonfarm.make_vec("tron", 2, opponent=lambda obs, infos: answer)
            env.reset(seed=1)
            with self.assertRaisesRegex(kind, "the opponent's actions: .*" + text):
                env.step([0, 0])

    def test_refused(self):
        for arguments, text in (
            ({"opponent": []}, "^opponent: "),
            ({"opponent": [" ", len]}, "^opponent: "),
            ({"opponent": ["nobody", len]}, "nobody"),
            ({"opponent": "nobody"}, "nobody"),
            ({"opponent": "safe", "seat": 2}, "seat"),
            ({"opponent": len, "seat": 2}, "^seat 2: tron has 2"),
            ({"seat": 1}, "^seat: "),
        ):
            with self.assertRaisesRegex(ValueError, text):
                moonfarm.make_vec("tron", **arguments)


class States(unittest.TestCase):
    def test_states_and_clones(self):
        def policy(obs, infos):
            return np.ones(len(infos["mask"]), int)

        for game, opponent in (("tron", None), ("tron", "safe"), ("tron", policy), ("codecraft", "econ")):
            with self.subTest(game=game, opponent=opponent):
                env = moonfarm.make_vec(game, 2, opponent=opponent, seat="random" if opponent else 0)
                env.reset(seed=3)
                rng = np.random.default_rng(1)
                acts = [legal(env, rng) * 0 for _ in range(30)]
                for a in acts[:4]:
                    env.step(a)
                state, clone, copied = env.get_state(), env.clone(), copy.deepcopy(env)
                want = Digest(env.num_envs)
                for a in acts[4:]:
                    want.add(env.step(a))
                for other in (clone, copied):
                    got = Digest(env.num_envs)
                    for a in acts[4:]:
                        got.add(other.step(a))
                    self.assertEqual(got.sums(), want.sums())
                obs, infos = env.set_state(state)
                self.assertIn(obs, env.observation_space)
                again = Digest(env.num_envs)
                for a in acts[4:]:
                    again.add(env.step(a))
                self.assertEqual(again.sums(), want.sums())

    def test_one_game(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe")
        env.reset(seed=1)
        start = env.get_state(0)
        env.step([0, 0])
        obs, _ = env.set_state(start, 1)
        self.assertEqual(obs["scalars"][:, 0].tolist(), [1, 0])

    def test_refused(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe")
        other = moonfarm.make_vec("towerdefence", 2, opponent="econ")
        state = env.get_state(0)
        for wrong in (b"", state[:-1], b"x" * len(state), other.get_state(0)):
            with self.assertRaises(moonfarm.DataError):
                env.set_state(wrong, 0)
        for wrong, game in ((state, None), ([state], None), (state, 2), (state, -1)):
            with self.assertRaisesRegex(ValueError, "^(state|game): "):
                env.set_state(wrong, game)
        with self.assertRaisesRegex(TypeError, "^state: expected bytes, got str"):
            env.set_state("x", 0)


class Misuse(unittest.TestCase):
    def test_arguments(self):
        for arguments, kind, text in (
            ({"game": "chess"}, ValueError, "chess"),
            ({"game": 3}, TypeError, "^game: expected a text"),
            ({"game": "tron\0x"}, ValueError, "^game: "),
            ({"num_envs": 0}, ValueError, "^num_envs: "),
            ({"num_envs": 2**40}, ValueError, "^num_envs: "),
            ({"num_envs": 1.5}, TypeError, "^num_envs: "),
            ({"obs": "x"}, ValueError, "^obs: "),
            ({"seed": -1}, ValueError, "^seed: "),
            ({"seed": "1"}, TypeError, "^seed: "),
            ({"max_turns": -1}, ValueError, "^max_turns: "),
            ({"workers": -1}, ValueError, "^workers: "),
            ({"batch_size": -1}, ValueError, "^batch_size: "),
            ({"memory": True}, ValueError, "fog"),
            ({"rules": "speed = yes"}, ValueError, "speed"),
            ({"render_mode": "human"}, TypeError, "^render_mode: .*gymnasium.make"), ({"render_mode": "rgb"}, ValueError, "^render_mode: "),
            ({"render_width": 0}, ValueError, "^render_width: "), ({"render_width": 1.5}, TypeError, "^render_width: "),
        ):
            with self.subTest(**arguments), self.assertRaisesRegex(kind, text):
                moonfarm.make_vec(**{"game": "tron", **arguments})

    def test_actions(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe")
        env.reset(seed=1)
        for wrong, kind in (
            ([0], ValueError), ([[0], [0]], ValueError), ([0.0, 1.0], TypeError), ("ab", ValueError),
            (None, ValueError), ([True, 0], TypeError), ([np.True_, 0], TypeError), (np.array([True, False]), TypeError),
        ):  # fmt: skip
            with self.assertRaisesRegex(kind, "^actions: "):
                env.step(wrong)
        for wrong in ([0, 3], [-2, 0], [2**32, 0], np.array([2**40, 0])):
            with self.assertRaises(moonfarm.ArgumentError):
                env.step(wrong)
        env.step(np.array([0, 1, 2, 0])[::2])
        frozen = np.zeros(2, np.int32)
        frozen.flags.writeable = False
        env.step(frozen)

    def test_many_actions(self):
        """Large arrays of actions are read in place: with the same effect and the same errors."""
        envs = [moonfarm.make_vec("terminal", 40, opponent=None, seed=4, workers=2) for _ in range(2)]
        rng = np.random.default_rng(1)
        shape = envs[0].action_space.shape
        actions = rng.integers(0, envs[0].heads, shape).astype(np.int32)
        unaligned = np.zeros(actions.nbytes + 1, np.uint8)[1:].view(np.int32).reshape(shape)
        unaligned[...] = actions
        for env in envs:
            env.reset()
        for given in (actions, np.asfortranarray(actions), np.repeat(actions, 2, 0)[::2], unaligned):
            for got, want in zip(_flat(envs[0].step(given)), _flat(envs[1].step(actions.astype(np.int64))), strict=True):
                np.testing.assert_array_equal(got, want)
        actions[5, 200] = 99
        with self.assertRaisesRegex(moonfarm.ArgumentError, "^game 2, seat 1: action 99 of head 200: expected "):
            envs[0].step(actions)

    def test_send_and_recv(self):
        env = moonfarm.make_vec("tron", 4, opponent="safe", batch_size=2)
        env.reset(seed=1)
        with self.assertRaises(moonfarm.StateError):
            env.recv()
        with self.assertRaisesRegex(ValueError, "^block: "):
            env.send([0, 0], 2)
        with self.assertRaisesRegex(ValueError, "^actions: "):
            env.send([0, 0, 0], 1)
        env.send([0, 0], 1)
        for call in (lambda: env.send([0, 0], 1), lambda: env.step([0] * 4), env.reset):
            with self.assertRaises(moonfarm.StateError):
                call()
        self.assertEqual(env.recv()[4]["env_id"].tolist(), [2, 3])
        env.step([0] * 4)

    def test_closed(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe")
        obs, _ = env.reset(seed=1)
        env.close()
        env.close()
        for call in (
            env.reset, lambda: env.step([0, 0]), env.recv, env.get_state, env.text, env.clone, lambda: env.send([0, 0]),
        ):
            with self.assertRaises(moonfarm.HandleError):
                call()
        self.assertTrue(env.closed and obs["planes"].any())


class Rendering(unittest.TestCase):
    def test_text(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe", render_mode="ansi")
        env.reset(seed=1)
        frames = env.render()
        self.assertEqual(len(frames), 2)
        self.assertTrue(all(f.count("\n") > 7 and "\0" not in f for f in frames))
        self.assertEqual(frames[1], env.text(1))
        self.assertIsNone(moonfarm.make_vec("tron", 2).render())
        with self.assertRaisesRegex(ValueError, "^game: "):
            env.text(2)

    def test_pixels(self):
        """Pictures of a vector are those of its single games, whatever was drawn before."""
        for game, height in (("tron", 256), ("towerdefence", 128), ("terminal", 256), ("codecraft", 256)):
            with self.subTest(game):
                env = moonfarm.make_vec(game, 2, opponent="random", render_mode="rgb_array", autoreset="disabled")
                env.reset(seed=1)
                first = env.render()
                self.assertEqual([(p.shape, p.dtype) for p in first], [((height, 256, 3), np.uint8)] * 2)
                self.assertGreater(len(np.unique(first[0].reshape(-1, 3), axis=0)), 2)
                env.action_space.seed(1)
                env.step(env.action_space.sample())
                later = env.render()
                kept = [p.copy() for p in later]
                self.assertEqual(env.pixels(1, 512).shape[1:], (512, 3))
                height, width, _ = env.pixels(1, 511).shape
                self.assertEqual((height % 2, width), (0, 512))
                self.assertTrue(all((a == b).all() for a, b in zip(env.render(), kept)))
                one = moonfarm.make_env(game, render_mode="rgb_array")
                one.reset(seed=1)
                one.set_state(env.get_state(1))
                np.testing.assert_array_equal(one.render(), later[1])
                self.assertIn("rgb_array", one.metadata["render_modes"])
                with self.assertRaisesRegex(ValueError, "^game: "):
                    env.pixels(2)
                with self.assertRaisesRegex(ValueError, "^width: "):
                    env.pixels(0, 9000)

    def test_small(self):
        """A board whose cells would be smaller than a pixel is an error."""
        env = moonfarm.make_vec("codecraft", 1, render_mode="rgb_array", render_width=77)
        env.reset(seed=1)
        with self.assertRaisesRegex(moonfarm.ArgumentError, "a column needs a pixel"):
            env.render()

    def test_notebook(self):
        for env in (moonfarm.make_env("tron"), moonfarm.parallel_env("tron")):
            env.reset(seed=1)
            first, second = env._repr_html_(), env._repr_html_()
            self.assertTrue(first.startswith("<svg ") and first.endswith("</svg>\n"))
            self.assertNotEqual(first, second, "ids are unique on a page")
            env.close()
            self.assertIsNone(env._repr_html_())


if __name__ == "__main__":
    unittest.main()
