"""DAgger: a network plays, a policy says what it would have chosen in the same states, and the network learns that.

    moonfarm train dagger terminal --teacher strategist --opponent planner --opponent maze

Behaviour cloning learns from states that the teacher reaches. The network's first mistake leads to others, where it
has learned nothing. So in each round (Ross, Gordon, Bagnell: "A reduction of imitation learning and structured
prediction to no-regret online learning", 2011)

1. `moonfarm generate --ask TEACHER` plays games of the network against each opponent. In the first two rounds the
   teacher plays, with some turns of --noise so that games differ, unless --begin names a network;
2. the network goes on learning what the teacher would choose, half from the games of this round, half from games drawn
   from those before and from the datasets of --data. Its value learns the outcomes;
3. it is exported as ONNX, and `moonfarm eval` plays it against every opponent.

While a network learns in round N, the one of round N - 1 plays the games of the next round, and is measured.

The folder of --out gets N/network.onnx, the network of round N, and average.onnx, with the means of the weights of the last
rounds, which often plays better than each of them; see run.py for the other files.

A GPU learns faster than games can be read. With --memory ROWS the
latest rows of all games stay in the memory of the device (17 KB a row in CodeCraft), and batches are drawn from them:

    moonfarm train dagger codecraft --teacher squads --opponent econ --opponent turtle --opponent squads \
      --memory 4000000 --batch 4096 --rate 2e-3 --last-rate 0.05 --rounds 16 --seconds 30 --episodes 40 --shard-episodes 4 --threads 16
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import moonfarm

from . import options
from .bodies import keep, reading
from .learner import Learner, scored
from .networks import make, write
from .rows import Batch, Memory, Source, asked, blend
from .run import Run, begin


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
        moonfarm.generate(
            args.game, games[-1], policy=[learner, opponent], ask=args.teacher, obs="none", episodes=args.episodes, opening=args.opening,
            shard_episodes=args.shard_episodes, seed=1000 * args.seed + number, max_turns=args.max_turns, workers=args.threads, progress=False,
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


class Rounds:
    """A run with its learner, and the datasets of all rounds."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.envs, self.run = args, options.games(args), Run(args)
        body = make(self.envs, args.width)
        body.most = max(1, body.most * args.batch // 256)
        self.learner = Learner(self.envs, body, args.device, "asked", compiled=args.compile)
        self.optimiser, self.rows = torch.optim.Adam(body.parameters(), args.rate), 0
        self.mirror = options.mirror(args, self.envs)
        self.memory = Memory(args.memory, args.device) if args.memory else None
        self.done = len(list(args.out.glob("*/point.json")))
        self.games = [games for n in range(1, self.done + 1) for games in sorted(self.folder(n).glob("games*"))]
        if self.done:
            state = self.run.continues(self.folder(self.done) / "run.pt", body, self.optimiser)
            self.rows, self.run.curve = state["rows"], []
            self.learner.common.copy_(state["common"])
            self.run.say(f"continues after round {self.done}, {self.run.seconds:.0f} s")
        elif args.begin:
            begin(body, args.begin, args.device)
            self.folder(0).mkdir(exist_ok=True)
            write(body, self.envs, self.folder(0) / "network.onnx")

    def folder(self, number: int) -> Path:
        return Path(self.args.out) / str(number)

    def remember(self, folders: list[Path]) -> int:
        """Reads datasets into the memory, if there is one; returns the number of their rows."""
        if self.memory is None:
            return 0
        before = self.memory.rows
        for source in sources(folders, self.learner, self.args):
            source.part, source.read["shuffle"], source.read["workers"] = 1.0, 0, self.args.threads
            for batch in source.batches("train", 0):
                self.memory.add(batch)
        return self.memory.rows - before

    def prepare(self, number: int) -> tuple[list[Path], int]:
        """Plays the games of a round and reads them into the memory; returns their datasets, and the number of rows in the memory."""
        folders = play(number, self.args)
        return folders, self.remember(folders)

    def batches(self, number: int, new: list[Path], fresh: int) -> Iterator[Batch]:
        """Yields the batches of a round: in turn of its games, and of earlier ones and other datasets."""
        args = self.args
        if self.memory is not None:
            yield from self.memory.batches(args.batch, fresh)
        drawn = np.random.default_rng((args.seed, number)).permutation(len(self.games))[: args.earlier]
        earlier = sources([self.games[i] for i in sorted(drawn)], self.learner, args)
        old = sources(args.data, self.learner, args, args.policy) + earlier
        parts = [part for part in (sources(new, self.learner, args), old) if part]
        for stream in itertools.cycle([blend(part, args.batch, args.seed + self.rows) for part in parts]):
            yield next(stream)

    def learn(self, number: int, stream: Iterator[Batch]) -> float:
        """Learns; returns the mean loss of the last tenth."""
        args, losses, begun = self.args, list[Tensor](), time.perf_counter()
        rate = args.rate * (1 - (1 - args.last_rate) * (number - 1) / max(1, args.rounds - 1))
        while (spent := time.perf_counter() - begun) < args.seconds or not losses:
            for group in self.optimiser.param_groups:  # it rises for a tenth of the time, then falls
                group["lr"] = rate * min(1, 10 * spent / args.seconds + 0.1) * max(1 - spent / args.seconds, 0.02)
            batch = next(stream)
            if self.mirror and len(losses) % 4 > 1:  # of the newest games and of earlier ones
                batch = self.mirror.rows(batch)
            with options.autocast(args):
                loss = self.learner.loss(batch)
            self.optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.learner.body.parameters(), 10.0)
            self.optimiser.step()
            losses.append(loss.detach())
            self.rows += len(batch["mask"])
            if len(losses) % 50 == 1:
                self.run.now(f"round {number}: learns, {self.rows} rows, loss {float(losses[-1]):.3f}")
        return float(torch.stack(losses[-max(1, len(losses) // 10) :]).mean())

    def measure(self, number: int) -> dict[str, float]:
        """Measures the network of a round, prints its scores, and returns its point of the curve."""
        args, run, folder = self.args, self.run, self.folder(number)
        with reading(folder / "point.json"):
            point: dict[str, float] = json.loads((folder / "point.json").read_text())
        if args.games and not any(name.startswith("scores/") for name in point):
            results = {}
            for opponent in dict.fromkeys([*args.opponent, *args.judge]):
                players = [player(folder / "network.onnx", args.temperature), opponent]
                found = moonfarm.evaluate(args.game, players, games=args.games, max_turns=args.max_turns, seed=args.seed, progress=False)
                results[opponent] = found.report["players"][0]["score"]
            run.say(f"round {number}: {point['rows']} rows, loss {point['loss']:.3f}, after {point['seconds']:.0f} s, {point['cpu']:.0f} CPU-s")
            for opponent, score in results.items():
                point |= scored(run, opponent, score, args.games)
            keep(point, folder / "point.json")
        return point

    def all(self) -> None:
        """Plays, learns and measures, round after round, beginning after those that are there."""
        args, run = self.args, self.run
        with ThreadPoolExecutor(2) as pool:
            measured = [pool.submit(self.measure, number) for number in range(1, self.done + 1)]
            with run.timed("reading"):
                self.remember(self.games)
            prepared = [pool.submit(self.prepare, number) for number in range(self.done + 1, args.rounds + 1)[:1]]
            for number in range(self.done + 1, args.rounds + 1):
                run.now(f"round {number}: plays its games")
                with run.timed("waiting for games"):
                    folders, fresh = prepared.pop().result()
                if number < args.rounds:
                    prepared.append(pool.submit(self.prepare, number + 1))
                with run.timed("learning"):
                    loss = self.learn(number, self.batches(number, folders, fresh))
                self.games += folders
                with run.timed("writing"):
                    self.write(number, loss)
                measured.append(pool.submit(self.measure, number))
                while measured and measured[0].done():
                    run.point(**measured.pop(0).result())
            run.now("measures")
            with run.timed("measuring"):
                for one in measured:
                    run.point(**one.result())
        self.average()
        run.close()

    def write(self, number: int, loss: float) -> None:
        """Writes the network of a round, and all that is needed to go on after it."""
        folder, run = self.folder(number), self.run
        folder.mkdir(exist_ok=True)
        write(self.learner.body, self.envs, folder / "network.onnx")
        shutil.copy(folder / "network.onnx", run.folder / "network.onnx")
        run.keep(folder / "run.pt", self.learner.body, self.optimiser, rows=self.rows, common=self.learner.common)
        keep({"seconds": round(run.seconds, 1), "cpu": round(run.cpu, 1), "round": number, "rows": self.rows, "loss": loss}, folder / "point.json")

    def average(self) -> None:
        """Writes a network with the means of the weights of the last rounds."""
        bodies = []
        for n in range(max(1, self.args.rounds - self.args.average + 1), self.args.rounds + 1):
            with reading(self.folder(n) / "run.pt"):
                bodies.append(torch.load(self.folder(n) / "run.pt", map_location=self.args.device)["body"])
        self.learner.body.load_state_dict({name: sum(body[name] for body in bodies) / len(bodies) for name in bodies[0]})
        write(self.learner.body, self.envs, self.run.folder / "average.onnx")


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    p = options.parser("dagger", __doc__)
    p.add_argument("--teacher", required=True, help="policy that says what it would choose")
    p.add_argument("--rounds", type=options.COUNT, default=10)
    p.add_argument("--average", type=options.COUNT, default=10, help="rounds at the end whose networks are averaged (default 10)")
    p.add_argument("--episodes", type=options.COUNT, default=50, help="games of a round against each opponent (default 50)")
    p.add_argument("--shard-episodes", type=options.COUNT, default=10)
    p.add_argument("--opening", help="random:K: the first K turns of every game are drawn at random")
    p.add_argument("--noise", default="random", help="policy that plays some turns of the first round (default random)")
    p.add_argument("--noise-share", type=options.SOME, default=0.1, metavar="X", help="share of these turns (default 0.1)")
    p.add_argument("--teacher-share", type=options.SOME, default=0, metavar="X", help="share of the later rounds' turns that the teacher plays")
    p.add_argument("--data", type=Path, action="append", default=[], help="dataset to learn from beside the games; may be repeated")
    p.add_argument("--policy", action="append", help="of the datasets of --data without --ask learn only from the rows of this policy")
    p.add_argument("--earlier", type=options.NATURAL, default=16, metavar="N", help="datasets of earlier rounds to learn from in a round; long games take long to read")
    p.add_argument("--seconds", type=options.POSITIVE, default=120, help="seconds of learning in a round (default 120)")
    p.add_argument("--memory", type=options.NATURAL, default=0, metavar="ROWS", help="keep the latest rows in the memory of the device, and learn from them; 0: read the games anew")
    p.add_argument("--last-rate", type=options.SOME, default=0.2, metavar="X", help="share of the learning rate in the last round (default 0.2)")
    p.set_defaults(games=40, temperature=0.5, batch=256)
    args = options.parse(p, given)
    if not args.opponent:
        p.error("expected --opponent, policies to play against")
    if args.memory and (args.data or args.mirror):
        p.error("--memory keeps rows of games as they are: expected no --data and no --mirror")
    return args


def main(given: Sequence[str] | None = None) -> None:
    Rounds(arguments(given)).all()
