"""DAgger: a network plays, a policy says what it would have chosen in the same states, and the network learns that.

    python3 env/python/examples/dagger.py loop terminal --teacher strategist --opponent planner --opponent maze

Behaviour cloning learns from states that the teacher reaches. The network's first mistake leads to others, where it
has learned nothing. So in each round (Ross, Gordon, Bagnell: "A reduction of imitation learning and structured
prediction to no-regret online learning", 2011)

1. `moonfarm generate --ask TEACHER` plays games of the network against each opponent. In the first two rounds the
   teacher plays, with some turns of --noise so that games differ, unless --begin names a network of
   behaviour_cloning.py;
2. the network goes on learning what the teacher would choose, half from the games of this round, half from games drawn
   from those before and from the datasets of --data. Its value learns the outcomes;
3. it is exported as ONNX, and `moonfarm eval` plays it against every opponent.

While a network learns in round N, the one of round N - 1 plays the games of the next round, and is measured.

It takes any game and form; --form names it (default: orders for Terminal, entities for CodeCraft, else cells).
loop/N/network.onnx is the network of round N, loop/N/point.json its results; loop/curve.json has those of all rounds, and loop/curve.svg shows them.
loop/average.onnx has the means of the weights of the last rounds, which often plays better than each of them. The same command continues
a run that was stopped.

The program learns on a GPU if there is one; the CPU plays the games. A GPU learns faster than games can be read. With --memory ROWS the
latest rows of all games stay in the memory of the device (17 KB a row in CodeCraft), and batches are drawn from them:

    python3 env/python/examples/dagger.py loop codecraft --teacher squads --opponent econ --opponent turtle --opponent squads \
      --memory 4000000 --batch 4096 --rate 2e-3 --last-rate 0.05 --rounds 16 --seconds 30 --episodes 40 --shard-episodes 4 --threads 16
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import moonfarm
from behaviour_cloning import FORMS, Learner, Run, Source, wilson
from bodies import keep, reading
from curves import draw
from networks import make, write
from rows import Batch, Memory, asked, blend


def command(args: argparse.Namespace) -> str:
    """Returns the program moonfarm, which is built if it is not there."""
    program: str | None = args.moonfarm or shutil.which("moonfarm")
    if program is None:
        program = str(args.out.resolve() / "moonfarm")
        subprocess.run(["go", "build", "-o", program, "./cmd/moonfarm"], cwd=Path(__file__).resolve().parents[3], check=True)
    return program


def call(args: argparse.Namespace, *arguments: object) -> str:
    """Returns what the program moonfarm prints."""
    done = subprocess.run([args.program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout


def player(file: Path, temperature: float) -> str:
    """Returns the policy of a network."""
    return f'"{file}"(greedy)' if temperature == 0 else f'"{file}"(temperature={temperature})'


def play(number: int, args: argparse.Namespace) -> list[Path]:
    """Plays the games of a round; returns the datasets, in which the network has seat 0."""
    games = []
    learner = f"mix({1 - args.noise_share}*{args.teacher},{args.noise_share}*{args.noise})"
    if number > 2 or args.begin:
        learner = player(args.out / str(max(number - 2, 0)) / "network.onnx", args.temperature)
        if args.teacher_share > 0:
            learner = f"mix({args.teacher_share}*{args.teacher},{1 - args.teacher_share}*{learner})"
    for i, opponent in enumerate(args.opponent):
        games.append(args.out / str(number) / f"games{i}")
        opening = ["--opening", args.opening] if args.opening else []
        call(
            args, "generate", args.game, "--policy", f"{learner},{opponent}", "--ask", args.teacher, "--obs", "none",
            "--episodes", args.episodes, "--shard-episodes", args.shard_episodes, "--seed", 1000 * args.seed + number,
            "--max-turns", args.max_turns, "--workers", args.threads, *opening, "--out", games[-1],
        )  # fmt: skip
    return games


def sources(folders: list[Path], learner: Learner, args: argparse.Namespace, policy: list[str] | None = None) -> list[Source]:
    """Returns readers of datasets; policy: only of the rows of these policies, if the teacher was not asked.

    They read the rows of both seats: the teacher's choices in the states of the opponents are labels, too.
    """
    found = []
    for data in (moonfarm.dataset(f, form=args.form) for f in folders):
        which = argparse.Namespace(
            seed=args.seed, batch=args.batch, validation=0, imitate=[], outcome=None, chosen=None, seat=None,
            policy=None if asked(data) else policy,
        )  # fmt: skip
        found.append(Source(data, learner, None, which, max(1, len(folders) // 4)))
    return found


def remember(memory: Memory, folders: list[Path], learner: Learner, args: argparse.Namespace) -> int:
    """Reads datasets into the memory; returns the number of their rows."""
    before = memory.rows
    for source in sources(folders, learner, args):
        source.part, source.read["shuffle"], source.read["workers"] = 1.0, 0, args.threads
        for batch in source.batches("train", 0):
            memory.add(batch)
    return memory.rows - before


def batches(run: Run, number: int, new: list[Path], before: list[Path], args: argparse.Namespace) -> Iterator[Batch]:
    """Yields the batches of a round: in turn of its games, and of earlier ones and other datasets."""
    drawn = np.random.default_rng((args.seed, number)).permutation(len(before))[: args.earlier]
    earlier = sources([before[i] for i in sorted(drawn)], run.learner, args)
    old = sources(args.data, run.learner, args, args.policy) + earlier
    parts = [part for part in (sources(new, run.learner, args), old) if part]
    for stream in itertools.cycle([blend(part, args.batch, args.seed + run.rows) for part in parts]):
        yield next(stream)


def learn(run: Run, stream: Iterator[Batch], rate: float, args: argparse.Namespace) -> tuple[float, int]:
    """Learns; returns the mean loss of the last tenth, and the number of rows. rate: the largest one."""
    losses, rows, begun = list[float](), 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < args.seconds or not losses:
        for group in run.optimiser.param_groups:  # it rises for a tenth of the time, then falls
            group["lr"] = rate * min(1, 10 * spent / args.seconds + 0.1) * max(1 - spent / args.seconds, 0.02)
        batch = next(stream)
        loss = run.learner.loss(batch)
        run.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(run.learner.body.parameters(), 10.0)
        run.optimiser.step()
        losses.append(loss.item())
        rows += len(batch["mask"])
    return float(np.mean(losses[-max(1, len(losses) // 10) :])), rows


def evaluate(network: Path, args: argparse.Namespace) -> dict[str, float]:
    """Returns the network's share of games against each opponent, with draws as half."""
    scores = {}
    for opponent in dict.fromkeys([*args.opponent, *args.judge]):
        players = ["--player", player(network, args.temperature), "--player", opponent]
        said = json.loads(
            call(args, "eval", args.game, *players, "--games", args.games, "--max-turns", args.max_turns, "--seed", args.seed, "--json")
        )
        scores[opponent] = said["players"][0]["score"]
    return scores


