"""Expert iteration: a search plays, a network learns from it, and the search uses the network.

    python3 env/python/examples/expert_iteration.py loop towerdefence

In each generation (Anthony, Tian, Barber: "Thinking fast and slow with deep learning and tree search", 2017)

1. `moonfarm generate` plays games: in the first generation of --teacher, a search with the game's own formula, against
   itself; later of --search with the best network so far, which also plays some of the turns, so that games differ.
   A part of the later games is against each --opponent;
2. the network goes on learning, half from the newest games, half from those of earlier generations: policy from the
   search's shares, value from a mix of the outcome and the search's value;
3. it is exported as ONNX, and `moonfarm eval --sprt` compares it with the best network, which it replaces if the test
   finds it stronger;
4. `moonfarm eval` plays it against every --opponent and --judge, and rates the generations.

Options of mcts in --search make games to learn from as AlphaZero, KataGo and Gumbel AlphaZero do: noise, sampled,
full, gumbel (`moonfarm policies towerdefence`). --mean and --surprise change how the network learns.

It takes any game and form; --form names it (default: orders for Terminal, entities for CodeCraft, else cells). GAMES has
the defaults of the games. What the network can do for a search depends on the game:

- Tower Defence: its policy weighs the moves of mcts, and its value may judge the leaves.
- Terminal: turns that it draws are moves at the root of mcts, and its value judges leaves. A move of the
  search is a plan of many orders, which are several actions of the form orders: there the network learns the orders that
  were played, not the shares.
- CodeCraft: the search pgs takes no network. So the network plays most turns of the later games, `generate --ask` says
  what the search would choose in their states, and the network learns that, as in dagger.py. The search stays the same.
- Tron has no search. The script territory is asked instead.

loop/best.onnx is the best network, loop/curve.json has an object for each generation, loop/curve.svg shows their
ratings. The same command continues a run that was stopped. The program learns on a GPU if there is one; the CPU plays the games.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import itertools
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

import moonfarm
from behaviour_cloning import FORMS, Learner, choose, wilson
from bodies import keep, reading, save
from dagger import call, command, cpu, player, sources
from moonfarm.exporting import whole
from networks import make, write
from rows import Rows, Source, blend, cross_entropy, distinct


class Game(NamedTuple):
    """The defaults of a game's flags."""

    teacher: str | None = None  # plays the first generation
    search: str | None = None  # plays the others with the network {model}, or is asked if it has no {model}
    unsearched: float = 0.9  # share of their turns that the network plays alone
    opponent: list[str] = ["random"]
    judge: list[str] = ["empty"]
    temperature: float = 0.5
    rated: str | None = None  # the player whose rating is measured; None: the network
    anchor: str = "random"  # the player whose rating is 0
    episodes: int = 100
    later: int = 100
    shard_episodes: int = 20
    rows: int = 500_000
    later_rows: int = 250_000
    batch: int = 256
    rate: float = 1e-3
    games: int = 100


GAMES = {
    "towerdefence": Game(
        "mix(0.9*mcts(sims=400),0.06*playout,0.04*random)", "mcts(sims=100,model={model},trust=0)", 0.1,
        ["planner"], ["econ", "turtle", "rush", "tesla", "playout"], 0, "mcts(sims=20,model={model})", "mcts(sims=100)",
        episodes=9000, later=900, rows=2_100_000, later_rows=1_100_000, batch=512, rate=2e-3, games=400,
    ),
    "terminal": Game(
        "mix(0.9*mcts(sims=100),0.1*scatter)", "mcts(sims=100,model={model})", 0.1,
        ["planner"], ["maze", "starter", "turtle"], 0.2, "mcts(sims=20,model={model})", "mcts(sims=20)",
        episodes=200, rows=1_000_000, later_rows=500_000,
    ),
    "codecraft": Game(
        "mix(0.9*pgs(sims=100),0.1*random)", "pgs(sims=100)", opponent=["squads"], judge=["econ", "turtle"], anchor="econ",
        episodes=40, later=20, shard_episodes=2, rows=200_000, later_rows=100_000, games=20,
    ),
    "tron": Game(
        "mix(0.8*territory,0.2*random)", "territory", opponent=["territory"], judge=["safe"], anchor="territory",
        episodes=2000, later=1000, games=400,
    ),
}  # fmt: skip

