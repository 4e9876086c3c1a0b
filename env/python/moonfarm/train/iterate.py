"""Expert iteration: a search plays, a network learns from it, and the search uses the network.

    moonfarm train iterate towerdefence

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

GAMES has the defaults of the games. What the network can do for a search depends on the game:

- Tower Defence: its policy weighs the moves of mcts, and its value may judge the leaves.
- Terminal: turns that it draws are moves at the root of mcts, and its value judges leaves. A move of the
  search is a plan of many orders, which are several actions of the form orders: there the network learns the orders that
  were played, not the shares.
- CodeCraft: the search pgs takes no network. So the network plays most turns of the later games, `generate --ask` says
  what the search would choose in their states, and the network learns that, as in dagger.py. The search stays the same.
- Tron has no search. The script territory is asked instead.

The folder of --out gets N/network.onnx of each generation, N/point.json with its results, and best.onnx, the best network; see
run.py for the other files.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

import moonfarm
from moonfarm.exporting import whole

from . import options
from .bodies import keep, reading, save
from .clone import choose
from .dagger import player, sources
from .learner import Learner, scored, wilson
from .networks import make, write
from .rows import Rows, Source, blend, cross_entropy, distinct
from .run import Run, begin


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
    mirror: bool = False
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
        episodes=9000, later=900, rows=2_100_000, later_rows=1_100_000, batch=512, rate=2e-3, games=400, mirror=True,
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

LINE = "generation {generation}: {rows} rows of {games} games, {distinct} of them different; loss {loss:.3f}; {verdict}rating {rating:.0f} ± {interval}; {seconds:.0f} s, {cpu:.0f} CPU-s"


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


class Generations:
    """A run, and the results of its generations: one object for each, as in N/point.json."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.envs, self.run = args, options.games(args), Run(args)
        self.best, self.points = args.out / "best.onnx", list[dict[str, Any]]()
        while (file := self.folder(len(self.points) + 1) / "point.json").exists():
            with reading(file):
                self.points.append(json.loads(file.read_text()))
        if self.points:
            self.run.say(f"continues after generation {len(self.points)}, {self.run.seconds:.0f} s")

    def folder(self, number: int) -> Path:
        return Path(self.args.out) / str(number)

    def play(self, number: int) -> None:
        """Plays the games of a generation: games0 are those of the learner against itself, the others against an opponent each."""
        args = self.args
        learner, games, against = args.teacher, args.episodes, 0
        if number > 1:
            search, network = args.search.format(model=f'"{self.best}"'), player(self.best, args.temperature or 1)
            learner = f"mix({1 - args.unsearched:g}*{search},{args.unsearched:g}*{network})"
            if args.unsearched in (0, 1):
                learner = network if args.unsearched else search
            games, against = args.later, round(args.against * args.later / len(args.opponent))
        ask = None if "{model}" in args.search else args.search
        lineups = [([learner], games - against * len(args.opponent)), *(([learner, o], against) for o in args.opponent)]
        for i, (players, episodes) in enumerate(lineups):
            if episodes:
                self.run.now(f"generation {number}: plays {episodes} games of {players[-1]}")
                moonfarm.generate(
                    args.game, self.folder(number) / f"games{i}", policy=players, ask=ask, obs="none", episodes=episodes,
                    shard_episodes=args.shard_episodes, seed=number + 1000 * (args.seed - 1), max_turns=args.max_turns,
                    workers=args.threads, progress=False,
                )  # fmt: skip

    def learn(self, learner: Learner, mean: nn.Module, parts: list[list[Source]], seed: int) -> float:
        """Learns from the games of generations, the newest first; mean gets the mean of the weights. Returns the mean loss of
        the last tenth."""
        args = self.args
        rows, rate = (args.rows, args.rate) if len(parts) == 1 else (args.later_rows, args.rate / 2)
        steps, losses = max(1, rows // args.batch), list[Tensor]()
        for source in itertools.chain(*parts):
            source.epoch = seed  # not the order of another generation
        mirror = options.mirror(args, self.envs)
        optimiser = torch.optim.AdamW(learner.body.parameters(), weight_decay=1e-4)
        batches = mixed(parts, args.batch, seed)
        if args.surprise and len(parts) > 1:  # the first network was not there before
            batches = surprising(batches, copy.deepcopy(learner), args.surprise, seed)
        for step, batch in zip(range(steps), batches):
            for group in optimiser.param_groups:  # it rises for a twentieth of the steps, then falls
                group["lr"] = rate * min(1, 20 * (step + 1) / steps) * max(1 - step / steps, 0.02)
            if step % 2 and mirror:
                batch = mirror.rows(batch)
            with options.autocast(args):
                loss = learner.loss(batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learner.body.parameters(), 5.0)
            optimiser.step()
            losses.append(loss.detach())
            if args.mean:
                follow(mean, learner.body, min(args.mean, step / (step + 10)))  # the weights at the beginning do not count
            if step % 50 == 0:
                self.run.now(f"generation {len(self.points) + 1}: learns, {step * args.batch} of {rows} rows, loss {float(losses[-1]):.3f}")
        return float(torch.stack(losses[-max(1, steps // 10) :]).mean())

    def taught(self, number: int) -> dict[str, Any]:
        """Teaches the network of a generation; returns its loss and the numbers of the new games and of their rows."""
        args, folder = self.args, self.folder(number)
        torch.manual_seed(args.seed + number)
        body = make(self.envs, args.width)
        if number > 1:
            file = self.folder(number - 1) / "network.pt"
            with reading(file):
                body.load_state_dict(torch.load(file, map_location="cpu"))
        elif args.begin:
            begin(body, args.begin, "cpu")
        folders = [sorted(self.folder(g).glob("games*")) for g in range(number, max(0, number - args.window), -1)]
        new = [moonfarm.dataset(f, form=args.form) for f in folders[0]]
        learner = Learner(self.envs, body, args.device, choose(new, None, False), args.value_mix, compiled=args.compile)
        if args.surprise and learner.learn != "shares":
            raise SystemExit("--surprise: expected games of a search with shares in their form")
        mean = copy.deepcopy(body) if args.mean else body
        loss = self.learn(learner, mean, [sources(part, learner, args) for part in folders], args.seed + number)
        save(body.state_dict(), folder / "network.pt")
        write(mean, self.envs, folder / "network.onnx")
        rows, games = (sum(data.metadata["totals"][name] for data in new) for name in ("rows", "episodes"))
        return {"rows": rows, "games": games, "distinct": sum(map(distinct, new)), "learn": learner.learn, "loss": loss}

    def evaluate(self, players: list[str], **flags: Any) -> dict[str, Any]:
        """Returns the results of games between players."""
        args = self.args
        return moonfarm.evaluate(args.game, players, max_turns=args.max_turns, seed=args.seed, progress=False, **flags).report

    def measure(self, number: int) -> dict[str, Any]:
        """Compares the network of a generation with the best one and with the scripts; returns the scores."""
        args, network = self.args, self.folder(number) / "network.onnx"
        found: dict[str, Any] = {"kept": True}
        if number > 1:
            self.run.now(f"generation {number}: plays against the best network before")
            drawn = [player(file, args.temperature or 1) for file in (network, self.best)]  # the likeliest choices repeat a game
            result = self.evaluate(drawn, sprt=args.sprt, games=10 * args.games)
            found = {"kept": result["sprt"]["decision"] == "H1", "score": result["players"][0]["score"]}
        self.run.now(f"generation {number}: plays against the opponents")
        players = [player(network, args.temperature), *dict.fromkeys([*args.opponent, *args.judge])]
        result = self.evaluate(players, schedule="gauntlet", games=args.games)
        ours, names = result["players"][0]["player"], ("score", "games", "distinct")
        return {**found, "scores": {pair["b"]: {name: pair[name] for name in names} for pair in result["pairs"] if pair["a"] == ours}}

    def rate(self) -> None:
        """Rates the players of all generations against each other and against the anchor, whose rating is 0."""
        args, files = self.args, [self.folder(c["generation"]) / "network.onnx" for c in self.points]
        players = [args.rated.format(model=f'"{file}"') if args.rated else player(file, args.temperature) for file in files]
        result = self.evaluate([*players, args.anchor], games=max(2, args.games // 8), anchor=args.anchor)
        for c, rated in zip(self.points, result["players"]):
            c["rating"], c["error"] = rated["elo"], rated["error"]  # None: too few games for an error
            keep(c, self.folder(c["generation"]) / "point.json")

    def generation(self, number: int) -> None:
        """Plays, learns and measures, beginning after what an earlier run has done."""
        run, file = self.run, self.folder(number) / "learned.json"
        self.folder(number).mkdir(exist_ok=True)
        with run.timed("playing"):
            self.play(number)
        with run.timed("learning"):
            if not file.exists():
                keep(self.taught(number), file)
        with run.timed("measuring"):
            with reading(file):
                known = json.loads(file.read_text())
            point: dict[str, Any] = {"generation": number, **known, **self.measure(number)}
            point |= {"seconds": round(run.seconds, 1), "cpu": round(run.cpu, 1)}
            self.points.append(point)
            self.rate()
        self.show(point)

    def keep_best(self) -> None:
        """Copies the network of the last generation that was stronger."""
        for kept in [c["generation"] for c in self.points if c["kept"]][-1:]:
            for file in (self.best, self.run.folder / "network.onnx"):
                with whole(file) as part:
                    shutil.copy(self.folder(kept) / "network.onnx", part)

    def show(self, point: dict[str, Any]) -> None:
        """Prints the results of a generation."""
        verdict = ""
        if "score" in point:
            verdict = f"{point['score']:.1%} against the best before, {'kept' if point['kept'] else 'not kept'}; "
        interval = "?" if point["error"] is None else f"{point['error']:.0f}"
        self.run.say(LINE.format(verdict=verdict, interval=interval, **point))
        for opponent, of in point["scores"].items():
            scored(self.run, opponent, of["score"], of["games"], f", {of['distinct']} of them different")

    def points_of_curve(self) -> list[dict[str, Any]]:
        """Returns the results as points of the curve."""
        found = list[dict[str, Any]]()
        for point in self.points:
            scores = dict[str, float]()
            for name, of in point["scores"].items():
                low, high = wilson(of["score"], of["games"])
                scores |= {f"scores/{name}": of["score"], f"low/{name}": low, f"high/{name}": high}
            found.append({**{name: x for name, x in point.items() if isinstance(x, (int, float))}, **scores})
        return found

    def all(self) -> None:
        """Makes the generations that are missing."""
        for number in range(len(self.points) + 1, self.args.generations + 1):
            self.keep_best()
            self.generation(number)
            self.run.curve = self.points_of_curve()
            self.run.draw()
        self.keep_best()
        self.run.curve = self.points_of_curve()
        self.run.close()


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    p = options.parser("iterate", __doc__)
    p.epilog = "Options without a default have one for each game, in iterate.py."
    p.add_argument("--generations", type=options.COUNT, default=3)
    p.add_argument("--teacher", help="policy of the first generation")
    p.add_argument("--search", help="policy of the others, with the network {model}; without it the policy is asked instead")
    p.add_argument("--unsearched", type=options.SOME, metavar="X", help="share of the turns that the network plays without a search")
    p.add_argument("--against", type=options.SOME, default=1 / 3, metavar="X", help="share of the later games that is against the opponents")
    p.add_argument("--rated", help="player with the network {model} whose rating is measured (default: the network)")
    p.add_argument("--anchor", help="player whose rating is 0")
    p.add_argument("--episodes", type=options.COUNT, help="games of the first generation")
    p.add_argument("--later", type=options.COUNT, metavar="EPISODES", help="games of every other generation")
    p.add_argument("--shard-episodes", type=options.COUNT)
    p.add_argument("--window", type=options.COUNT, default=3, help="number of generations whose games are learned from")
    p.add_argument(
        "--value-mix", type=float, default=0.8, metavar="X",
        help="if a policy searches, the value learns X · the search's value + (1 - X) · the outcome (default 0.8)",
    )  # fmt: skip
    p.add_argument("--rows", type=options.COUNT, help="rows that the first generation learns, also those that come again")
    p.add_argument("--later-rows", type=options.COUNT, metavar="ROWS", help="rows that every other generation learns")
    p.add_argument(
        "--mean", type=options.SOME, default=0, metavar="X",
        help="the network that plays has the mean of the weights while it learned, in which those of a step count X times those"
        " of the next, such as 0.999; 0: the last weights",
    )  # fmt: skip
    p.add_argument(
        "--surprise", type=options.SOME, default=0, metavar="X",
        help="share of the rows that are drawn in proportion to how far the search was from the network before, such as 0.5",
    )  # fmt: skip
    p.add_argument("--sprt", default="0,40", metavar="ELO0,ELO1", help="bounds of the test against the best network so far")
    p.set_defaults(opponent=None, judge=None, temperature=None, batch=None, rate=None, games=None)
    args = options.parse(p, given)
    for name, value in GAMES.get(args.game, Game())._asdict().items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    if args.games < 1:
        p.error("--games 0: a generation is compared with the best one before; expected at least 1")
    if not args.teacher or not args.search:
        p.error(f"{args.game} has no defaults: expected --teacher and --search")
    return args


def main(given: Sequence[str] | None = None) -> None:
    Generations(arguments(given)).all()
