"""Games of the original engines: verified, and imported into datasets."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

from . import arguments, library

PathLike = Union[str, "os.PathLike[str]"]


def verify_recording(path: PathLike, rules: str | Path | None = None) -> dict[str, Any]:
    """Plays the games of a recording again and compares every field, as `moonfarm replay verify` does.

    path: a file, compressed with gzip or not, or the folder of a match log; the game follows from its
    content. rules: rules that the recording lacks, in the form of make_vec.

        report = moonfarm.verify_recording("game.jsonl")
        report["game"], report["counts"]["games"], report["different"]

    Returns a dict with the keys file, game ("" if it is not known), counts (the numbers of compared
    objects by kind, such as games and rounds, turns or ticks), different (how many games, renders,
    turns, ticks, views or messages differ), first (None, or a dict with line, game, round, frame,
    field, expected and found), error ("", or why the recording could not be read to its end), notes and
    inexact ("", or why a correct recording may differ).

    Raises ArgumentError if the rules are wrong. Ctrl-C ends it.
    """
    base = arguments.rules_of(rules)
    return _task(
        "mf_verify_recording", _path("path", path), None if base is None else arguments.text("rules", base)
    )  # fmt: skip


def import_recordings(
    game: str,
    paths: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    rules: str | Path | None = None,
    keep_until_difference: bool = False,
    reward: str | None = None,
    discount: float = 1.0,
    obs: str = "planes",
    memory: bool = False,
    license: str | None = None,
    shard_episodes: int | None = None,
    workers: int | None = None,
) -> dict[str, Any]:
    """Makes a dataset of recordings, as `moonfarm import` does: the files have the same bytes.

    game: "towerdefence", "terminal" or "codecraft". paths: its recordings. out: the folder of the
    dataset: new, empty, or from an earlier call with the same arguments, which it continues. Every
    game is played again first. A game that differs from its recording is skipped; with
    keep_until_difference it becomes an episode that is truncated before the first difference. The
    other arguments are the flags of the command with the same names.

        moonfarm.import_recordings("terminal", sorted(Path("replays").glob("*.replay")), "data/replays")
        ds = moonfarm.dataset("data/replays")

    Returns a dict with the keys dir, game, rule_sets, episodes, distinct, turns, rows, bytes,
    shards, shards_made, shards_found, skipped, inexact and kept (lists of dicts with file, game and
    why) and seconds. If all games are skipped, episodes is 0 and no dataset is written.

    Raises ArgumentError if an argument is wrong or the dataset cannot be written. Ctrl-C ends it;
    whole shards stay.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = [_path("paths", p) for p in given]
    if not files:
        raise ValueError("paths: the list is empty")
    for file in files:
        if b"\n" in file:
            raise ValueError(f"paths: a path with a line end: {file!r}")
    base = arguments.rules_of(rules)
    if obs not in ("planes", "packed", "none"):
        raise ValueError(f"obs: {obs!r} is not one of 'planes', 'packed', 'none'")
    if not 0 < discount <= 1:
        raise ValueError(f"discount: expected a number above 0 and at most 1, got {discount!r}")
    c = library.CImport(
        size=ctypes.sizeof(library.CImport),
        workers=0 if workers is None else arguments.whole("workers", workers, 1),
        game=arguments.name("game", game),
        files=b"\n".join(files),
        out=_path("out", out),
        rules=None if base is None else arguments.text("rules", base),
        reward=None if reward is None else arguments.name("reward", reward),
        obs=obs.encode(),
        license=None if license is None else arguments.text("license", license),
        discount=discount,
        shard_episodes=0 if shard_episodes is None else arguments.whole("shard_episodes", shard_episodes, 1),
        keep=bool(keep_until_difference),
        memory=bool(memory),
    )
    return _task("mf_import_recordings", c)


def _path(what: str, value: Any) -> bytes:
    """Returns a path for C."""
    return os.fsencode(arguments.path(what, value))


def _task(begin: str, *given: Any) -> dict[str, Any]:
    """Returns the result of a task. Python looks at signals ten times a second; an exception ends the task."""
    lib, handle = library.library(), ctypes.c_uint64()
    lib.call(begin, *given, handle)
    try:
        while True:
            try:
                return json.loads(lib.text("mf_task_result", handle, 100).rstrip(b"\0"))
            except library.WaitError:
                pass
    finally:
        lib.call("mf_close", handle)
