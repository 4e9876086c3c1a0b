"""States made from messages of the original engines."""

from __future__ import annotations

import json
import pickle
import unittest
from pathlib import Path

import numpy as np

import moonfarm
from moonfarm import library

STATE = Path(__file__).parents[3] / "sim/towerdefence/wire/testdata/stateB.json"

FRAME = (
    '{"p2Units":[[[13,14,60.0,"9"]],[],[],[],[],[],[],[]],"turnInfo":[0,4,-1,9],"p1Stats":[30.0,1.0,2.0,3],'
    '"p1Units":[[],[],[[13,13,60.0,"5"]],[],[],[],[],[]],"p2Stats":[29.0,4.0,5.0,6],"events":{'
    '"selfDestruct":[],"breach":[],"damage":[],"shield":[],"move":[],"spawn":[],"death":[],"attack":[],"melee":[]}}'
)


def view() -> dict[str, object]:
    """Returns a view of player 2, who has a base and a builder and sees a resource, as a line of JSON."""
    return {
        "kind": "view", "my_id": 2, "map_size": 80, "fog_of_war": True, "max_tick_count": 1000, "max_pathfind_nodes": 1000,
        "tick": 7, "players": [{"id": 1, "score": 3, "resource": 0}, {"id": 2, "score": 5, "resource": 20}],
        "entities": [
            {"id": 2, "player": 2, "type": "BuilderBase", "x": 5, "y": 5, "health": 300, "active": True},
            {"id": 3, "player": 2, "type": "BuilderUnit", "x": 4, "y": 4, "health": 10, "active": True},
            {"id": 9, "player": None, "type": "Resource", "x": 9, "y": 3, "health": 30, "active": True},
        ],
    }  # fmt: skip


