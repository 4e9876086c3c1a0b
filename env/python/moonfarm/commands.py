"""generate and evaluate: commands of the program from Python, with their progress and their results."""

from __future__ import annotations

import html
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import moonfarm_command

from .dataset import Dataset, dataset
from .library import ArgumentError, Error
from .registration import game_of

# The child gets no Ctrl-C of the terminal, so that it gets exactly one signal: the second one would kill it. Other threads than
# the main one get no KeyboardInterrupt: their children get the terminal's.
_APART: dict[str, Any] = {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}


def generate(
    game: str, out: str | os.PathLike[str], *, episodes: int | None = None, policy: str | Sequence[str] | None = None,
    seed: int | None = None, progress: bool = True, **flags: Any,
) -> Dataset:  # fmt: skip
    """Plays episodes, writes them to the folder out as a dataset, and opens it.

    The arguments are the flags of the command generate, whose help lists all of them (`python3 -m moonfarm generate
    --help`) and their defaults: obs="none", max_turns=100, shard_episodes=50. policy: of every seat, or a list with one
    for each. The same call continues a run that was interrupted or killed; Ctrl-C keeps what is finished.

    progress: shows a bar of tqdm if that is installed, else a line from time to time on standard error.
    """
    if "part" in flags:
        raise TypeError("part: a part is no dataset that can be opened; make it by the command generate, and join the parts by merge")
    options = {"out": out, "episodes": episodes, "policy": policy, "seed": seed, **flags}
    run(["generate", game_of(game), *_flags(options)], progress)
    return dataset(out)


def evaluate(
    game: str, players: str | Sequence[str | os.PathLike[str]], *, games: int | None = None, seed: int | None = None,
    progress: bool = True, **flags: Any,
) -> Ratings:  # fmt: skip
    """Lets players meet on the same seeds with the seats exchanged, and returns their ratings as a table.

    players: policies, ONNX files and bots, as the command eval takes them. The other arguments are its flags (`python3
    -m moonfarm eval --help`): schedule="gauntlet", sprt=(0, 20). With out="DIR" games are kept, and the same call
    continues or extends the tournament.

    progress: as in generate.
    """
    if isinstance(players, str):  # one text has commas between players, as policy in generate
        each = [f"--players={players}"]
    else:
        each = [f"--player={_quoted(p)}" for p in ([players] if isinstance(players, os.PathLike) else players)]
    options = {"games": games, "seed": seed, **flags}
    return Ratings(run(["eval", game_of(game), *each, *_flags(options)], progress))


def _quoted(player: str | os.PathLike[str]) -> str:
    """Returns a player as a text: a path is a file, whatever is in its name."""
    return '"' + os.fspath(player).replace('"', '""') + '"' if isinstance(player, os.PathLike) else player


class Ratings(list[dict[str, Any]]):
    """The players of a tournament, by their ratings: a list with a dict for each.

    report: all results, with those of pairs and of an SPRT; cmd/moonfarm/JSON.md documents them.
    """

    COLUMNS = ("player", "games", "wins", "draws", "losses", "score", "elo", "low", "high")

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__(sorted(report["players"], key=lambda player: -(player["elo"] or 0)))
        self.report = report

    def _table(self) -> list[list[str]]:
        """Returns the cells of the columns that all displays show, after their names."""
        return [[*self.COLUMNS], *([_cell(name, player.get(name)) for name in self.COLUMNS] for player in self)]

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(map(len, column)) for column in zip(*table)]
        lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in table)
        return "\n".join("  ".join(line) for line in lines)

    def _repr_html_(self) -> str:
        """Returns a table for notebooks."""
        head, *rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self._table()]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head.replace('td>', 'th>')}</tr></thead><tbody>{body}</tbody></table>"

    def to_pandas(self) -> Any:
        """Returns a DataFrame of all keys of the players."""
        import pandas

        return pandas.DataFrame(list(self))


def _cell(name: str, value: Any) -> str:
    return "" if value is None else format(value, {"score": ".3f", "elo": "+.0f", "low": "+.0f", "high": "+.0f"}.get(name, ""))


# Running