LINE = (
    "generation {generation}: {rows} rows of {games} games, {distinct} of them different; loss {loss:.3f}; {score:.1%} against"
    " the best before, {verdict}; rating {rating:.0f} ± {interval}; {play:.0f} s of play, {learning:.0f} s of learning, {measure:.0f} s of"
    " measuring, {cpu:.0f} CPU-seconds"
)


def play(number: int, best: Path, args: argparse.Namespace) -> None:
    """Plays the games of a generation: games0 are those of the learner against itself, the others against an opponent each."""
    learner, games, against = args.teacher, args.episodes, 0
    if number > 1:
        search, network = args.search.format(model=f'"{best}"'), player(best, args.temperature or 1)
        learner = f"mix({1 - args.unsearched:g}*{search},{args.unsearched:g}*{network})"
        if args.unsearched in (0, 1):
            learner = network if args.unsearched else search
        games, against = args.later, round(args.against * args.later / len(args.opponent))
    ask = [] if "{model}" in args.search else ["--ask", args.search]
    lineups = [(learner, games - against * len(args.opponent)), *((f"{learner},{o}", against) for o in args.opponent)]
    for i, (players, episodes) in enumerate(lineups):
        if episodes:
            call(
                args, "generate", args.game, "--policy", players, *ask, "--obs", "none", "--episodes", episodes,
                "--shard-episodes", args.shard_episodes, "--seed", number + 1000 * (args.seed - 1),
                "--max-turns", args.max_turns, "--workers", args.threads, "--out", args.out / str(number) / f"games{i}",
            )  # fmt: skip


