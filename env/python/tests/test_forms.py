"""Every form of every game: observations, seats that wait, copies in the middle of a turn."""

import copy
import pickle
import unittest

import numpy as np

import moonfarm
from moonfarm import arrays, library

GAMES = {game["name"]: game for game in moonfarm.games()}
FORMS = [(name, form) for name, game in GAMES.items() for form in game["forms"]]
SEQUENTIAL = [(name, form["name"]) for name, form in FORMS if form["sequential"]]


def begin(masks):
    """Returns the lowest legal choices, which leave most others legal; the highest ends a turn."""
    return masks.argmax(axis=1)


class Observations(unittest.TestCase):
    def test_every_form(self):
        for game, form in FORMS:
            with self.subTest(f"{game} {form['name']}"), moonfarm.make_vec(
                game, 2, form=form["name"], obs="both", autoreset="same_step", max_turns=2, seed=1, copy=False
            ) as env:
                self.assertEqual((env.form, env.sequential), (form["name"], form["sequential"]))
                self.assertEqual(env.heads, form["heads"])
                names = [f["name"] for f in env.description["forms"]]
                self.assertEqual(names, [f["name"] for f in GAMES[game]["forms"]])
                obs, infos = env.reset(seed=1)
                tensors = {t["name"]: tuple(t["dims"]) for t in form["tensors"]}
                self.assertEqual(set(obs), {*(tensors or ["planes"]), "packed", "scalars"})
                self.assertIn(obs, env.observation_space)
                self.assertEqual("waits" in infos, form["sequential"])
                for name in tensors or ["planes"]:
                    self.assertTrue(np.shares_memory(obs[name], env.arrays["planes"]), name)
                    self.assertEqual(obs[name].shape[1:], tensors.get(name, tuple(form["shapes"]["planes"])))
                whole = np.concatenate([obs[name].reshape(env.num_envs, -1) for name in tensors or ["planes"]], 1)
                np.testing.assert_array_equal(whole, env.arrays["planes"].reshape(env.num_envs, -1))
                nothing = np.full(env._shape, env.description["nothing"], np.int32)
                for _ in range(2):
                    obs, _, _, truncated, infos = env.step(nothing)
                self.assertTrue(truncated.all())
                self.assertEqual(infos["final_obs"][0].keys(), obs.keys())
                self.assertIn(infos["final_obs"][1], env.single_observation_space)

    def test_views(self):
        """The tensors lie one after the other in the planes."""
        tensors = [{"name": "a", "dims": [2, 3]}, {"name": "b", "dims": [5]}, {"name": "c", "dims": [1, 2, 2]}]
        a = {"planes": np.arange(30, dtype=np.uint8).reshape(2, 1, 1, 15), "scalars": np.zeros((2, 1), np.float32)}
        seen = dict(arrays.views(("scalars", "planes"), tensors, a))
        self.assertEqual([*seen], ["scalars", "a", "b", "c"])
        self.assertEqual(seen["a"].tolist()[1], [[15, 16, 17], [18, 19, 20]])
        self.assertEqual(seen["b"].tolist()[0], [6, 7, 8, 9, 10])
        self.assertEqual(seen["c"].tolist()[1], [[[26, 27], [28, 29]]])
        for name in "abc":
            self.assertTrue(np.shares_memory(seen[name], a["planes"]))
        sizes = library.CSpec(rows=2, planes=1, height=1, width=15, scalars=1)
        shapes = arrays.row_shapes(("planes", "scalars"), tensors, sizes)
        self.assertEqual(shapes, {"a": (2, 3), "b": (5,), "c": (1, 2, 2), "scalars": (1,)})
        self.assertEqual(arrays.row_shapes(("planes",), [], sizes), {"planes": (1, 1, 15)})

    def test_a_tuple_of_planes(self):
        """One part is the array itself, but several tensors are a dict."""
        for game, form in FORMS:
            with moonfarm.make_vec(game, 1, form=form["name"], obs=("planes",), opponent="random") as env:
                obs, _ = env.reset(seed=1)
                if form["tensors"]:
                    self.assertEqual([*obs], [t["name"] for t in form["tensors"]])
                else:
                    self.assertEqual(obs.shape[1:], tuple(form["shapes"]["planes"]))
                self.assertIn(obs, env.observation_space)

    def test_opponents_in_python(self):
        """A function sees the form of the caller."""
        seen = []

        def player(obs, infos):
            seen.append(obs)
            return np.full((len(infos["mask"]), *env.single_action_space.shape), env.description["nothing"])

        for game, form in FORMS:
            with moonfarm.make_vec(game, 2, form=form["name"], opponent=player) as env:
                obs, infos = env.reset(seed=1)
                seen.clear()
                out = env.step(player(obs, infos))
                self.assertEqual([s.keys() for s in seen[1:]], [obs.keys()] * (len(seen) - 1))
                self.assertTrue(len(seen) > 1 and (env.arrays["turn"] == 1).all())
                self.assertIn(out[0], env.observation_space)

    def test_wrong(self):
        for form, error in (("words", 'no form "words"; there are: \\["cells"'), ("", "form: the name is empty"), (1, "form")):
            with self.assertRaisesRegex((ValueError, TypeError), error):
                moonfarm.make_vec("tron", form=form)


