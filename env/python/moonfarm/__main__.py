"""The command `python3 -m moonfarm`. The package has two subcommands of its own, export and train; all others are those of the
program, see moonfarm_command."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import moonfarm_command

from . import library
from .dataset import Dataset, dataset
from .exporting import FORMATS, export, refuse
from .reading import FORMS, OUTCOMES, SPLITS

DESCRIPTION = """\
Writes the rows of a dataset, or the rows of a part of its episodes, as:

  parquet  a Parquet file: a row for each turn and seat. A tensor is a list of
           its values; the metadata of the file has the shapes as JSON, under
           the keys moonfarm.columns and moonfarm.manifest. It needs pyarrow
  npz      a file for numpy.load: an array for each column, and metadata, the
           manifest as JSON; without columns that are lists (orders)
  minari   a folder in the format of Minari 0.5, data/main_data.hdf5 and
           data/metadata.json: an episode for each episode and seat, with the
           observation after the last turn, and the masks in its infos (after
           the last turn only the choice that orders nothing is legal). An
           action is -1 where no choice stands for the orders. It needs h5py

With --policy, --seat, --chosen, --outcome and --no-opening only rows that match
all these flags are written, such as the rows of winners.

With --obs, --reward, --discount or the column opponent the episodes are played
again to make the rows, from any dataset, also from one without observations.
PATH appears when it is complete, and not at all after an interrupt. An existing
PATH is replaced only with --force."""

EXAMPLES = """\
With --json: one object with the keys from, to, path, rows, episodes (for minari,
else 0), columns, bytes, seconds; an error is an object on standard error with
the keys error, usage (true for wrong usage), exit_status.

Exit status: 0 success, 1 a failure, 2 wrong usage, 130 interrupted.

Examples:
  python3 -m moonfarm export data/td --format parquet --out td.parquet
  python3 -m moonfarm export data/td --format npz --out train.npz \\
      --columns scalars,mask,action,return --split train --discount 0.99
  python3 -m moonfarm export data/td --format parquet --out winners.parquet \\
      --outcome win --policy econ
  python3 -m moonfarm export data/td --format minari \\
      --out ~/.minari/datasets/towerdefence/random-v0"""

# Errors of wrong arguments, and all errors that are expected.
_WRONG = (TypeError, ValueError, OverflowError, library.ArgumentError)
_FAILURES = (ImportError, OSError, RuntimeError, MemoryError, *_WRONG)


class WrongUseError(Exception):
    """The arguments are wrong: the exit status is 2."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises WrongUseError."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError(message)


def _texts(text: str) -> list[str]:
    """Returns the texts of a comma-separated list."""
    return [t.strip() for t in text.split(",")]


def _numbers(text: str) -> list[int]:
    """Returns the numbers of a comma-separated list."""
    return [int(t) for t in text.split(",")]


