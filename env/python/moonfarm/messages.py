"""States of what the original engines send to bots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from . import arguments, library


class State(bytes):
    """A state as set_state takes it, made of a message.

    `game` is its name; `rules` the text of its rules, for make_vec; `seat` the bot's seat,
    from 0; `players` how many seats there are.
    """

    game: str
    rules: str
    seat: int
    players: int

    def answer(self, action: Any) -> bytes:
        """What the bot answers to play an action, int32 [heads], or one number if there is one head.

        Of "towerdefence" the text of a command.txt; of "terminal" the two lines that end a
        turn; of "codecraft" a message. Of "terminal-sequential" the lines hold the one
        command of the step alone.
        """
        choices = np.ascontiguousarray(np.atleast_1d(action), np.int32)
        if choices.ndim != 1:
            raise ValueError(f"action: expected the choice of each head, got shape {choices.shape}")
        return library.library().text(
            "mf_answer_from", self.game.encode(), self.rules.encode(), bytes(self), len(self), self.seat,
            choices.ctypes.data, len(choices),
        )  # fmt: skip


def state_from(
    game: str, message: str | bytes, *, rules: str | Path | None = None, seat: int | None = None, seed: int = 0
) -> State:
    """Makes a state of what the original engine of a game sends to a bot before it answers.

    message: of "towerdefence" the text of a state.json; of "terminal" (and
    "terminal-sequential") the line of a deploy frame; of "codecraft" the bytes of a message
    with a view, of a PlayerView alone, or a view as a line of JSON.

    rules: what the message does not tell of the rules, as make_vec takes them: of "terminal"
    the first line that the engine sends, its config. seat: where the bot sits, if that is
    known: a frame of "terminal" does not tell, and shows every bot the arena as to
    player 1; None is seat 0 there. seed: of chance in what follows.

    Returns bytes for set_state of environments with the same rules, whatever their seat:

        state = moonfarm.state_from("codecraft", message)
        env = moonfarm.make_vec("codecraft", 16, rules=state.rules)
        env.set_state([state] * 16)

    What the message does not tell is assumed. "towerdefence": nobody has failed a command
    just before. "terminal": the players have thought for the time of their latest answer alone.
    "codecraft": cells out of sight are empty, but for one entity of each player who
    would be out of the game (a builder base at the start if no cell of it is in sight);
    entities have no stored actions.

    Raises DataError if the message cannot be read, or shows what no state can have; the
    text names the field.
    """
    if not isinstance(message, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"message: expected a text or bytes, got {type(message).__name__}")
    text = message.encode() if isinstance(message, str) else bytes(message)
    base = arguments.rules_of(rules)
    given = (
        arguments.text("game", game), None if base is None else arguments.text("rules", base), text, len(text),
        -1 if seat is None else arguments.whole("seat", seat, 0),
    )  # fmt: skip
    lib = library.library()
    state = State(lib.text("mf_state_from", *given, arguments.seed_of(seed)))
    about: dict[str, Any] = json.loads(lib.text("mf_message_describe", *given).rstrip(b"\0"))
    state.game = game
    state.rules, state.seat, state.players = about["rules"], about["seat"], about["players"]
    return state
