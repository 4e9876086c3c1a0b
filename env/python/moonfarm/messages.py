"""States made from messages of the original engines to bots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from . import arguments, library
from .arrays import put


class State(bytes):
    """A state for set_state, made from a message.

    `game` is its name; `rules` the text of its rules, for make_vec; `seat` the bot's seat,
    from 0; `players` the number of seats.
    """

    game: str
    rules: str
    seat: int
    players: int

    def answer(self, action: Any) -> bytes:
        """Returns the bot's answer that plays an action, int32 [heads], or a number if there is one head.

        For "towerdefence" it is the text of a command.txt; for "terminal" the two lines that end
        a turn; for "codecraft" a message.
        """
        given = action if isinstance(action, (list, tuple)) or np.ndim(action) else [action]
        if np.ndim(given) != 1:
            raise ValueError(f"action: expected the choice of each head, got shape {np.shape(given)}")
        choices = np.zeros(len(given), np.int32)
        put("action", choices, given)
        return library.library().text(
            "mf_answer_from", self.game.encode(), self.rules.encode(), bytes(self), len(self), self.seat,
            choices.ctypes.data, len(choices),
        )  # fmt: skip


def state_from(
    game: str, message: str | bytes, *, rules: str | Path | None = None, seat: int | None = None, seed: int = 0
) -> State:
    """Makes a state from a message of the original engine of a game to a bot.

    message: for "towerdefence" the text of a state.json; for "terminal" the line of a deploy
    frame; for "codecraft" the bytes of a message with a view, of a PlayerView alone, or a view
    as a line of JSON.

    rules: the rules that the message lacks, in the form of make_vec: for "terminal" the first
    line that the engine sends, its config. seat: the bot's seat, if it is known. A frame of
    "terminal" does not contain it, and shows the arena to every bot as to player 1; None is
    seat 0 there. seed: the random seed for the rest of the game.

    Returns bytes for set_state of environments with the same rules, whatever their seat:

        state = moonfarm.state_from("codecraft", message)
        env = moonfarm.make_vec("codecraft", 16, rules=state.rules)
        env.set_state([state] * 16)

    Values that the message lacks are assumed. "towerdefence": the last command of each player
    did not fail. "terminal": the players have only used the time of their latest answer.
    "codecraft": cells out of sight are empty, except that a player who would be out of the
    game has one entity (a builder base at the start if no cell of it is in sight); entities
    have no stored actions.

    Raises DataError if the message cannot be read, or shows an impossible state; the text
    names the field.
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