@unittest.skipUnless(SEQUENTIAL, "no game has a sequential form")
class Sequential(unittest.TestCase):
    def test_waits(self):
        """A row waits from the end of its turn until all seats have ended theirs; only nothing is legal meanwhile."""
        for game, form in SEQUENTIAL:
            with self.subTest(game), moonfarm.make_vec(game, 3, form=form, seed=1) as env:
                nothing = env.description["nothing"]
                _, infos = env.reset(seed=1)
                self.assertFalse(infos["waits"].any())
                actions = begin(infos["action_mask"])
                actions[::2] = nothing  # seat 0 of each game
                for _ in range(2):
                    obs, rewards, _, _, infos = env.step(actions)
                    self.assertEqual(infos["waits"].tolist(), [True, False] * 3)
                    self.assertFalse(rewards.any() or env.arrays["turn"].any())
                    for legal in infos["action_mask"][::2]:
                        self.assertEqual(np.flatnonzero(legal).tolist(), [nothing])
                    self.assertTrue((env.ask("random")[::2] == -1).all())
                    actions = begin(infos["action_mask"])
                _, _, _, _, infos = env.step(np.full(6, nothing))
                self.assertFalse(infos["waits"].any())
                self.assertEqual(env.arrays["turn"].tolist(), [1, 1, 1])

    def test_against_opponents_nobody_waits(self):
        def player(obs, infos):
            if ends:
                return [env.description["nothing"]] * len(infos["mask"])
            return begin(moonfarm.unpack_masks(infos["mask"], env.choices))

        for game, form in SEQUENTIAL:
            with moonfarm.make_vec(game, 3, form=form, opponent="random", seat="random") as env:
                _, infos = env.reset(seed=1)
                for _ in range(20):
                    _, _, _, _, infos = env.step(begin(infos["action_mask"]))
                    self.assertFalse(infos["waits"].any())
            for ends in (True, False):
                with self.subTest(f"{game}, ends {ends}"):
                    single = moonfarm.make_env(game, form=form, opponent=player)
                    env = single.vector
                    _, info = single.reset(seed=1)
                    for _ in range(10):
                        turn = env.arrays["turn"][0]
                        _, _, _, _, info = single.step(env.description["nothing"])
                        self.assertTrue(info["action_mask"].sum() > 1)
                        self.assertEqual(env.arrays["turn"][0], turn + 1)
                    single.close()

    def test_players_by_name(self):
        for game, form in SEQUENTIAL:
            env = moonfarm.parallel_env(game, form=form)
            nothing = env.vector.description["nothing"]
            obs, infos = env.reset(seed=1)
            self.assertEqual([i["waits"] for i in infos.values()], [False, False])
            first = int(np.flatnonzero(obs["player_1"]["action_mask"])[0])
            obs, _, _, _, infos = env.step({"player_0": nothing, "player_1": first})
            self.assertEqual([i["waits"] for i in infos.values()], [True, False])
            self.assertEqual(np.flatnonzero(obs["player_0"]["action_mask"]).tolist(), [nothing])
            self.assertEqual(env.ask("random")["player_0"], -1)
            env.step({"player_0": nothing, "player_1": nothing})
            self.assertEqual(env.vector.arrays["turn"][0], 1)
            env.close()

    def test_copies_in_the_middle_of_a_turn(self):
        """A copy of an environment in the middle of a turn goes on as the original does."""
        ways = (copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)), lambda e: e.clone())
        for game, form in SEQUENTIAL:
            for given in ({}, {"opponent": "random", "seat": "random"}):
                with self.subTest(f"{game} {given}"):
                    env = moonfarm.make_vec(game, 3, form=form, seed=1, **given)
                    _, infos = env.reset(seed=1)
                    for _ in range(4):
                        actions = begin(infos["action_mask"])
                        if not given:
                            actions[0] = env.description["nothing"]
                        _, _, _, _, infos = env.step(actions)
                    self.assertEqual(infos["waits"].any(), not given)
                    others = [way(env) for way in ways]
                    states = moonfarm.make_vec(game, 3, form=form, seed=2, **given)
                    states.reset()
                    states.set_state(env.get_state())
                    others.append(states)
                    for other in others:
                        self.assertEqual(other.get_state(), env.get_state())
                        np.testing.assert_array_equal(other.ask("random"), env.ask("random"))
                        for name in ("planes", "scalars", "mask", "waits"):
                            np.testing.assert_array_equal(other.arrays[name], env.arrays[name], name)
                    for _ in range(12):
                        actions = env.ask("random")
                        outs = [e.step(actions) for e in (env, *others)]
                        for out in outs[1:]:
                            for part in ("planes", "scalars"):
                                np.testing.assert_array_equal(out[0][part], outs[0][0][part])
                            np.testing.assert_array_equal(out[4]["mask"], outs[0][4]["mask"])
                    self.assertTrue(env.arrays["turn"].any())
                    for e in (env, *others):
                        e.close()

    def test_blocks(self):
        """Blocks of send and recv have their own rows of waits."""
        for game, form in SEQUENTIAL:
            with moonfarm.make_vec(game, 4, form=form, batch_size=2, seed=1) as env:
                _, infos = env.reset(seed=1)
                actions = begin(infos["action_mask"])[4:]
                actions[2] = env.description["nothing"]
                env.send(actions, 1)
                infos = env.recv()[4]
                self.assertEqual((infos["block"], infos["waits"].tolist()), (1, [False, False, True, False]))


if __name__ == "__main__":
    unittest.main()