def cpu() -> float:
    """Returns the CPU seconds of this program, and of the games that have ended."""
    return sum(os.times()[:4])


def measure(number: int, args: argparse.Namespace) -> dict[str, Any]:
    """Measures the network of a round, prints its scores, and returns its point of the curve."""
    folder: Path = args.out / str(number)
    with reading(folder / "point.json"):
        point: dict[str, Any] = json.loads((folder / "point.json").read_text())
    if "scores" not in point:
        point["scores"] = evaluate(folder / "network.onnx", args)
        keep(point, folder / "point.json")
        lines = [f"round {number}: {point['rows']} rows, loss {point['loss']:.3f}, after {point['seconds']:.0f} s, {point['cpu']:.0f} CPU-s"]
        for opponent, score in point["scores"].items():
            low, high = wilson(score, args.games)
            lines.append(f"  {100 * score:5.1f} % against {opponent}, between {100 * low:.1f} and {100 * high:.1f} %")
        print("\n".join(lines), flush=True)
    return point


def rounds(run: Run, envs: moonfarm.VectorEnv, args: argparse.Namespace) -> None:
    """Plays, learns and measures, round after round, beginning after those that are there."""
    done = len(list(args.out.glob("*/point.json")))
    begun, used = time.perf_counter(), cpu()
    if done:  # the time of earlier runs counts
        file = args.out / str(done) / "point.json"
        with reading(file):
            last = json.loads(file.read_text())
            begun, used = begun - last["seconds"], used - last["cpu"]
    memory = Memory(args.memory, run.learner.device) if args.memory else None
    before = [games for n in range(1, done + 1) for games in sorted((args.out / str(n)).glob("games*"))]

    def read(folders: list[Path]) -> int:
        return remember(memory, folders, run.learner, args) if memory else 0

    def prepare(number: int) -> tuple[list[Path], int]:
        folders = play(number, args)
        return folders, read(folders)

    read(before)
    with ThreadPoolExecutor(2) as pool:
        measured = [pool.submit(measure, number, args) for number in range(1, done + 1)]
        games = pool.submit(prepare, done + 1)
        for number in range(done + 1, args.rounds + 1):
            folder: Path = args.out / str(number)
            folder.mkdir(exist_ok=True)
            folders, fresh = games.result()
            if number < args.rounds:
                games = pool.submit(prepare, number + 1)
            rate = args.rate * (1 - (1 - args.last_rate) * (number - 1) / max(1, args.rounds - 1))
            stream = batches(run, number, folders, before, args)
            loss, rows = learn(run, memory.batches(args.batch, fresh) if memory else stream, rate, args)
            before += folders
            run.rows += rows
            write(run.learner.body, envs, folder / "network.onnx")
            run.keep(folder / "run.pt")
            spent = {"seconds": round(time.perf_counter() - begun, 1), "cpu": round(cpu() - used, 1)}
            keep({"round": number, "rows": run.rows, "loss": loss, **spent}, folder / "point.json")
            measured.append(pool.submit(measure, number, args))
        points = [point.result() for point in measured]
        keep(points, args.out / "curve.json")
        scores = {name: [point["scores"][name] for point in points] for name in points[-1]["scores"]}
        draw([point["seconds"] / 60 for point in points], scores, args.out / "curve.svg")
    average(run, envs, args)


