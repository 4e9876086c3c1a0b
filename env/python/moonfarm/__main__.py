"""The command `python3 -m moonfarm export DATASET --to minari|npz --out PATH`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .dataset import dataset
from .reading import FORMS, SPLITS


def main() -> int:
    """Exports a dataset; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m moonfarm", description="Writes a dataset in a format that others read.")
    parser.add_argument("command", choices=["export"])
    parser.add_argument("dataset", help="its folder")
    parser.add_argument("--to", required=True, choices=["minari", "npz"])
    parser.add_argument("--out", required=True, type=Path, help="what to write; it must not be there")
    parser.add_argument("--obs", choices=FORMS)
    parser.add_argument("--reward")
    parser.add_argument("--discount", type=float)
    parser.add_argument("--split", choices=SPLITS, default="all")
    parser.add_argument("--validation", type=float, default=0.1)
    parser.add_argument("--test", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--progress", action="store_true", help="print how far it is, a JSON object a line")
    args = parser.parse_args()
    options = {n: getattr(args, n) for n in ("obs", "reward", "discount", "split", "validation", "test", "workers")}
    last = 0

    def tell(done: int, all_: int) -> None:
        nonlocal last
        if args.progress and (done - last) * 100 >= all_:
            last = done
            print(json.dumps({"done": done, "all": all_}), flush=True)

    try:
        ds = dataset(args.dataset)
        written: dict[str, Any] = {}
        if args.to == "npz":
            if args.out.exists():
                raise FileExistsError(f"{args.out}: it is there already")
            ds.export(args.out, **options)
        else:
            from . import minari

            written = minari.export(ds, args.out, progress=tell, **options)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as e:
        print(f"moonfarm: {e}", file=sys.stderr)
        return 1
    print(json.dumps(written), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