def mixed(parts: list[list[Source]], size: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yields batches: half of the rows are of the first part, the others in equal numbers of the other parts."""
    sizes = [size - size // 2, *[max(1, size // 2 // (len(parts) - 1))] * (len(parts) - 1)] if len(parts) > 1 else [size]
    streams = [blend(part, of, seed) for part, of in zip(parts, sizes)]
    while True:
        pieces = [next(stream) for stream in streams]
        yield {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


@torch.no_grad()
def follow(mean: nn.Module, body: nn.Module, part: float) -> None:
    """Keeps that part of the mean weights, and adds the weights of a body in the place of the rest."""
    for m, new in zip(mean.state_dict().values(), body.state_dict().values()):
        m.lerp_(new, 1 - part)


@torch.no_grad()
def divergences(prior: Learner, batch: Rows) -> np.ndarray:
    """Returns for each row the divergence (Kullback, Leibler) of the search's shares from a network's probabilities."""
    total = torch.zeros(len(batch["mask"]), device=prior.device)
    for said in prior.body.say(prior.see(batch), prior.labels(batch, "shares"), prior.body.most):
        entropy, least = cross_entropy(said, prior.tensor(batch, "shares"))
        total.index_add_(0, said.rows, said.weights * (entropy - least))
    return total.clamp(min=0).cpu().double().numpy()


def surprising(batches: Iterator[Rows], prior: Learner, share: float, seed: int) -> Iterator[Rows]:
    """Yields batches of drawn rows of batches: that share of them in proportion to the divergence of the search from the
    network before, which learned least about them (policy surprise weighting of KataGo, with a share of 0.5)."""
    draw = np.random.default_rng(seed)
    for batch in batches:
        far = divergences(prior, batch)
        n = len(far)
        ends = np.cumsum((1 - share) / n + share * far / max(far.sum(), 1e-9))
        rows = np.searchsorted(ends / ends[-1], (np.arange(n) + draw.random()) / n)  # each as often as its weight says, ± 1
        yield {name: a[rows] for name, a in batch.items()}


def learn(learner: Learner, mean: nn.Module, parts: list[list[Source]], args: argparse.Namespace, seed: int) -> float:
    """Learns from the games of generations, the newest first; mean gets the mean of the weights. Returns the mean loss of
    the last tenth."""
    rows, rate = (args.rows, args.rate) if len(parts) == 1 else (args.later_rows, args.rate / 2)
    steps, losses = max(1, rows // args.batch), list[float]()
    for source in itertools.chain(*parts):
        source.epoch = seed  # not the order of another generation
    optimiser = torch.optim.AdamW(learner.body.parameters(), weight_decay=1e-4)
    batches = mixed(parts, args.batch, seed)
    if args.surprise and len(parts) > 1:  # the first network was not there before
        batches = surprising(batches, copy.deepcopy(learner), args.surprise, seed)
    for step, batch in zip(range(steps), batches):
        for group in optimiser.param_groups:  # it rises for a twentieth of the steps, then falls
            group["lr"] = rate * min(1, 20 * (step + 1) / steps) * max(1 - step / steps, 0.02)
        if step % 2:
            batch = learner.body.mirrored(batch)
        with torch.autocast(learner.device, torch.bfloat16, enabled=args.bfloat16):
            loss = learner.loss(batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learner.body.parameters(), 5.0)
        optimiser.step()
        losses.append(loss.item())
        if args.mean:
            follow(mean, learner.body, min(args.mean, step / (step + 10)))  # the weights at the beginning do not count
    return float(np.mean(losses[-max(1, steps // 10) :]))


def evaluate(args: argparse.Namespace, players: list[str], *arguments: object) -> dict[str, Any]:
    """Returns the results of games between players."""
    said = [word for name in players for word in ("--player", name)]
    result: dict[str, Any] = json.loads(
        call(args, "eval", args.game, *said, *arguments, "--max-turns", args.max_turns, "--seed", args.seed, "--json")
    )
    return result


def measure(number: int, best: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Compares the network of a generation with the best one and with the scripts; returns the scores."""
    network: Path = args.out / str(number) / "network.onnx"
    score, stronger = 1.0, True
    if number > 1:
        drawn = [player(file, args.temperature or 1) for file in (network, best)]  # the likeliest choices repeat a game
        result = evaluate(args, drawn, "--sprt", args.sprt, "--games", 10 * args.games)
        score, stronger = result["players"][0]["score"], result["sprt"]["decision"] == "H1"
    players = [player(network, args.temperature), *dict.fromkeys([*args.opponent, *args.judge])]
    result = evaluate(args, players, "--schedule", "gauntlet", "--games", args.games)
    ours, names = result["players"][0]["player"], ("score", "games", "distinct")
    scores = {pair["b"]: {name: pair[name] for name in names} for pair in result["pairs"] if pair["a"] == ours}
    for of in scores.values():
        of["low"], of["high"] = wilson(of["score"], of["games"])
    return {"score": score, "kept": stronger, "scores": scores}


def rate(curve: list[dict[str, Any]], args: argparse.Namespace) -> None:
    """Rates the players of all generations against each other and against the anchor, whose rating is 0."""
    files = [args.out / str(c["generation"]) / "network.onnx" for c in curve]
    players = [args.rated.format(model=f'"{file}"') if args.rated else player(file, args.temperature) for file in files]
    result = evaluate(args, [*players, args.anchor], "--games", max(2, args.games // 8), "--anchor", args.anchor)
    for c, rated in zip(curve, result["players"]):
        c["rating"], c["error"] = rated["elo"], rated["error"]  # None: too few games for an error


@contextlib.contextmanager
def timed(folder: Path, what: str) -> Iterator[dict[str, float]]:
    """Adds the seconds and CPU-seconds of the block to those of earlier tries, in a file; yields all times."""
    file = folder / "seconds.json"
    with reading(file):
        seconds: dict[str, float] = json.loads(file.read_text()) if file.exists() else {}
    begun, used = time.perf_counter(), cpu()
    try:
        yield seconds
    finally:
        seconds[what] = seconds.get(what, 0) + time.perf_counter() - begun
        seconds["cpu"] = seconds.get("cpu", 0) + cpu() - used
        keep(seconds, file)


def taught(number: int, envs: moonfarm.VectorEnv, args: argparse.Namespace) -> dict[str, Any]:
    """Teaches the network of a generation; returns its loss and the numbers of the new games and of their rows."""
    folder, device = args.out / str(number), "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed + number)
    body = make(envs, args.width)
    if number > 1:
        file = args.out / str(number - 1) / "network.pt"
        with reading(file):
            body.load_state_dict(torch.load(file, map_location="cpu"))
    folders = [sorted((args.out / str(g)).glob("games*")) for g in range(number, max(0, number - args.window), -1)]
    new = [moonfarm.dataset(f, form=args.form) for f in folders[0]]
    learner = Learner(envs, body, device, choose(new, body, argparse.Namespace(learn=None, dataset=folders[0])), args.value_mix)
    if args.surprise and learner.learn != "shares":
        raise SystemExit("--surprise: expected games of a search with shares in their form")
    mean = copy.deepcopy(body) if args.mean else body
    loss = learn(learner, mean, [sources(part, learner, args) for part in folders], args, args.seed + number)
    save(body.state_dict(), folder / "network.pt")
    write(mean, envs, folder / "network.onnx")
    rows, games = (sum(data.metadata["totals"][name] for data in new) for name in ("rows", "episodes"))
    return {"rows": rows, "games": games, "distinct": sum(map(distinct, new)), "learn": learner.learn, "loss": loss}


def generation(number: int, envs: moonfarm.VectorEnv, curve: list[dict[str, Any]], args: argparse.Namespace) -> dict[str, Any]:
    """Plays, learns and measures, beginning after what an earlier run has done; returns the new point of the curve."""
    best, folder = args.out / "best.onnx", args.out / str(number)
    file = folder / "learned.json"
    folder.mkdir(exist_ok=True)
    with timed(folder, "play"):
        play(number, best, args)
    with timed(folder, "learning"):
        if not file.exists():
            keep(taught(number, envs, args), file)
    with timed(folder, "measure") as seconds:
        with reading(file):
            known = json.loads(file.read_text())
        point = {"generation": number, **known, **measure(number, best, args)}
        rate([*curve, point], args)
    return {**point, **seconds}


def keep_best(curve: list[dict[str, Any]], out: Path) -> None:
    """Copies the network of the last generation that was stronger to best.onnx."""
    for kept in [c["generation"] for c in curve if c["kept"]][-1:]:
        with whole(out / "best.onnx") as part:
            shutil.copy(out / str(kept) / "network.onnx", part)


def interval(point: dict[str, Any]) -> str:
    """Returns the error of a rating as text."""
    return "?" if point["error"] is None else f"{point['error']:.0f}"


def show(point: dict[str, Any]) -> None:
    """Prints a point of the curve."""
    print(LINE.format(interval=interval(point), verdict="kept" if point["kept"] else "not kept", **point))
    for opponent, of in point["scores"].items():
        score, low, high = (100 * of[name] for name in ("score", "low", "high"))
        games = f"{of['games']} games, {of['distinct']} of them different"
        print(f"  {score:5.1f} % against {opponent} in {games}, between {low:.1f} and {high:.1f} %", flush=True)


def draw(curve: list[dict[str, Any]], file: Path, anchor: str) -> None:
    """Draws the rating over the minutes of the run."""
    width, height, left, top = 640, 300, 60, 24
    minutes = np.cumsum([(c["play"] + c["learning"] + c["measure"]) / 60 for c in curve])
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
        text(width - 24, zero - 6, anchor, "end"),
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
    with whole(file) as part:
        part.write_text("\n".join([*out, "</svg>", ""]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="Other flags have a default for each game, in GAMES.")
    parser.add_argument("out", type=Path, help="folder of all results")
    parser.add_argument("game")
    parser.add_argument("--form", help="form of observations and actions (default: as above)")
    parser.add_argument("--generations", type=int, default=3)
    parser.add_argument("--teacher", help="policy of the first generation")
    parser.add_argument("--search", help="policy of the others, with the network {model}; without it the policy is asked instead")
    parser.add_argument("--unsearched", type=float, metavar="X", help="share of the turns that the network plays without a search")
    parser.add_argument("--opponent", action="append", help="policy to play and to learn against; may be given several times")
    parser.add_argument("--against", type=float, default=1 / 3, metavar="X", help="share of the later games that is against the opponents")
    parser.add_argument("--judge", action="append", help="further policy that the network is measured against")
    parser.add_argument("--temperature", type=float, help="of the network's choices when it is measured; 0: the likeliest")
    parser.add_argument("--rated", help="player with the network {model} whose rating is measured (default: the network)")
    parser.add_argument("--anchor", help="player whose rating is 0")
    parser.add_argument("--episodes", type=int, help="games of the first generation")
    parser.add_argument("--later", type=int, metavar="EPISODES", help="games of every other generation")
    parser.add_argument("--shard-episodes", type=int)
    parser.add_argument("--window", type=int, default=3, help="number of generations whose games are learned from")
    parser.add_argument(
        "--value-mix", type=float, default=0.8, metavar="X",
        help="if a policy searches, the value learns X · the search's value + (1 - X) · the outcome (default 0.8)",
    )  # fmt: skip
    parser.add_argument("--rows", type=int, help="rows that the first generation learns, also those that come again")
    parser.add_argument("--later-rows", type=int, metavar="ROWS", help="rows that every other generation learns")
    parser.add_argument("--batch", type=int, help="rows per batch")
    parser.add_argument("--rate", type=float, help="learning rate of the first generation; the others have half of it")
    parser.add_argument(
        "--mean", type=float, default=0, metavar="X",
        help="the network that plays has the mean of the weights while it learned, in which those of a step count X times those"
        " of the next, such as 0.999; 0: the last weights",
    )  # fmt: skip
    parser.add_argument(
        "--surprise", type=float, default=0, metavar="X",
        help="share of the rows that are drawn in proportion to how far the search was from the network before, such as 0.5",
    )  # fmt: skip
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--bfloat16", action="store_true", help="learn with bfloat16, faster if the processor has instructions for it")
    parser.add_argument("--sprt", default="0,40", metavar="ELO0,ELO1", help="bounds of the test against the best network so far")
    parser.add_argument("--games", type=int, help="games against each opponent; the test has at most ten times as many")
    parser.add_argument("--max-turns", type=int, default=0, help="games are cut after this many turns; 0: no cut")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="PyTorch's threads, and workers that play")
    parser.add_argument("--moonfarm", help="the command moonfarm (default: from the PATH, else built)")
    args = parser.parse_args()
    args.form = args.form or FORMS.get(args.game, "cells")
    for name, value in GAMES.get(args.game, Game())._asdict().items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    if not args.teacher or not args.search:
        parser.error(f"{args.game} has no defaults: expected --teacher and --search")
    return args


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    args.program = command(args)
    envs = moonfarm.make_vec(args.game, 1, form=args.form)
    file = args.out / "curve.json"
    with reading(file):
        curve: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    for number in range(len(curve) + 1, args.generations + 1):
        keep_best(curve, args.out)
        curve.append(generation(number, envs, curve, args))
        show(curve[-1])
        keep(curve, file)
        keep_best(curve, args.out)
        draw(curve, args.out / "curve.svg", args.anchor)


if __name__ == "__main__":
    main()