_numbers.__name__ = "list of numbers"  # so that messages name it


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python3 -m moonfarm", description="The commands of the Python package.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    c = commands.add_parser(
        "export", help="write a dataset in another format", description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    c.add_argument("dataset", metavar="DATASET", help="its folder or URL")
    c.add_argument("--format", "--to", required=True, choices=FORMATS, help="the format")
    c.add_argument("--out", required=True, metavar="PATH", help="the file or folder to write")
    c.add_argument("--columns", type=_texts, action="extend", metavar="NAMES", help="the columns, as inspect lists them (default: all that the format can hold)")
    c.add_argument("--planes", choices=("list", "bytes"), default="list", help="parquet: planes as lists, or as bytes in a sixth of the time")
    c.add_argument("--obs", choices=FORMS, help="observations, made by playing again (default: as in the dataset)")
    c.add_argument("--reward", metavar="NAME", help="the reward, made by playing again (default: as in the dataset)")
    c.add_argument("--discount", type=float, metavar="X", help="weight of the next turn's reward in the return of this turn")
    c.add_argument("--split", choices=SPLITS, default="all", help="part of the episodes, the same for every reader")
    c.add_argument("--validation", type=float, default=0.1, metavar="X", help="share of the episodes for validation (default: 0.1)")
    c.add_argument("--test", type=float, default=0.0, metavar="X", help="share of the episodes for tests (default: 0)")
    c.add_argument("--part", default="0/1", metavar="I/N", help="one of N parts of the episodes, from 0")
    c.add_argument("--policy", action="append", metavar="POLICY", help="only rows in which this policy, or this member of a mix, chose; may be repeated")
    c.add_argument("--seat", type=_numbers, action="extend", metavar="SEATS", help="only rows of these seats, from 0")
    c.add_argument("--chosen", type=_numbers, action="extend", metavar="NUMBERS", help="only rows in which the members of a mix with these numbers chose")
    c.add_argument("--outcome", type=_texts, action="extend", metavar="OUTCOMES", help=f"only rows of seats that ended with one of these: {', '.join(OUTCOMES)}")
    c.add_argument("--no-opening", dest="opening", action="store_false", help="leave out the turns of an opening, in which no policy chose")
    c.add_argument("--workers", type=int, default=_cores(), metavar="N", help="threads that play (default: one for each core)")
    c.add_argument("--force", action="store_true", help="replace an existing file or folder")
    c.add_argument("--json", action="store_true", help="print JSON instead of text, errors too")
    return parser


def _cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the arguments of Dataset.batches that were given. WrongUseError: they do not go together."""
    part = re.fullmatch(r"(\d+)/(\d+)", args.part)
    if part is None:
        raise WrongUseError(f"--part {args.part}: expected I/N, such as 0/4")
    if not (0 <= args.validation <= 1 and 0 <= args.test <= 1 and args.validation + args.test <= 1):
        raise WrongUseError(f"--validation {args.validation} --test {args.test}: expected shares that are 1 together or less")
    filters = {n: getattr(args, n) for n in ("policy", "seat", "chosen", "outcome") if getattr(args, n) is not None}
    if not args.opening:
        filters["opening"] = False
    if args.format == "minari" and args.columns is not None:
        raise WrongUseError("--columns: the columns of minari are given")
    if args.format == "minari" and filters:
        raise WrongUseError("--policy, --seat, --chosen, --outcome, --no-opening: minari holds whole episodes, so no rows can be left out")
    options = {n: getattr(args, n) for n in ("columns", "obs", "reward", "discount") if getattr(args, n) is not None}
    shares = {n: getattr(args, n) for n in ("split", "validation", "test")} if args.split != "all" else {}
    parts = {"part": int(part[1]), "parts": int(part[2])} if args.part != "0/1" else {}
    return {**options, **shares, **parts, **filters, "workers": args.workers}


class _Meter:
    """Shows the progress on a terminal; it shows nothing elsewhere."""

    def __init__(self) -> None:
        self.begun = self._last = time.monotonic()
        self._shown = False
        self.show = self._show if sys.stderr.isatty() else None

    def _show(self, done: int, rows: int) -> None:
        now = time.monotonic()
        if now - self._last < 0.2:
            return
        self._last, self._shown = now, True
        rate = done / (now - self.begun)
        left = f", {(rows - done) / rate:,.0f} s left" if rate else ""
        print(f"\r\033[K{done:,} of {rows:,} rows, {rate:,.0f} rows/s{left}", end="", file=sys.stderr, flush=True)

    def end(self) -> float:
        """Removes the line; returns the seconds since the meter was made."""
        if self._shown:
            self._shown = False
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        return time.monotonic() - self.begun


def _bytes(path: Path) -> int:
    """Returns the size of a file, or of all files in a folder, in bytes."""
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) if path.is_dir() else path.stat().st_size


def _size(n: float) -> str:
    """Returns a number of bytes with a suitable unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024:
            break
        n /= 1024
    else:
        unit = "TiB"
    return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"


def _export(args: argparse.Namespace) -> None:
    """Runs the command export."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", args.out):  # the URL may contain a password, so the message leaves it out
        raise WrongUseError("--out: expected a path on this machine; only datasets are written to URLs")
    options = _options(args)
    ds: Dataset = dataset(args.dataset)
    out = Path(args.out)
    try:
        ds.batches(1, **options).close()
    except _WRONG as e:
        raise WrongUseError(str(e)) from e
    refusal = refuse(out, args.format, args.force)
    if refusal is not None:
        raise WrongUseError(f"--out {refusal}" + ("" if args.force else "; --force replaces it"))
    if args.format == "parquet":
        options["planes"] = args.planes
    meter = _Meter()
    try:
        done = export(ds, out, args.format, force=args.force, progress=meter.show, **options)
    finally:
        seconds = meter.end()
    summary = {"from": args.dataset, "to": args.format, "path": args.out, **done, "bytes": _bytes(out), "seconds": round(seconds, 3)}
    if args.json:
        print(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        rows = f"{summary['rows']:,} row{'' if summary['rows'] == 1 else 's'}"
        print(f"{args.out}: {rows}, {', '.join(summary['columns'])}, {_size(summary['bytes'])}; {seconds:.1f} s")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] not in (["export"], ["train"]):
        return moonfarm_command.run(given)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if given[0] == "train":
            from .train import command

            return command.main(given[1:])
        _export(_parser().parse_args(given))
        return 0
    except KeyboardInterrupt:
        text, status = "interrupted" + (": nothing was written" if given[0] == "export" else "; the same command continues the run"), 130
    except WrongUseError as e:
        text, status = str(e), 2
    except _FAILURES as e:
        text, status = str(e) or type(e).__name__, 2 if given[0] == "train" and isinstance(e, library.ArgumentError) else 1
    if "--json" in given:
        text = json.dumps({"error": text, "usage": status == 2, "exit_status": status}, ensure_ascii=False)
    else:
        text = f"moonfarm: {text}"
    print(text, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
