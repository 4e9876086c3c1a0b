"""The options that all loops have."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

import moonfarm

from .symmetry import Symmetry, symmetry

FORMS = {"terminal": "orders", "codecraft": "entities"}  # others: cells


def number(kind: type, least: float) -> Callable[[str], Any]:
    """Returns a type of options: numbers of a kind that are not below least; TINY: numbers above 0."""

    def parse(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not value >= least:  # also NaN
            expected = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"expected {expected} {'above 0' if least == TINY else f'of at least {least}'}, found {text!r}")
        return value

    return parse


TINY = 1e-12
NATURAL, COUNT, SOME, POSITIVE = number(int, 0), number(int, 1), number(float, 0), number(float, TINY)


def parser(loop: str, text: str) -> argparse.ArgumentParser:
    """Returns a parser with the options of all loops. text: the documentation of the loop's module, whose first line is shown."""
    p = argparse.ArgumentParser(prog=f"moonfarm train {loop}", description=text.splitlines()[0], allow_abbrev=False)
    p.set_defaults(loop=loop)
    p.add_argument("game")
    run = p.add_argument_group("the run")
    run.add_argument("--out", type=Path, help=f"folder of all results; a run in it is continued (default: runs/GAME-{loop})")
    run.add_argument("--seed", type=NATURAL, default=1)
    run.add_argument("--threads", type=NATURAL, default=0, help="PyTorch's threads, and workers that play; 0: one for each core")
    run.add_argument("--device", help="cpu, cuda or cuda:N; the CPU plays the games (default: cuda if there is one)")
    net = p.add_argument_group("the network")
    net.add_argument("--form", help="of observations and actions (default: orders for terminal, entities for codecraft, else cells)")
    net.add_argument("--width", type=COUNT, default=512, help="of its larger layers (default 512)")
    net.add_argument("--begin", type=Path, help="folder of a run, or of a round of one, or an ONNX file of one, whose weights to begin with (with the same --width)")
    net.add_argument("--mirror", action=argparse.BooleanOptionalAction, help="learn every second batch as the mirrored game shows it; see symmetry.py")
    net.add_argument("--bfloat16", action="store_true", help="learn with bfloat16, faster if the device has instructions for it")
    net.add_argument("--compile", action="store_true", help="learn with torch.compile, of PyTorch 2")
    net.add_argument("--rate", type=POSITIVE, default=1e-3, help="largest learning rate (default 0.001)")
    net.add_argument("--batch", type=NATURAL, default=0, help="rows per batch; 0: depends on the game")
    play = p.add_argument_group("measurements")
    play.add_argument("--opponent", action="append", default=[], help="policy to play against; may be repeated")
    play.add_argument("--judge", action="append", default=[], help="further policy that the network is measured against; may be repeated")
    play.add_argument("--games", type=NATURAL, default=100, help="games of a measurement against each; 0: none (default 100)")
    play.add_argument("--temperature", type=SOME, default=1, help="of the network's choices in them; 0: the likeliest (default 1)")
    play.add_argument("--max-turns", type=NATURAL, default=0, help="games are cut after this many turns; 0: no cut")
    return p


def parse(p: argparse.ArgumentParser, given: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options, with the defaults that depend on the game, and prepares PyTorch."""
    args = p.parse_args(given)
    for name in "opponent", "judge":
        setattr(args, name, None if getattr(args, name) is None else list(dict.fromkeys(getattr(args, name))))
    args.form = args.form or FORMS.get(args.game, "cells")
    args.out = args.out or Path("runs") / f"{args.game}-{args.loop}"
    args.threads = args.threads or os.cpu_count() or 1
    args.device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if args.device.startswith("cuda") and not torch.cuda.is_available():
        p.error(f"--device {args.device}: PyTorch finds no GPU")
    if args.compile and not hasattr(torch, "compile"):
        p.error(f"--compile: expected PyTorch 2 or later, there is {torch.__version__}")
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    return args


def games(args: argparse.Namespace, rules: str | None = None) -> moonfarm.VectorEnv:
    """Returns a game, which has what networks need to know. It also reads all opponents and judges, whose mistakes come to light."""
    for name in (*args.opponent, *args.judge):
        moonfarm.make_vec(args.game, 1, form=args.form, opponent=name, rules=rules).close()
    return moonfarm.make_vec(args.game, 1, form=args.form, rules=rules)


def mirror(args: argparse.Namespace, envs: moonfarm.VectorEnv) -> Symmetry | None:
    """Returns the symmetry for --mirror."""
    found = symmetry(envs) if args.mirror else None
    if args.mirror and found is None:
        raise SystemExit(f"--mirror: {args.game} has no symmetry in the form {args.form}, see symmetry.py")
    return found


def autocast(args: argparse.Namespace) -> contextlib.AbstractContextManager[Any]:
    """Returns the context of a loss, for --bfloat16."""
    return torch.autocast(args.device.split(":")[0], torch.bfloat16, enabled=args.bfloat16)
