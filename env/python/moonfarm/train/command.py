"""The command `python3 -m moonfarm train`."""

from __future__ import annotations

import importlib
import importlib.util

from moonfarm.library import ArgumentError

LOOPS = {
    "ppo": "proximal policy optimisation against policies and past selves",
    "clone": "learn the choices of datasets' players, or the results of their searches",
    "dagger": "learn what a policy would choose in the games of the learner",
    "iterate": "expert iteration: a search teaches a network, which then guides the search",
}

USAGE = """\
usage: moonfarm train LOOP GAME …

{loops}

moonfarm train LOOP --help shows the options. All loops write network.onnx and curve.csv into the folder of --out,
and continue the run that is in it. moonfarm view FOLDER shows the curve while it grows."""


def main(arguments: list[str]) -> int:
    """Runs a loop; returns the exit status."""
    loop = arguments[0] if arguments else ""
    if loop in ("-h", "--help"):
        print(USAGE.format(loops="\n".join(f"  {name:<9}{what}" for name, what in LOOPS.items())))
        return 0
    if loop not in LOOPS:
        raise ArgumentError(f"train {loop}: expected one of {', '.join(LOOPS)}" if loop else f"train: expected one of {', '.join(LOOPS)}")
    if importlib.util.find_spec("torch") is None:
        raise ImportError("moonfarm train needs PyTorch, which is not installed: python3 -m pip install torch")
    importlib.import_module(f".{loop}", __package__).main(arguments[1:])
    return 0
