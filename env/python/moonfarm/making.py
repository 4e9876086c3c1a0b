"""make_vec, which selects the class of a vector environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from . import arguments
from .arguments import Opponent
from .opponents import AgainstPolicies
from .registration import game_of
from .vector import VectorEnv, vector_class


def make_vec(
    game: str,
    num_envs: int = 1,
    *,
    opponent: Opponent = None,
    opponent_weights: Sequence[float] | NDArray[Any] | None = None,
    seat: int | str = 0,
    obs: str | tuple[str, ...] = "planes",
    reward: str | None = None,
    rules: str | Path | None = None,
    form: str | None = None,
    max_turns: int = 0,
    memory: bool = False,
    autoreset: Any = "next_step",
    workers: int = 0,
    batch_size: int = 0,
    seed: int | None = None,
    copy: bool = True,
    render_mode: str | None = None,
    render_width: int = 256,
    action_mask: bool = True,
    buffers: Mapping[str, NDArray[Any]] | None = None,
) -> VectorEnv:
    """Makes num_envs games that are stepped together: a gymnasium.vector.VectorEnv if Gymnasium is installed.

    game: such as "towerdefence", or an id as Gymnasium has it, "TowerDefence-v0"; moonfarm.games() lists them.

    opponent: the player of the other seats. None: every seat is a row (self-play), so that the
    environment's num_envs is num_envs times the number of players. A text: that policy; in it
    the path of a network with blanks or special characters needs quotes,
    '"my nets/td.onnx"(greedy)'. A function: it plays in Python, see moonfarm.AgainstPolicies.
    A list of texts and functions: each episode draws one for each other seat, and infos name it, "opponent".

    opponent_weights: how likely each opponent of the list is drawn, in proportion; 0: never; None: all equally. The
    attribute of that name changes them while games are played: see VectorEnv.opponent_weights.

    seat: the caller's seat, from 0; "random": a seat is drawn for each episode.

    obs: "planes" (uint8 [planes, height, width] and scalars, float32), "packed" (the
    planes' uint64 words, and scalars), "both"; or a tuple of the parts "planes",
    "packed", "scalars", "mask" (bits), "action_mask" (bool, for networks and libraries that get
    nothing but observations), "key". An observation is a dict of arrays by part; for a tuple of
    one part it is the array itself.

    form: the form of observations and actions, one of description["forms"]; None: the first, with
    memory "cells". In a form with description["tensors"] an observation has an array for each of them, uint8 and by name, in the
    place of "planes". In a sequential form an action is one order of a turn, and a step plays the turn
    of a game once every seat has ended its own: see VectorEnv.step.

    reward: one of description["rewards"]; None: the result in the last turn, else 0.
    rules: the name of a rule set, or a text of rules; a Path: a file of rules; None: the default.
    max_turns: games are truncated after this many turns; 0: only the rules end them.
    memory: planes show the last seen values where fog of war hides cells.
    autoreset: "next_step", "same_step" or "disabled", the modes of Gymnasium.
    workers: threads that step the games; 0: one for each core.
    batch_size: games in a block of send and recv; 0: all.
    seed: game i begins with seed + i; None: random seeds. reset may change the seeds.
    copy: False returns the arrays that the next step overwrites, not copies.
    render_mode: None, "ansi" (texts) or "rgb_array" (uint8 [height, width, 3]); the board as a person sees it,
    without fog of war.
    gymnasium.make also takes "rgb_array_list" and "human", for which Gymnasium opens a window with pygame.
    render_width: width of "rgb_array" in pixels, made even as video needs it; the height follows from the board.
    action_mask: whether infos have "action_mask", bool, besides the bits of "mask". It costs memory
    bandwidth in every step: set it to False if you do not read it.
    buffers: the caller's arrays to use instead of new ones, by the names in VectorEnv.arrays:
    memory shared with other processes, or with a GPU.
    """
    game = game_of(game)
    given = dict(locals())
    players = arguments.players_of(opponent) or []
    return vector_class(AgainstPolicies if any(map(callable, players)) else VectorEnv)(**given)