def _flags(options: Mapping[str, Any]) -> list[str]:
    """Returns the flags of a command. A list stands for its values with commas between them, None for no flag."""
    return [f"--{name.replace('_', '-')}={_text(value)}" for name, value in options.items() if value is not None]


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def run(arguments: Sequence[str], progress: bool = True) -> Any:
    """Runs the program with --json and returns its result.

    ArgumentError: the arguments are wrong. Error: the command failed. Both have the text of the command. KeyboardInterrupt
    ends the program as Ctrl-C does in a terminal; a second one kills it.
    """
    if not moonfarm_command.PROGRAM.is_file():
        raise ImportError(moonfarm_command.MISSING)
    meter = _meter(arguments[0]) if progress else _Meter()
    with tempfile.TemporaryFile() as out:  # not a pipe, which would have to be read at the same time
        child = subprocess.Popen(
            [moonfarm_command.PROGRAM, *arguments, "--json"], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
            encoding="utf-8", errors="replace", **(_APART if threading.current_thread() is threading.main_thread() else {}),
        )  # fmt: skip
        failure = None
        try:
            failure = _follow(child, meter)
        finally:
            meter.end(child.returncode == 0)
        if child.returncode == 0:
            out.seek(0)
            return json.load(out)
    if failure is None:
        how = f"the signal {-child.returncode} ended it" if child.returncode < 0 else f"it ended with the status {child.returncode}"
        raise Error(f"moonfarm {arguments[0]}: {how}")
    raise (ArgumentError if failure["usage"] else Error)(failure["error"])


def _follow(child: subprocess.Popen[str], meter: _Meter) -> dict[str, Any] | None:
    """Shows what the program says until it has ended. Returns the reason if it failed and said why."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(child, lines), daemon=True).start()
    failure = None
    try:
        while (line := _next(lines)) is not None:
            failure = _hear(line, meter) or failure
        child.wait()
    except BaseException:
        _stop(child)
        while (line := lines.get()) is not None:
            failure = _hear(line, meter) or failure
        if failure is not None:  # such as that the same call continues
            meter.say(f"moonfarm: {failure['error']}")
        raise
    return failure


def _hear(line: str, meter: _Meter) -> dict[str, Any] | None:
    """Shows a line of the program, unless it says why the program failed: then it is returned."""
    if not line.startswith("{"):
        if line.strip():
            meter.say(line.rstrip("\n"))
        return None
    said: dict[str, Any] = json.loads(line)
    if "error" in said:
        return said
    meter.show(said["done"], said["all"])
    return None


def _read(child: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    assert child.stderr is not None
    with child.stderr:
        for line in child.stderr:
            lines.put(line)
    lines.put(None)


def _next(lines: queue.SimpleQueue[str | None]) -> str | None:
    """Returns the next line, or None after the last one. It waits in pieces, between which Windows raises KeyboardInterrupt."""
    while True:
        try:
            return lines.get(timeout=0.2)
        except queue.Empty:
            pass


def _stop(child: subprocess.Popen[str]) -> None:
    """Interrupts the program, which then keeps what is finished, and waits for its end."""
    try:
        if child.poll() is None:
            child.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))
        child.wait()
    except BaseException:
        child.kill()
        child.wait()
        raise


# Progress


class _Meter:
    """Shows no progress, and the program's warnings on standard error, where notebooks see them."""

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def show(self, done: int, all: int) -> None:
        """Shows that done of all are done; all is 0 if it is not known."""

    def end(self, complete: bool) -> None:
        """Ends the display."""


class _Lines(_Meter):
    """Prints a line from time to time."""

    def __init__(self, what: str) -> None:
        self.what, self.last = what, time.monotonic()

    def show(self, done: int, all: int) -> None:
        if time.monotonic() - self.last >= 5:
            self.last = time.monotonic()
            self.say(f"{self.what}: {done:,}" + (f" of {all:,}" if all else ""))


class _Bar(_Meter):
    """Shows a bar of tqdm."""

    def __init__(self, what: str, tqdm: Any) -> None:
        self.what, self.tqdm = what, tqdm
        self.bar: Any = None

    def say(self, line: str) -> None:
        self.tqdm.write(line, file=sys.stderr)

    def show(self, done: int, all: int) -> None:
        if self.bar is None:  # not before, so that what an earlier run has done does not count as done at once
            self.bar = self.tqdm(desc=self.what, initial=done, total=all or None)
        self.bar.total = all or None
        self.bar.update(done - self.bar.n)

    def end(self, complete: bool) -> None:
        if self.bar is not None:
            if complete and self.bar.total:
                self.bar.update(self.bar.total - self.bar.n)
            self.bar.close()


def _meter(what: str) -> _Meter:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines(what)
    return _Bar(what, tqdm)
