"""Expert iteration for Tower Defence: a search plays, a network learns from it, and the search uses the network.

    python3 env/python/examples/expert_iteration.py loop

In each generation (Anthony, Tian, Barber: "Thinking fast and slow with deep learning and tree search", 2017)

1. `moonfarm generate` plays games of a search against itself: in the first generation with the game's own formula,
   later with the best network so far, which gives its priors and values and also plays some of the turns, so that
   games differ;
2. the network goes on learning from the games of the last generations: policy from the search's shares, value from a
   mix of the outcome and the search's value;
3. it is exported as ONNX, and `moonfarm eval --sprt` compares it with the best network, which it replaces if the test
   finds it stronger;
4. `moonfarm eval` plays its likeliest choices against the scripts, and rates searches with the networks.

loop/best.onnx is the best network, loop/curve.json has an object for each generation, loop/curve.svg shows them. The
same command continues a run that was stopped. The program learns on a GPU if there is one; the CPU plays the games.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from networks import Tower, write_onnx

GAME = "towerdefence"
ANCHOR = "mcts(sims=100)"
SCRIPTS = ("planner", "econ", "turtle", "rush", "tesla", "playout")
LINE = (
    "generation {generation}: {rows} rows, loss {policy_loss:.3f} + {value_loss:.3f}, {score:.1%} against the best"
    " before; rating {rating:.0f} ± {interval}, {planner:.1%} of games against planner; {play:.0f} s of play, {learn:.0f} s of"
    " learning, {measure:.0f} s of measuring"
)


class Rows(NamedTuple):
    """The data to learn from."""

    planes: Tensor  # uint8 [n, planes, 8, 16]
    scalars: Tensor  # float32 [n, scalars]
    mask: Tensor  # bool [n, 322]
    shares: Tensor  # float16 [n, 322]
    value: Tensor  # float32 [n]


def read(folder: Path, mix: float) -> Rows:
    """Returns the rows of a dataset in which there was something to search."""
    parts: list[list[np.ndarray]] = []
    columns = ["planes", "scalars", "mask", "outcome", "search_value", "search_policy", "search_choices"]
    data = moonfarm.dataset(folder)
    for batch in data.batches(4096, columns=columns, obs="planes", split="all"):
        shares = data.shares(batch)
        rows = shares.max(1) > 0
        rows &= np.isfinite(batch["search_value"])
        mask = data.masks(batch["mask"][rows])
        value = (1 - mix) * batch["outcome"][rows] + mix * batch["search_value"][rows]
        parts.append([
            batch["planes"][rows], batch["scalars"][rows], mask, shares[rows].astype(np.float16),
            value.astype(np.float32),
        ])  # fmt: skip
    return Rows(*(torch.from_numpy(np.concatenate(columns)) for columns in zip(*parts)))


def mirrored(rows: Rows) -> Rows:
    """Returns the rows with the board upside down: the rules are symmetric in this direction."""

    def flip(choices: Tensor) -> Tensor:
        cells = choices[:, : -Tower.OTHERS].view(len(choices), Tower.ORDERS, -1, Tower.WIDTH)
        return torch.cat([cells.flip(2).flatten(1), choices[:, -Tower.OTHERS :]], 1)

    return Rows(rows.planes.flip(2), rows.scalars, flip(rows.mask), flip(rows.shares), rows.value)


def learn(network: Tower, rows: Rows, newest: int, args: argparse.Namespace, generation: int) -> tuple[float, float]:
    """Learns from rows, the last `newest` of them from the newest games; returns both mean losses at the end."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network.to(device, memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(network.parameters(), weight_decay=1e-4)
    draw = torch.Generator().manual_seed(args.seed + generation)
    losses: list[tuple[float, float]] = []
    # If games of earlier generations are learned from, too, half of each batch is from the newest.
    old = len(rows.value) - newest
    half = args.batch if old == 0 else args.batch // 2
    rate = args.rate if old == 0 else args.rate / 2
    steps = max(1, int((args.passes if old == 0 else args.later_passes) * newest / half))
    for step in range(steps):
        for group in optimiser.param_groups:  # it rises for a twentieth of the steps, then falls
            group["lr"] = rate * min(1, 20 * (step + 1) / steps) * max(1 - step / steps, 0.02)
        of = torch.randint(old, old + newest, (half,), generator=draw)
        if old:
            of = torch.cat([of, torch.randint(old, (args.batch - half,), generator=draw)])
        batch = Rows(*(column[of].to(device) for column in rows))
        if step % 2:
            batch = mirrored(batch)
        with torch.autocast(device, torch.bfloat16, enabled=args.bfloat16):
            logits, value = network(batch.planes, batch.scalars)
        logits = logits.float().masked_fill(~batch.mask, -1e9)
        policy_loss = -(batch.shares.float() * F.log_softmax(logits, 1)).sum(1).mean()
        value_loss = F.mse_loss(value.float(), batch.value)
        optimiser.zero_grad()
        (policy_loss + value_loss).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        losses.append((policy_loss.item(), value_loss.item()))
        if sys.stderr.isatty() and step % 50 == 0:
            print(f"\r{step} of {steps} steps, loss {np.mean(losses[-50:], 0)}", end="", file=sys.stderr)
    network.to("cpu", memory_format=torch.contiguous_format).eval()
    policy_loss, value_loss = np.mean(losses[-max(1, steps // 10) :], 0)
    return float(policy_loss), float(value_loss)


def export(network: Tower, envs: moonfarm.VectorEnv, file: Path) -> None:
    """Writes the network as ONNX."""
    d = envs.description
    example = (torch.zeros(1, len(d["planes"]), d["height"], d["width"]), torch.zeros(1, len(d["scalars"])))
    write_onnx(network, example, file, ["planes", "scalars"], ["policy", "value"])


class Moonfarm:
    """The command moonfarm, and what it prints of games."""

    def __init__(self, program: str | None, folder: Path) -> None:
        self.program = program or shutil.which("moonfarm")
        if self.program is None:
            self.program = str(folder / "moonfarm")
            root = Path(__file__).resolve().parents[3]
            subprocess.run(["go", "build", "-o", Path(self.program).resolve(), "./cmd/moonfarm"], cwd=root, check=True)

    def __call__(self, *arguments: object) -> str:
        done = subprocess.run([str(self.program), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(done.returncode)
        return done.stdout

    def evaluate(self, players: list[str], *arguments: object) -> dict[str, Any]:
        said = [word for player in players for word in ("--player", player)]
        result: dict[str, Any] = json.loads(self("eval", GAME, *said, *arguments, "--json"))
        return result


@contextlib.contextmanager
def timed(folder: Path, what: str) -> Iterator[dict[str, float]]:
    """Adds the seconds of the block to those of earlier tries, in a file; yields all times."""
    file = folder / "seconds.json"
    seconds: dict[str, float] = json.loads(file.read_text()) if file.exists() else {}
    begun = time.perf_counter()
    try:
        yield seconds
    finally:
        seconds[what] = seconds.get(what, 0) + time.perf_counter() - begun
        file.write_text(json.dumps(seconds))


def generation(number: int, moonfarm_: Moonfarm, envs: moonfarm.VectorEnv, args: argparse.Namespace) -> dict[str, Any]:
    """Plays, learns and measures; returns the new line of the curve."""
    out: Path = args.out
    best, folder = out / "best.onnx", out / str(number)
    folder.mkdir(exist_ok=True)
    teacher = args.teacher
    if number > 1:
        searching = f"mcts(sims={args.sims},model={best},trust={args.trust})"
        teacher = f"mix({1 - args.unsearched}*{searching},{args.unsearched}*{best})"
    with timed(folder, "play"):
        moonfarm_(
            "generate", GAME, "--policy", teacher, "--episodes", args.later if number > 1 else args.episodes,
            "--shard-episodes", args.shard_episodes, "--seed", number, "--obs", "none", "--out", folder / "games",
        )  # fmt: skip

    with timed(folder, "learn"):
        torch.manual_seed(args.seed + number)
        network = Tower(envs, args.channels, args.blocks)
        if number > 1:
            network.load_state_dict(torch.load(out / str(number - 1) / "network.pt"))
        first = max(1, number - args.window + 1)
        parts = [read(out / str(g) / "games", args.value_mix) for g in range(first, number + 1)]
        rows = Rows(*(torch.cat(columns) for columns in zip(*parts)))
        policy_loss, value_loss = learn(network, rows, len(parts[-1].value), args, number)
        torch.save(network.state_dict(), folder / "network.pt")
        export(network, envs, folder / "network.onnx")

    with timed(folder, "measure") as seconds:
        score, stronger = 1.0, True
        if number > 1:
            players = [str(folder / "network.onnx"), str(best)]
            result = moonfarm_.evaluate(players, "--sprt", args.sprt, "--games", 10 * args.games)
            score, stronger = result["players"][0]["score"], result["sprt"]["decision"] == "H1"
        players = [f"{folder / 'network.onnx'}(greedy)", *SCRIPTS]
        result = moonfarm_.evaluate(players, "--schedule", "gauntlet", "--games", args.games)
        ours = result["players"][0]["player"]
    return {
        "generation": number, "rows": len(rows.value), "policy_loss": policy_loss, "value_loss": value_loss,
        "score": score, "kept": stronger,
        **{pair["b"]: pair["score"] for pair in result["pairs"] if pair["a"] == ours}, **seconds,
    }  # fmt: skip


def keep_best(curve: list[dict[str, Any]], out: Path) -> None:
    """Copies the network of the last generation that was stronger to best.onnx."""
    for kept in [c["generation"] for c in curve if c["kept"]][-1:]:
        shutil.copy(out / str(kept) / "network.onnx", out / "best.onnx")


def rate(curve: list[dict[str, Any]], moonfarm_: Moonfarm, args: argparse.Namespace) -> None:
    """Rates short searches with the networks of all generations against each other and a search without one, at 0."""
    players = [f"mcts(sims=20,model={args.out / str(c['generation']) / 'network.onnx'})" for c in curve]
    result = moonfarm_.evaluate([*players, ANCHOR], "--games", max(2, args.games // 8), "--anchor", ANCHOR)
    for c, player in zip(curve, result["players"]):
        c["rating"], c["error"] = player["elo"], player["error"]  # None: too few games for an error


def interval(point: dict[str, Any]) -> str:
    """Returns the error of a rating as text."""
    return "?" if point["error"] is None else f"{point['error']:.0f}"


def draw(curve: list[dict[str, Any]], file: Path) -> None:
    """Draws the rating over the minutes of the run."""
    width, height, left, top = 640, 300, 60, 24
    minutes = np.cumsum([(c["play"] + c["learn"] + c["measure"]) / 60 for c in curve])
    ratings = np.array([c["rating"] for c in curve])
    errors = np.array([c["error"] or 0.0 for c in curve])  # an unknown error gets no bar
    low, high = min(0, (ratings - 2 * errors).min()) - 20, max(0, (ratings + 2 * errors).max()) + 20
    x = left + (width - left - 40) * minutes / minutes[-1]

    def y(rating: float) -> float:
        return float(top + (height - top - 50) * (high - rating) / (high - low))

    def text(at: float, line: float, what: str, anchor: str = "middle") -> str:
        return f'<text x="{at:.0f}" y="{line:.0f}" text-anchor="{anchor}">{what}</text>'

    zero, bottom = y(0), height - 50
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<path d="M{left} {top}V{bottom}H{width - 20}" fill="none" stroke="#888"/>',
        f'<path d="M{left} {zero:.0f}H{width - 20}" stroke="#888" stroke-dasharray="4"/>',
        text(width - 24, zero - 6, f"{ANCHOR} without a network", "end"),
        text((left + width) / 2, height - 12, "minutes of play, learning and measuring"),
        text(left, top - 8, "Elo", "middle"),
        f'<polyline points="{" ".join(f"{a:.0f},{y(r):.0f}" for a, r in zip(x, ratings))}" fill="none" stroke="#06c"/>',
    ]
    for at, spent, rating, error, c in zip(x, minutes, ratings, errors, curve):
        out += [
            f'<path d="M{at:.0f} {y(rating - 2 * error):.0f}V{y(rating + 2 * error):.0f}" stroke="#06c"/>',
            f'<circle cx="{at:.0f}" cy="{y(rating):.0f}" r="4" fill="#06c"/>',
            text(at + 8, y(rating) - 8, f"{c['generation']}: {rating:+.0f}", "start" if at < width - 120 else "end"),
            text(at, bottom + 18, f"{spent:.0f}"),
        ]
    file.write_text("\n".join([*out, "</svg>", ""]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder of all results")
    parser.add_argument("--generations", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=9000, help="games of the first generation")
    parser.add_argument("--later", type=int, default=600, metavar="EPISODES", help="games of every other generation")
    parser.add_argument("--shard-episodes", type=int, default=20)
    parser.add_argument(
        "--teacher", default="mix(0.9*mcts(sims=400),0.06*playout,0.04*random)", help="policy of the first generation"
    )
    parser.add_argument("--sims", type=int, default=100, help="simulations of the search with a network")
    parser.add_argument("--trust", type=float, default=0, metavar="X", help="weight of the network's values in the search")
    parser.add_argument("--unsearched", type=float, default=0.1, metavar="X", help="share of the turns that the network plays without a search")
    parser.add_argument("--window", type=int, default=2, help="number of generations whose games are learned from")
    parser.add_argument("--value-mix", type=float, default=0.8, metavar="X", help="the value learns X · the search's value + (1 - X) · the outcome")
    parser.add_argument("--passes", type=float, default=2.2, help="passes over the rows of the first generation")
    parser.add_argument("--later-passes", type=float, default=5, help="passes over the newest rows of every other generation")
    parser.add_argument("--batch", type=int, default=512, help="rows per batch")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--bfloat16", action="store_true", help="learn with bfloat16, which is faster if the processor has instructions for it")
    parser.add_argument("--sprt", default="0,40", metavar="ELO0,ELO1", help="bounds of the test against the best network so far")
    parser.add_argument("--games", type=int, default=400, help="games against each opponent; the test has at most ten times as many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="PyTorch's threads")
    parser.add_argument("--moonfarm", help="the command moonfarm (default: from the PATH, else built)")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    moonfarm_ = Moonfarm(args.moonfarm, args.out)
    envs = moonfarm.make_vec(GAME, 1)
    file = args.out / "curve.json"
    curve: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    for number in range(len(curve) + 1, args.generations + 1):
        keep_best(curve, args.out)
        curve.append(generation(number, moonfarm_, envs, args))
        rate(curve, moonfarm_, args)
        print(LINE.format(interval=interval(curve[-1]), **curve[-1]), flush=True)
        file.with_suffix(".part").write_text(json.dumps(curve, indent=1))
        file.with_suffix(".part").replace(file)
        keep_best(curve, args.out)
        draw(curve, args.out / "curve.svg")


if __name__ == "__main__":
    main()
