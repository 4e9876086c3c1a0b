"""Proximal policy optimisation against policies and past selves.

    moonfarm train ppo towerdefence --opponent econ --opponent rush --seconds 900

Each episode draws its opponent and the learner's seat. A share of the episodes, --past-share, is against the league: --league
frozen copies of the learner, the newest one and others drawn from all that the folder pool keeps; the other episodes are against
the policies of --opponent, scripts, searches or ONNX files. With --prioritise P an opponent that wins a share w of its games
is drawn in proportion to w^P within its group (prioritised fictitious self-play: Vinyals and others, "Grandmaster level in
StarCraft II using multi-agent reinforcement learning", 2019). A run with the network of another as its only --opponent and --league 0 is an exploiter of it.

The network is measured against every --opponent before it learns, every --measure seconds, and at the end in four times
as many games. See run.py for the files. In the curve, steps counts the learner's actions. Results depend on --seed, but
also on how many updates fit into the time: with --updates instead of --seconds they can be reproduced on the same machine.

--memory N gives the network N numbers in which it remembers a game, for fog of war: gradients go back through --window steps,
and the ONNX file is a recurrent network, which has its state from turn to turn wherever it plays. It is for forms with one action
a turn, and past selves are not for it.

--begin starts from a network instead of from nothing, and --teacher-weight keeps the learner near to it. With --overlap the
next games are played while the learner learns, by the network before the update, in another thread.

In a sequential form a turn has several actions. Discount and smoothing count turns: an action that ends no turn
discounts nothing, so that more orders in a turn do not make it worth less. A row that waits for the other seat has no
choice, and the learner does not learn from it; the reward that comes meanwhile belongs to the row's last action. A game
that is cut goes on for the learner: what follows has the value of its last observation.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm

from . import options
from .bodies import reading, save
from .learner import Learner, compete
from .networks import make, write
from .rows import Rows
from .run import Run, begin
from .symmetry import Symmetry

# For each game the reward that is added to the result, and its weight.
REWARDS = {"towerdefence": ("health", 0.01), "terminal": ("points", 0.03), "codecraft": ("wealth", 0.001), "tron": ("nearer", 0.01)}

LINE = "{updates} updates  {steps} steps  result {result:.3f}  value {value_loss:.3f}  entropy {entropy:.3f}  kl {kl:.4f}"


class League:
    """The opponents: policies by their texts, and past selves. Which of them an episode draws depends on who wins.

    won: the mean results of the latest games against each, as shares of the learner.
    """

    SLOW = 0.98  # weight of the mean before a game

    def __init__(self, args: argparse.Namespace, selves: list[Learner]) -> None:
        self.args, self.selves = args, selves
        for k, past in enumerate(selves):
            past.__name__ = f"past{k}"  # type: ignore[attr-defined] # infos name it so
        self.names = [*args.opponent, *(f"past{k}" for k in range(len(selves)))]
        self.won = dict.fromkeys(self.names, 0.5)
        self.draw = np.random.default_rng(args.seed)

    def weights(self) -> list[float]:
        """Returns how likely each opponent is drawn."""
        hard = [max(1 - won, 0.02) ** self.args.prioritise for won in self.won.values()]
        first = len(self.args.opponent)
        out = list[float]()
        shares = (1 - self.args.past_share, self.args.past_share) if self.selves else (1.0, 0.0)
        for group, share in zip((hard[:first], hard[first:]), shares):
            out += [share * x / sum(group) for x in group]
        return out

    def ended(self, names: np.ndarray, results: np.ndarray) -> None:
        for name, result in zip(names, results):
            self.won[name] = self.SLOW * self.won[name] + (1 - self.SLOW) * (result + 1) / 2

    def freeze(self, body: nn.Module, number: int) -> None:
        """Adds the learner to the pool, and draws the selves anew: the newest one and others of the pool."""
        pool = self.args.out / "pool"
        pool.mkdir(exist_ok=True)
        save(body.state_dict(), pool / f"{number}.pt")
        files = sorted((f for f in pool.glob("*.pt") if int(f.stem) <= number), key=lambda f: int(f.stem))  # later ones: of a killed run
        for k, past in enumerate(self.selves):
            file = files[-1 if k == 0 else int(self.draw.integers(len(files)))]
            with reading(file):
                past.body.load_state_dict(torch.load(file, map_location=past.device))
            self.won[f"past{k}"] = 0.5


class Games:
    """The vector of games, and what its next step needs: rows has the observations and masks."""

    def __init__(self, args: argparse.Namespace, inputs: list[str], league: League, first: int) -> None:
        self.args, self.league = args, league
        self.inputs = inputs
        self.envs = moonfarm.make_vec(
            args.game, args.envs, form=args.form, opponent=[*args.opponent, *league.selves], opponent_weights=league.weights(),
            seat="random", reward=args.reward, max_turns=args.max_turns, seed=first, action_mask=False,
        )  # fmt: skip
        self.value = np.zeros(args.envs, np.float32)  # of each row at its last action
        self.ended, self.fresh = np.zeros(args.envs, bool), np.ones(args.envs, bool)  # fresh: a game begins
        self.state: Tensor | None = None  # what the network remembers
        self.take(*self.envs.reset(seed=first))

    def take(self, obs: Any, infos: dict[str, Any]) -> None:
        self.rows = {**{name: obs[name] for name in self.inputs}, "mask": infos["mask"]}
        self.awake = ~infos["waits"] if "waits" in infos else np.ones(len(self.ended), bool)

    def step(self, action: np.ndarray) -> Rows:
        """Plays actions [rows, heads]. Returns for each row the reward, whether the game is over or cut, and whether a turn has ended."""
        turn = self.envs.arrays["turn"].copy()
        obs, reward, over, cut, infos = self.envs.step(action[:, 0] if action.shape[1] == 1 else action)
        self.take(obs, infos)
        self.ended = over | cut
        reward = self.args.shaping * reward
        if self.ended.any():
            result = infos["result"][self.ended]
            reward[self.ended] += result
            self.league.ended(infos["opponent"][self.ended], result)
            self.results += result.tolist()
            self.lengths += self.envs.arrays["turn"][self.ended].tolist()
        return {"reward": reward, "over": over, "ended": self.ended, "turned": (self.envs.arrays["turn"] != turn) | self.ended}

    def play(self, me: Learner) -> Rows:
        """Plays some steps of all games; returns the rows to learn from, and means of what happened ("result", "length").

        The row after the end of a game has its last observation, and the vector ignores its action: its value stands for what
        follows a cut game, and it is not learned from.
        """
        args, rows, grid, begun = self.args, list[Rows](), list[Rows](), time.perf_counter()
        self.results, self.lengths = list[float](), list[int]()
        for step in range(args.steps + 1):
            awake = self.awake
            seen: dict[str, Any] = {name: a[awake] for name, a in self.rows.items()}
            with torch.no_grad():
                remembered = self.remember(me, seen, step < args.steps)
                features = me.see({**seen, **remembered})
                self.value[awake] = args.span * me.value(features).cpu().numpy()
                if step == args.steps:
                    break
                drawn, log = (a.cpu().numpy() for a in me.choose(features))
            action, learned = np.zeros((len(awake), me.heads), np.int32), awake & ~self.ended
            action[awake] = drawn
            kept = np.ones(len(drawn), bool) if me.body.memory else learned[awake]  # a sequence needs all
            rows.append({name: a[kept] for name, a in {**seen, "action": drawn, "log": log}.items()})
            value = self.value.copy()
            grid.append({**self.step(action), "value": value, "learned": learned})
        whole = {name: np.stack([g[name] for g in grid]) for name in grid[0]}
        gain = advantages(whole, self.value.copy(), args.gamma, args.smooth)
        data = {name: np.concatenate([r[name] for r in rows]) for name in rows[0]}
        chosen = np.ones_like(whole["learned"]) if me.body.memory else whole["learned"]
        data["value"], data["learned"] = whole["value"][chosen], whole["learned"][chosen]
        gain = gain[chosen].astype(np.float32)
        data["return"] = gain + data["value"]
        self.means = {"result": float(np.mean(self.results or [math.nan])), "length": float(np.mean(self.lengths)) if self.lengths else math.nan}
        self.means["play_steps_per_second"] = len(gain) / (time.perf_counter() - begun)
        known = gain[data["learned"]]
        return {**data, "gain": (gain - known.mean()) / (known.std() + 1e-6)}

    def remember(self, me: Learner, seen: Rows, keep: bool) -> dict[str, Any]:
        """Returns what a network with a memory remembers after the rows that it sees; seen gets what it did before. keep: they are played."""
        if not me.body.memory:
            return {}
        state = me.nothing(len(self.fresh)) if self.state is None else self.state * torch.from_numpy(~self.fresh).to(me.device)[:, None]
        seen["state_memory"], seen["begins"] = state.cpu().numpy(), self.fresh
        after = me.remember({**seen, "begins": self.fresh[None]})
        if keep:
            self.state, self.fresh = after, self.ended
        return {"memory": after}


def advantages(played: Rows, last: np.ndarray, discount: float, smooth: float) -> np.ndarray:
    """Returns generalised advantage estimates, [steps, rows].

    played: reward, value, over, ended and turned, [steps, rows]. last: the values after the last step. The value of a row that
    waits is that of its last action: so the estimates of its last action contain what comes while it waits.
    """
    out, ahead, after = np.zeros_like(played["reward"]), np.zeros_like(last), last
    for t in reversed(range(len(out))):
        gamma, lam = (np.where(played["turned"][t], x, np.float32(1)) for x in (discount, smooth))
        off = played["reward"][t] + gamma * after * ~played["over"][t] - played["value"][t]
        out[t] = ahead = off + gamma * lam * ahead * ~played["ended"][t]
        after = played["value"][t]
    return out


def loss(me: Learner, teacher: Learner | None, batch: Rows, args: argparse.Namespace) -> tuple[Tensor, Tensor]:
    """Returns the loss of some rows, and a vector: policy loss, value loss, entropy of a row, KL divergence and clipped share of a head.

    The ratio of probabilities is clipped for each head, and the mean is over heads: the ratio of a whole row is the
    product of its heads', and after an update 55 to 69 % of the rows of Terminal's form cells, of 264 to 280 heads with a
    choice, had ratios outside 0.8 … 1.2, but 0.1 % of the heads or less. The objective of the others is flat.
    """
    actions, logs, gain = (me.tensor(batch, name) for name in ("action", "log", "gain"))
    seen = me.see(batch)
    taught = teacher.body.say(teacher.see(batch), actions) if teacher else None
    surrogate, entropy, apart, kl, clipped = (torch.zeros((), device=me.device) for _ in range(5))
    heads = 0
    for said in me.body.say(seen, actions):  # heads with one legal choice are not among them
        log, g = F.log_softmax(said.logits / me.temperature, 1), gain[said.rows]
        change = log.gather(1, actions[said.rows, said.heads].long()[:, None])[:, 0] - logs[said.rows, said.heads]
        ratio = change.exp()
        surrogate = surrogate + torch.min(ratio * g, ratio.clamp(1 - args.clip, 1 + args.clip) * g).sum()
        entropy = entropy - (log.exp() * log).sum()
        kl, clipped = kl + (ratio - 1 - change).detach().sum(), clipped + ((ratio - 1).abs() > args.clip).sum()
        heads += len(g)
        if taught is not None:
            theirs = F.log_softmax(next(taught).logits / me.temperature, 1)
            apart = apart + (theirs.exp() * (theirs - log)).sum()
    heads = max(heads, 1)
    policy = (surrogate + args.entropy * entropy - args.teacher_weight * apart) / heads
    learned = me.tensor(batch, "learned").float()
    off = ((args.span * me.value(seen) - me.tensor(batch, "return")) ** 2 * learned).sum() / learned.sum().clamp(min=1)
    return 0.5 * off - policy, torch.stack([-surrogate / heads, off, entropy / len(gain), kl / heads, clipped / heads]).detach()


def batches(data: Rows, draw: np.random.Generator, args: argparse.Namespace) -> Iterator[Rows]:
    """Yields the rows once, shuffled; for a memory windows of steps of a game, [steps, games] as one axis."""
    if not args.memory:
        rows = len(data["gain"])
        for some in np.array_split(draw.permutation(rows), -(-rows // args.batch)):
            yield {name: a[some] for name, a in data.items()}
        return
    firsts = (np.arange(0, args.steps, args.window)[:, None] * args.envs + np.arange(args.envs)).reshape(-1)
    for some in np.array_split(draw.permutation(firsts), -(-len(data["gain"]) // args.batch)):
        index = np.arange(args.window)[:, None] * args.envs + some
        batch = {name: a[index.reshape(-1)] for name, a in data.items() if name not in ("begins", "state_memory")}
        yield {**batch, "begins": data["begins"][index], "state_memory": data["state_memory"][some]}


def reflected(me: Learner, data: Rows, mirror: Symmetry, args: argparse.Namespace) -> Rows:
    """Returns the rows as the mirrored game shows them, with the probabilities that the network gives their actions now."""
    out = mirror.rows(data)
    parts = np.array_split(np.arange(len(out["gain"])), -(-len(out["gain"]) // args.batch))
    return {**out, "log": np.concatenate([me.log({name: a[some] for name, a in out.items()}).cpu().numpy() for some in parts])}


def update(
    me: Learner, optimiser: torch.optim.Optimizer, teacher: Learner | None, data: Rows, args: argparse.Namespace, seed: int, mirror: Symmetry | None
) -> dict[str, float]:
    """Makes several passes over the rows; returns the means of what the curve shows."""
    said, draw, begun = list[Tensor](), np.random.default_rng(seed), time.perf_counter()
    mirrored = reflected(me, data, mirror, args) if mirror else data
    for _ in range(args.passes):
        for batch in batches(mirrored if len(said) % 2 else data, draw, args):
            with options.autocast(args):
                of, numbers = loss(me, teacher, batch, args)
            optimiser.zero_grad()
            of.backward()
            nn.utils.clip_grad_norm_(me.body.parameters(), 0.5)
            optimiser.step()
            said.append(numbers)
        if args.target_kl and float(said[-1][3]) > args.target_kl:
            break
    reached, value = (data[name][data["learned"]] for name in ("return", "value"))
    explained = 1 - float(np.var(reached - value) / max(np.var(reached), 1e-9))
    names = ("policy_loss", "value_loss", "entropy", "kl", "clipped")
    means = dict(zip(names, torch.stack(said).mean(0).tolist()))
    return {**means, "explained_variance": explained, "learn_steps_per_second": len(reached) / (time.perf_counter() - begun)}


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    p = options.parser("ppo", __doc__)
    p.add_argument("--seconds", type=options.POSITIVE, help="seconds of playing and learning (default 900, with --updates no limit)")
    p.add_argument("--updates", type=options.COUNT, help="largest number of updates")
    p.add_argument("--teacher-weight", type=options.SOME, default=0, metavar="X", help="weight of the divergence from the network of --begin")
    p.add_argument("--reward", help="reward of the game that is added to the result (default: depends on the game)")
    p.add_argument("--shaping", type=options.SOME, help="weight of that reward; 0: the result alone (default: depends on the game)")
    p.add_argument("--envs", type=options.NATURAL, default=0, help="games at the same time; 0: depends on the size of an observation, at most 256")
    p.add_argument("--steps", type=options.number(int, 2), default=64, help="steps of each game between updates (default 64)")
    p.add_argument("--passes", type=options.COUNT, default=2, help="times that an update goes through the rows (default 2)")
    p.add_argument(
        "--plain", action=argparse.BooleanOptionalAction,
        help="for Tower Defence layers over the whole board, a twentieth of the work of the residual tower (default: as the run of --begin)",
    )  # fmt: skip
    p.add_argument("--gamma", type=options.SOME, default=0.995, help="discount of a turn (default 0.995)")
    p.add_argument("--smooth", type=options.SOME, default=0.95, help="lambda of advantages (default 0.95)")
    p.add_argument("--clip", type=options.POSITIVE, default=0.2)
    p.add_argument("--target-kl", type=options.SOME, default=0.05, help="an update ends after the pass that moves a head this far; 0: never (default 0.05)")
    p.add_argument("--entropy", type=options.SOME, help="weight of a head's entropy (default: 0.003, in forms with several heads 0.0003)")
    p.add_argument("--league", type=options.NATURAL, default=4, help="number of past selves that play at the same time (default 4)")
    p.add_argument("--past", type=options.COUNT, default=25, help="updates between past selves (default 25)")
    p.add_argument("--past-share", type=options.SOME, default=0.5, metavar="X", help="share of the episodes against past selves (default 0.5)")
    p.add_argument("--prioritise", type=options.SOME, default=1, metavar="P", help="draw opponents by their share of wins to this power; 0: all alike (default 1)")
    p.add_argument("--memory", type=options.NATURAL, default=0, metavar="N", help="numbers in which the network remembers a game, such as 64 (default 0)")
    p.add_argument("--window", type=options.COUNT, default=16, help="steps through which the memory learns, a divisor of --steps (default 16)")
    p.add_argument("--overlap", action="store_true", help="play the next games while the learner learns, with the network before the update")
    p.add_argument("--measure", type=options.SOME, default=60, help="seconds between measurements (default 60)")
    args = options.parse(p, given)
    if not args.opponent:
        p.error("expected --opponent, policies to play against")
    if args.memory and (args.league or args.mirror or args.steps % args.window):
        p.error("--memory: expected --league 0, no --mirror, and --steps in whole windows of --window")
    if args.plain is None:
        args.plain = not args.begin or (args.begin / "run.json").exists() and json.loads((args.begin / "run.json").read_text()).get("plain", False)
    if args.seconds is None:
        args.seconds = math.inf if args.updates else 900
    args.updates = args.updates or 10**9
    reward, shaping = REWARDS.get(args.game, (None, 0))
    args.reward, args.shaping = args.reward or reward, shaping if args.shaping is None else args.shaping
    # The network's value is within ±1, as results are, while returns with another reward are larger.
    args.span = 2 if args.shaping else 1
    return args


class Training:
    """A run with its learner, its league and its games."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.envs, self.run, self.saved = args, options.games(args), Run(args), time.monotonic()
        if args.entropy is None:  # each of many heads has little part in the result: with 0.01 Terminal's became random
            args.entropy = 0.003 if len(self.envs.heads) == 1 else 0.0003
        if args.memory and self.envs.sequential:
            raise SystemExit(f"--memory: the form {args.form} has several actions a turn; expected --form with one")
        body = make(self.envs, args.width, plain=args.plain, memory=args.memory)
        self.learner = Learner(self.envs, body, args.device, temperature=args.temperature or 1, compiled=args.compile)
        self.optimiser = torch.optim.Adam(body.parameters(), args.rate, eps=1e-5)
        self.teacher, self.mirror = None, options.mirror(args, self.envs)
        self.updates = self.steps = 0
        if args.begin:
            begin(body, args.begin, args.device)
            if args.teacher_weight:
                self.teacher = self.copied()
                self.teacher.body.requires_grad_(False)
        self.sizes()
        self.league = League(args, [self.copied() for _ in range(args.league)])
        file = args.out / "checkpoint.pt"
        if file.exists():
            self.resume(file)
        self.actor = self.copied() if args.overlap else self.learner
        self.games = Games(args, body.inputs, self.league, args.seed + 1000 * self.updates)
        self.pool = ThreadPoolExecutor(1)
        self.ahead: Optional[Future[Rows]] = None

    def copied(self) -> Learner:
        return Learner(self.envs, copy.deepcopy(self.learner.body), self.args.device, temperature=self.learner.temperature)

    def sizes(self) -> None:
        """Sets the numbers of games and of rows of a batch by the size of an observation."""
        obs, _ = self.envs.reset(seed=1)
        numbers = sum(obs[name].size for name in self.learner.body.inputs) + self.envs.choices
        self.args.batch = self.args.batch or min(2048, max(64, 2**22 // numbers))
        self.args.envs = self.args.envs or min(256, max(16, 2**28 // (self.args.steps * numbers)))

    def resume(self, file: Path) -> None:
        state = self.run.continues(file, self.learner.body, self.optimiser)
        with reading(file):
            self.updates, self.steps, self.league.won = (state[name] for name in ("updates", "steps", "won"))
            for past, kept in zip(self.league.selves, state["league"]):
                past.body.load_state_dict(kept)
        torch.manual_seed(self.args.seed + self.updates)
        self.league.draw = np.random.default_rng((self.args.seed, self.updates))
        self.run.say(f"continues after {self.run.seconds:.0f} s, {self.updates} updates")

    @property
    def trained(self) -> float:
        """Returns the seconds of playing and learning."""
        return self.run.spent.get("playing", 0.0) + self.run.spent.get("learning", 0.0)

    def play(self) -> Rows:
        """Returns the rows of the next update, which may have been played while the learner learned."""
        with self.run.timed("playing"):
            data = self.ahead.result() if self.ahead else self.games.play(self.actor)
            self.means, self.ahead = self.games.means, None
        self.games.envs.opponent_weights = np.array(self.league.weights())
        return data

    def learn(self, more: bool) -> dict[str, float]:
        """Makes an update. more: another one follows."""
        run, args = self.run, self.args
        left = 1 - min(1.0, max(self.trained / args.seconds, self.updates / args.updates))
        for group in self.optimiser.param_groups:
            group["lr"] = args.rate * max(left, 0.05)
        data = self.play()
        with run.timed("learning"):
            if args.overlap and more:
                self.actor.body.load_state_dict(self.learner.body.state_dict())
                self.ahead = self.pool.submit(self.games.play, self.actor)
            numbers = update(self.learner, self.optimiser, self.teacher, data, args, args.seed + self.updates, self.mirror)
        self.updates, self.steps = self.updates + 1, self.steps + int(data["learned"].sum())
        if self.league.selves and self.updates % args.past == 0:
            if self.ahead:
                self.ahead.result()  # the past selves are playing
            self.league.freeze(self.learner.body, self.updates)
        return {**numbers, **self.means, "updates": self.updates, "steps": self.steps}

    def measure(self, games: int) -> dict[str, float]:
        """Measures the learner; returns the scores."""
        run, args = self.run, self.args
        if self.ahead:
            self.ahead.result()  # which draws from the same generator
        with run.timed("measuring"), torch.random.fork_rng():  # the training does not depend on when it is measured
            torch.manual_seed(args.seed)
            kind = {"game": args.game, "form": args.form}
            return compete(run, self.learner, kind, games, args.temperature == 0)

    def save(self) -> None:
        """Keeps the run."""
        run, args, self.saved = self.run, self.args, time.monotonic()
        if self.ahead:
            self.ahead.result()  # the past selves are playing
        with run.timed("writing"):
            league = [past.body.state_dict() for past in self.league.selves]
            more = {"updates": self.updates, "steps": self.steps, "won": self.league.won, "league": league}
            run.keep(args.out / "checkpoint.pt", self.learner.body, self.optimiser, **more)
            write(self.learner.body, self.envs, args.out / "network.onnx")


def main(given: Sequence[str] | None = None) -> None:
    args = arguments(given)
    training = Training(args)
    run = training.run
    if not run.curve:
        run.say(f"before it learns, against {len(args.opponent)} opponents:")
        run.point(updates=0, steps=0, **training.measure(args.games))
        training.save()
        run.say(f"{run.spent['measuring']:.1f} s of measuring, again every {args.measure:.0f} s, and four times as long at the end")
    try:
        train(training)
    except KeyboardInterrupt:  # what has been learned is kept
        training.save()
        raise
    for name in args.opponent:
        scores = [point[f"scores/{name}"] for point in run.curve if f"scores/{name}" in point]
        run.say("".join("▁▂▃▄▅▆▇█"[min(7, int(8 * score))] for score in scores) + f" {name}")
    run.close()


def train(training: Training) -> None:
    """Makes updates and measures until the time is over."""
    run, args = training.run, training.args
    measured = training.trained
    while training.trained < args.seconds and training.updates < args.updates:
        more = training.updates + 1 < args.updates
        point = training.learn(more)
        over = training.trained >= args.seconds or not more
        line = LINE.format(**point)
        run.now(line)
        if over or training.trained - measured >= args.measure:
            measured = training.trained
            run.say(f"{run.seconds:6.0f} s  {line}")
            point |= training.measure(args.games * (4 if over else 1))
        run.point(**point)
        if over or "scores/" + args.opponent[0] in point or time.monotonic() - training.saved > 60:
            training.save()