class MessagesTest(unittest.TestCase):
    def play(self, game: str, state: moonfarm.State, first: str) -> None:
        """Environments of every seat accept the states, and play on."""
        for opponent, seat in ((None, 0), ("random", 0), ("random", 1), ("random", "random")):
            with moonfarm.make_vec(game, 2, rules=state.rules, opponent=opponent, seat=seat, seed=1) as env:
                env.reset()
                env.set_state([state] * 2)
                self.assertEqual(env.text(0), env.text(1))
                self.assertTrue(env.text(0).startswith(first), env.text(0))
                actions = np.zeros(env.action_space.shape, np.int32)
                _, _, terminated, truncated, _ = env.step(actions)
                self.assertFalse((terminated | truncated).any())
                if seat == 1:
                    self.assertEqual(env.seats.tolist(), [1, 1])

    def test_between_kinds(self) -> None:
        """Any kind of environment accepts the state of any other."""
        make = {
            "self": {}, "text": {"opponent": "econ"}, "seat 1": {"opponent": "random", "seat": 1},
            "function": {"opponent": lambda obs, infos: np.full(len(infos["mask"]), 320)}, "any": {"opponent": "random", "seat": "random"},
        }  # fmt: skip
        for name, given in make.items():
            with moonfarm.make_vec("towerdefence", 2, seed=3, **given) as env:  # type: ignore[arg-type]
                env.reset()
                for choice in (0, 75, 130):
                    env.step(np.full(env.num_envs, choice, np.int32))
                states, board = env.get_state(), env.text(1)
            for other, kind in make.items():
                with self.subTest(f"{name} into {other}"), moonfarm.make_vec("towerdefence", 2, seed=9, **kind) as to:  # type: ignore[arg-type]
                    to.reset()
                    to.set_state(states)
                    self.assertEqual(to.text(1), board)
                    to.set_state(states[1], 0)
                    self.assertEqual(to.text(0), board)
                    to.step(np.full(to.num_envs, 320, np.int32))

    def test_tower_defence(self) -> None:
        text = STATE.read_text()
        state = moonfarm.state_from("towerdefence", text)
        self.assertEqual((state.seat, state.players), (1, 2))
        self.play("towerdefence", state, f"round {json.loads(text)['gameDetails']['round']}\n")
        again = pickle.loads(pickle.dumps(state))
        self.assertEqual((again, again.rules, again.seat), (state, state.rules, state.seat))
        for change, says in ((('"energy":', '"energy":-'), "energy is -"), (('"round":', '"x":'), "gameDetails.round is missing")):
            with self.assertRaisesRegex(moonfarm.DataError, says):
                moonfarm.state_from("towerdefence", text.replace(*change, 1))
        with self.assertRaisesRegex(moonfarm.DataError, "seat 0 is given, but the message was sent to seat 1"):
            moonfarm.state_from("towerdefence", text, seat=0)

    def test_terminal(self) -> None:
        state = moonfarm.state_from("terminal", FRAME.encode())
        self.assertEqual((state.seat, state.players), (0, 2))
        self.play("terminal", state, "")
        other = moonfarm.state_from("terminal", FRAME, seat=1)
        self.assertNotEqual(bytes(other), bytes(moonfarm.state_from("terminal", FRAME)))
        with self.assertRaisesRegex(moonfarm.DataError, "p1Stats: cores -1, expected 0 to"):
            moonfarm.state_from("terminal", FRAME.replace("[30.0,1.0", "[30.0,-1.0"))
        with self.assertRaisesRegex(moonfarm.DataError, "expected a deploy frame"):
            moonfarm.state_from("terminal", FRAME.replace("[0,4,-1,9]", "[1,4,5,9]"))

    def test_codecraft(self) -> None:
        line = json.dumps(view())
        state = moonfarm.state_from("codecraft", line, seed=3)
        self.assertEqual((state.seat, state.players), (1, 2))
        self.play("codecraft", state, "tick 7 seed 3 ")
        with moonfarm.make_vec("codecraft", 1, rules=state.rules) as env:
            env.set_state([state])
            self.assertIn("B1", env.text(0))  # the base of player 1, who is out of sight
        lies = view()
        lies["entities"][0]["health"] = 3000  # type: ignore[index]
        with self.assertRaisesRegex(moonfarm.DataError, "entity 2: its health is 3000, expected 1 to 300"):
            moonfarm.state_from("codecraft", json.dumps(lies))

    def test_arguments(self) -> None:
        with self.assertRaisesRegex(moonfarm.ArgumentError, "no engine sends messages of tron"):
            moonfarm.state_from("tron", "x")
        with self.assertRaisesRegex(moonfarm.ArgumentError, "^rules: "):
            moonfarm.state_from("terminal", FRAME, rules="none.such=1")
        with self.assertRaisesRegex(TypeError, "^message: "):
            moonfarm.state_from("terminal", None)  # type: ignore[arg-type]
        with self.assertRaisesRegex(moonfarm.DataError, "seat 7, expected 0 to 3"):
            moonfarm.state_from("terminal", FRAME, seat=7)
        for seen in ("", "{}", "[]", "\0", FRAME[:-3], FRAME * 2):
            with self.assertRaises(moonfarm.DataError):
                moonfarm.state_from("terminal", seen)
        with self.assertRaisesRegex(moonfarm.ArgumentError, "message is NULL"):
            library.library().text("mf_state_from", b"codecraft", None, None, 0, -1, 0)
        with self.assertRaisesRegex(TypeError, "^seat: "):
            moonfarm.state_from("terminal", FRAME, seat="A")  # type: ignore[arg-type]
        with self.assertRaisesRegex(moonfarm.DataError, "other rules"):
            with moonfarm.make_vec("terminal", 1) as env:  # of other rules
                env.set_state([moonfarm.state_from("terminal", FRAME, rules="moonfarm.maxTurns=9")])


class AnswersTest(unittest.TestCase):
    def test_words(self) -> None:
        """An action in the engine's format, in the bot's seat."""
        state = moonfarm.state_from("towerdefence", STATE.read_text())
        with moonfarm.make_vec("towerdefence", 1, rules=state.rules) as env:
            env.set_state([state])
            legal = np.flatnonzero(env.action_masks()[state.seat])
        answers = {state.answer(int(choice)) for choice in legal}
        self.assertEqual(len(answers), len(legal))
        for answer in answers:
            self.assertRegex(answer.decode(), r"^(\d,\d,\d|)$")
        frame = moonfarm.state_from("terminal", FRAME)
        with moonfarm.make_vec("terminal", 1) as env:
            heads = len(env.heads)
        self.assertEqual(frame.answer(np.full(heads, -1)), b"[]\n[]\n")
        craft = moonfarm.state_from("codecraft", json.dumps(view()))
        with moonfarm.make_vec("codecraft", 1, rules=craft.rules) as env:
            heads = len(env.heads)
        self.assertEqual(craft.answer(np.full(heads, -1)), b"\1\0\0\0\0\0\0\0")

    def test_wrong(self) -> None:
        state = moonfarm.state_from("towerdefence", STATE.read_text())
        with self.assertRaisesRegex(moonfarm.ArgumentError, "heads 2: the game has 2 seats, from 0, and an action 1 heads"):
            state.answer([1, 2])
        with self.assertRaisesRegex(moonfarm.ArgumentError, "head 0 has 322 choices"):
            state.answer(322)
        with self.assertRaisesRegex(ValueError, "^action: "):
            state.answer([[1]])


if __name__ == "__main__":
    unittest.main()
