"""A run: a folder that can be continued, its curve, and lines that say how it goes.

The folder has
    run.json        the options: the same command continues the run
    checkpoint.pt   the network, the optimiser, and where the loop was, of ppo and clone
    network.onnx    the network, a policy for moonfarm
    spent.json      the time that it took
    run.lock        keeps a second process out
    curve.csv       a line for each point; `moonfarm view FOLDER` draws them while the run goes on
    curve.svg       the scores against each opponent
and TensorBoard's events if tensorboard or tensorboardX is installed. dagger and iterate have a folder for each round,
from which they go on.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from moonfarm.exporting import whole

from .bodies import keep, reading, save
from .curves import draw
from .weights import weights

# Options that may change when a run is continued. The others change what a run is.
EXTENDS = {
    "seconds", "updates", "rounds", "generations", "games", "judge", "measure", "matches", "threads", "device", "out", "compile", "bfloat16",
    "average", "overlap",
}  # fmt: skip

SPENT = "spent.json"  # seconds by what they were spent for, and CPU seconds

EVERY = 10.0  # seconds without a line, at most


class Run:
    """A run of a loop. It prints a line at least every ten seconds, until close.

    curve: the points, each a number for each name; "scores/X" is the score against X. spent: seconds by what they were spent for.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.folder = args, args.out
        self._options, self._settled = self._compare(self.folder / "run.json"), False
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock_file = self._alone()
        self.curve: list[dict[str, Any]] = []
        self.spent, self._cpu = {}, 0.0
        if (self.folder / SPENT).exists():
            with reading(self.folder / SPENT):
                self.spent, self._cpu = json.loads((self.folder / SPENT).read_text())
        self._written = self._saved = time.monotonic()
        self._lock, self._end = threading.Lock(), threading.Event()
        self._status, self._said = "starts", time.monotonic()
        self._board = _board(self.folder)
        threading.Thread(target=self._beat, daemon=True).start()

    def _alone(self) -> Any:
        """Locks the folder until the process ends, and removes what a killed one has left."""
        file = open(self.folder / "run.lock", "w")
        with contextlib.suppress(ImportError):  # Windows has no fcntl
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise SystemExit(f"{self.folder}: another process is using it") from None
        for part in self.folder.rglob(".moonfarm-*.part"):
            part.unlink()
        return file

    def _compare(self, file: Path) -> dict[str, Any]:
        """Refuses to continue a run with other options; returns them."""
        options = {name: x if isinstance(x, (int, float, str, list, type(None))) else str(x) for name, x in vars(self.args).items()}
        if file.exists():
            with reading(file):
                before = json.loads(file.read_text())
            changed = [n for n in sorted({*before, *options} - EXTENDS) if before.get(n) != options.get(n)]
            if changed:
                what = ", ".join(f"--{n.replace('_', '-')} was {before.get(n)}, is {options.get(n)}" for n in changed)
                raise SystemExit(f"{self.folder}: there is a run with other options ({what}): expected the same ones, or another --out")
        return options

    def _settle(self) -> None:
        """Writes the options for the next time. They are right: something has been done with them."""
        if not self._settled:
            self._settled = True
            keep(self._options, self.folder / "run.json")

    # Lines

    def say(self, text: str) -> None:
        """Prints a line."""
        with self._lock:
            print(text, flush=True)
            self._said = time.monotonic()

    def now(self, text: str) -> None:
        """Sets what the next line says if there is no other one for ten seconds."""
        self._status = text

    def _beat(self) -> None:
        while not self._end.wait(0.5):
            if time.monotonic() - self._said >= EVERY:
                self.say(f"{self.seconds:6.0f} s … {self._status}")

    @contextlib.contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Counts the seconds of the block as spent for something."""
        begun = time.perf_counter()
        try:
            yield
            self._settle()
        finally:
            self.spent[what] = self.spent.get(what, 0.0) + time.perf_counter() - begun
            if time.monotonic() - self._saved > 2:
                self._save()

    def _save(self) -> None:
        """Keeps the time that was spent, also if the run is killed."""
        self._saved = time.monotonic()
        keep([self.spent, self.cpu], self.folder / SPENT)

    @property
    def seconds(self) -> float:
        """All seconds that were counted, also by the runs that this one continues."""
        return sum(list(self.spent.values()))

    @property
    def cpu(self) -> float:
        """CPU seconds of this process and of those that it started, also of the runs that this one continues."""
        return self._cpu + sum(os.times()[:4])

    # Curve

    def point(self, **numbers: float) -> None:
        """Adds a point to the curve."""
        spent = {f"time/{name}": round(s, 1) for name, s in self.spent.items()}
        self.curve.append({"seconds": round(self.seconds, 1), "cpu": round(self.cpu, 1), **numbers, **spent})
        point = self.curve[-1]
        if self._board is not None:
            at = next((int(point[n]) for n in ("steps", "rows", "round") if n in point), len(self.curve))
            for name, x in point.items():
                self._board.add_scalar(name, x, at)
        if time.monotonic() - self._written > 2:
            self.draw()

    def draw(self) -> None:
        """Writes the curve."""
        self._written = time.monotonic()
        names = dict.fromkeys(name for point in self.curve for name in point)
        with whole(self.folder / "curve.csv") as part, part.open("w", newline="") as f:
            writer = csv.DictWriter(f, names)
            writer.writeheader()
            writer.writerows({name: f"{x:.6g}" if isinstance(x, float) else x for name, x in point.items()} for point in self.curve)
        measured = [point for point in self.curve if any(name.startswith("scores/") for name in point)]
        if measured:
            opponents = [name for name in names if name.startswith("scores/") and all(name in point for point in measured)]
            scores = {name.partition("/")[2]: [point[name] for point in measured] for name in opponents}
            draw([point["seconds"] / 60 for point in measured], scores, self.folder / "curve.svg")

    def close(self) -> None:
        """Writes the curve, and says what the time was spent for."""
        self.draw()
        self._save()
        self._end.set()
        if self._board is not None:
            self._board.close()
        self._lock_file.close()
        spent = ", ".join(f"{s:.0f} s {what}" for what, s in self.spent.items())
        self.say(f"{self.folder}: {spent}; {self.cpu:.0f} CPU-s")

    # Checkpoints

    def keep(self, file: Path, body: nn.Module, optimiser: torch.optim.Optimizer, **more: Any) -> None:
        """Writes all that is needed to go on."""
        state = {"body": body.state_dict(), "optimiser": optimiser.state_dict(), "curve": self.curve, "spent": [self.spent, self.cpu]}
        save({**state, **more}, file)
        self.draw()

    def continues(self, file: Path, body: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Any]:
        """Reads what keep has written, and returns it."""
        with reading(file):
            state: dict[str, Any] = torch.load(file, map_location=self.args.device)
            body.load_state_dict(state["body"])
            optimiser.load_state_dict(state["optimiser"])
            self.curve, (self.spent, self._cpu) = state["curve"], state["spent"]
            self._cpu -= sum(os.times()[:4])
        return state


def _board(folder: Path) -> Any:
    """Returns a writer of TensorBoard's events; None: no package has one."""
    for package in ("torch.utils.tensorboard", "tensorboardX"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(package).SummaryWriter(str(folder))
    return None


def begin(body: nn.Module, path: Path, device: str) -> None:
    """Gives a body the weights of --begin."""
    files = [path] if path.is_file() else [f for f in (path / "checkpoint.pt", path / "run.pt") if f.exists()]
    if not files:
        raise SystemExit(f"--begin {path}: there is no checkpoint.pt or run.pt")
    try:
        known = weights(path, body) if path.is_file() else torch.load(files[0], map_location=device)["body"]
        body.load_state_dict({**body.state_dict(), **known})
    except Exception as e:
        why = " ".join(str(e).split()) or type(e).__name__
        raise SystemExit(f"--begin {path}: it is damaged, or not of this network: of another game, form, --width or --plain ({why[:160]})") from None