def average(run: Run, envs: moonfarm.VectorEnv, args: argparse.Namespace) -> None:
    """Writes a network with the means of the weights of the last rounds."""
    last = range(max(1, args.rounds - args.average + 1), args.rounds + 1)
    bodies = []
    for file in (args.out / str(n) / "run.pt" for n in last):
        with reading(file):
            bodies.append(torch.load(file, map_location=run.learner.device)["body"])
    run.learner.body.load_state_dict({name: sum(body[name] for body in bodies) / len(bodies) for name in bodies[0]})
    write(run.learner.body, envs, args.out / "average.onnx")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder of all results")
    parser.add_argument("game")
    parser.add_argument("--form", help="form of observations and actions (default: orders for terminal, entities for codecraft, else cells)")
    parser.add_argument("--teacher", required=True, help="policy that says what it would choose")
    parser.add_argument("--opponent", action="append", required=True, help="policy to play against; may be given several times")
    parser.add_argument("--judge", action="append", default=[], help="further policy that the network is measured against")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--average", type=int, default=10, help="rounds at the end whose networks are averaged")
    parser.add_argument("--episodes", type=int, default=50, help="games of a round against each opponent")
    parser.add_argument("--shard-episodes", type=int, default=10)
    parser.add_argument("--opening", help="random:K: the first K turns of every game are drawn at random")
    parser.add_argument("--noise", default="random", help="policy that plays some turns of the first round")
    parser.add_argument("--noise-share", type=float, default=0.1, metavar="X", help="share of these turns")
    parser.add_argument("--teacher-share", type=float, default=0, metavar="X", help="share of the later rounds' turns that the teacher plays")
    parser.add_argument("--temperature", type=float, default=0.5, help="of the network's choices; 0: the likeliest")
    parser.add_argument("--begin", type=Path, help="folder of behaviour_cloning.py whose network to begin with (with the same --width)")
    parser.add_argument("--data", type=Path, action="append", default=[], help="dataset to learn from beside the games; may be given several times")
    parser.add_argument("--policy", action="append", help="of the datasets of --data without --ask learn only from the rows of this policy")
    parser.add_argument("--earlier", type=int, default=16, metavar="N", help="datasets of earlier rounds to learn from in a round; long games take long to read")
    parser.add_argument("--seconds", type=float, default=120, help="seconds of learning in a round")
    parser.add_argument("--games", type=int, default=40, help="games against each opponent after each round")
    parser.add_argument("--max-turns", type=int, default=0, help="games are cut after this many turns; 0: no cut")
    parser.add_argument("--batch", type=int, default=256, help="rows per batch")
    parser.add_argument("--memory", type=int, default=0, metavar="ROWS", help="keep the latest rows in the memory of the device, and learn from them; 0: read the games anew")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate of the first round")
    parser.add_argument("--last-rate", type=float, default=0.2, metavar="X", help="share of it in the last round")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="PyTorch's threads, and workers that play")
    parser.add_argument("--moonfarm", help="the command moonfarm (default: from the PATH, else built)")
    args = parser.parse_args()
    if args.memory and args.data:
        parser.error("--memory keeps rows of games only: expected no --data")
    args.form = args.form or FORMS.get(args.game, "cells")
    return args


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    args.program = command(args)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    envs = moonfarm.make_vec(args.game, 1, form=args.form)
    body = make(envs, args.width)
    body.most = max(1, body.most * args.batch // 256)
    run = Run(Learner(envs, body, device, "asked"), torch.optim.Adam(body.parameters(), args.rate), [])
    done = len(list(args.out.glob("*/point.json")))
    if done:
        run.continues(args.out / str(done) / "run.pt")
    elif args.begin:
        run.continues(args.begin / "checkpoint.pt")
        (args.out / "0").mkdir(exist_ok=True)
        write(body, envs, args.out / "0" / "network.onnx")
    rounds(run, envs, args)


if __name__ == "__main__":
    main()
