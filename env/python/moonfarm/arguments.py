"""Checks of the arguments of make_vec, and their form in the library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import library

# A player in Python: a function of its rows' observations and infos (see AgainstPolicies) that returns their actions.
Policy = Callable[[Any, dict[str, Any]], Any]
Opponent = Union[None, str, Policy, Sequence[Union[str, Policy]]]

RENDER_MODES = ("ansi", "rgb_array")
_HERE = "-"  # stands for a function in the library's list of opponents
_MOST_WIDTH = 8192  # of pictures, in pixels

# Gymnasium's names of the autoreset modes, in the library's order.
MODES = ("NextStep", "SameStep", "Disabled")


class RenderModeError(TypeError, ValueError):
    """The render mode does not exist. Gymnasium raises TypeError for a mode that an environment lacks."""


def render_mode(value: Any) -> str | None:
    """Returns a valid render mode; RenderModeError names the valid ones."""
    if value is not None and value not in RENDER_MODES:
        more = "; gymnasium.make takes it, too" if value in ("human", "rgb_array_list", "ansi_list") else ""
        raise RenderModeError(f"render_mode: {value!r} is none of None, 'ansi' and 'rgb_array'{more}")
    return value


def width_of(what: str, value: Any) -> int:
    """Returns the width of a picture, an even number: encoders of video refuse odd ones."""
    width = whole(what, value, 1, _MOST_WIDTH)
    return width + width % 2


def mode(autoreset: Any) -> int:
    """Returns the library's number of an autoreset mode, given by name or as Gymnasium's AutoresetMode."""
    name = str(getattr(autoreset, "value", autoreset)).replace("_", "").lower()
    names = [m.lower() for m in MODES]
    if name not in names:
        raise ValueError(f"autoreset: {autoreset!r} is not one of 'next_step', 'same_step', 'disabled'")
    return names.index(name)


def seat_of(seat: int | str) -> int:
    """Returns the library's number of a seat."""
    return library.ANY_SEAT if isinstance(seat, str) and seat == "random" else whole("seat", seat, 0)


def config(
    *, game: str, num_envs: int, opponent: Opponent, seat: int | str, reward: str | None, rules: str | Path | None,
    form: str | None, max_turns: int, memory: bool, autoreset: int, workers: int, batch_size: int, seed: int,
) -> library.CConfig:  # fmt: skip
    """Returns the arguments in the form of the library."""
    players = players_of(opponent)
    if players is None and seat != 0:
        raise ValueError("seat: without an opponent every seat is a row")
    return library.CConfig(
        size=ctypes.sizeof(library.CConfig),
        num_envs=whole("num_envs", num_envs, 1),
        game=name("game", game),
        rules=None if rules is None else text("rules", rules),
        reward=None if reward is None else name("reward", reward),
        form=None if form is None else name("form", form),
        opponents=None if players is None else text("opponent", "\n".join(p if isinstance(p, str) else _HERE for p in players)),
        seat=library.ALL_SEATS if players is None else seat_of(seat),
        autoreset=autoreset,
        max_turns=whole("max_turns", max_turns or 0, 0),
        memory=bool(memory),
        workers=whole("workers", workers or 0, 0),
        batch_size=whole("batch_size", batch_size or 0, 0),
        seed=seed,
    )


def rules_of(rules: str | Path | None) -> str | None:
    """Returns rules as text, read from a file if they are a Path."""
    if isinstance(rules, Path):
        path("rules", rules)
        return rules.read_text(encoding="utf-8-sig")
    return rules


def whole(what: str, value: Any, least: int, most: int = 2**31 - 1) -> int:
    """Returns a whole number from least to most; TypeError or ValueError names the argument."""
    try:
        n = int(value.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"{what}: expected a whole number, got {value!r}") from None
    if not least <= n <= most:
        raise ValueError(f"{what}: expected a number from {least} to {most}, got {n}")
    return n


def seed_of(value: Any) -> int:
    """Returns a seed, an unsigned number of 64 bits; TypeError or ValueError names the argument."""
    return whole("seed", value, 0, 2**64 - 1)


def reset_mask(options: Any, rows: int, games: int) -> NDArray[np.bool_] | None:
    """Returns which games reset restarts, from its options; None: all."""
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options: expected a dict, got {options!r}")
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return None
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError("options['reset_mask']: expected a numpy array of bool")
    if mask.shape != (rows,):
        raise ValueError(f"options['reset_mask']: expected shape {(rows,)}, got {mask.shape}")
    if not mask.any():
        raise ValueError("options['reset_mask']: no entry is True")
    by_game = mask.reshape(games, -1)
    if not (by_game.all(axis=1) == by_game.any(axis=1)).all():
        raise ValueError("options['reset_mask']: the rows of a game must be reset together")
    return np.ascontiguousarray(by_game[:, 0])


def text(what: str, value: Any) -> bytes:
    """Returns a text for C; TypeError or ValueError names the argument."""
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a text, got {value!r}")
    if "\0" in value:
        raise ValueError(f"{what}: a text with a zero byte")
    return value.encode()


def name(what: str, value: Any) -> bytes:
    """Returns a name, which must not be empty, for C; TypeError or ValueError names the argument."""
    if value == "":
        raise ValueError(f"{what}: the name is empty")
    return text(what, value)


def path(what: str, value: Any) -> str:
    """Returns a path or URL; TypeError or ValueError names the argument."""
    try:
        found = os.fspath(value)
    except TypeError:
        raise TypeError(f"{what}: expected a path, got {value!r}") from None
    if not isinstance(found, str):
        raise TypeError(f"{what}: expected a path of text, got {value!r}")
    if not found:
        raise ValueError(f"{what}: the path is empty")
    if "\0" in found:
        raise ValueError(f"{what}: a path with a zero byte: {found!r}")
    return found


def players_of(opponent: Opponent) -> list[str | Policy] | None:
    """Returns the opponents; None: every seat is a row."""
    if opponent is None:
        return None
    players: Any = [opponent] if isinstance(opponent, str) or callable(opponent) else list(opponent)
    if not players or not all(callable(p) or isinstance(p, str) and p.strip() not in ("", _HERE) and "\n" not in p for p in players):
        raise ValueError(f"opponent: {opponent!r} is neither a policy, nor a list of policies, nor None")
    return players


def weights_of(what: str, value: Any, n: int) -> NDArray[np.float64]:
    """Returns an array of n numbers; TypeError or ValueError names the argument."""
    try:
        weights = np.array(value, np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(f"{what}: expected a list of numbers, got {value!r}") from None
    if weights.shape != (n,):
        raise ValueError(f"{what}: expected {n} numbers, one for each opponent, got shape {weights.shape}")
    return weights
