"""Proximal policy optimisation against policies and past selves.

    python3 env/python/examples/ppo_selfplay.py towerdefence --reward health --opponent econ --opponent rush --seconds 900 --out ppo

Half of the games are against the policies of --opponent, the other half against a league of earlier versions of the
learner (--league 0: none). Each episode draws its opponent and the learner's seat. The network is measured against
every --opponent before it learns, every --measure seconds, and at the end in four times as many games; the program
prints its scores with Wilson's intervals (95 %). The folder of --out gets network.onnx, a policy for moonfarm,
curve.csv and checkpoint.pt; the same command continues a run that was stopped, with new games. In the curve, steps
counts the learner's actions, cpu the seconds of CPU time of the program, measurements included. Results depend on
--seed, but also on how many updates fit into the time: with --updates instead of --seconds they can be reproduced on
the same machine.

It takes any game and form; --form names it (default: orders for Terminal, entities for CodeCraft, else cells). --begin
FOLDER starts from a network of behaviour_cloning.py, or of a round of dagger.py, instead of from nothing, and
--teacher-weight keeps the learner near to it. The program learns on a GPU if there is one; the CPU plays the games.

In a sequential form a turn has several actions. Discount and smoothing count turns: an action that ends no turn
discounts nothing, so that more orders in a turn do not make it worth less. A row that waits for the other seat has no
choice, and the learner does not learn from it; the reward that comes meanwhile belongs to the row's last action.
"""

from __future__ import annotations

import argparse
import copy
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from behaviour_cloning import FORMS, Learner, Rows, Run, begin, compete, table
from bodies import reading
from networks import make, write

LINE = "{seconds:6.0f} s  {updates} updates  {steps} steps  {cpu:.0f} s of CPU time  entropy {entropy:.3f}"


class Games:
    """Several vectors of games as one: the learner need not know its opponent. rows has the observations and masks."""

    def __init__(self, vectors: list[moonfarm.VectorEnv], inputs: list[str], seed: int) -> None:
        self.vectors, self.inputs = vectors, [name for name in inputs if name != "mask"]
        self.ends = np.cumsum([v.num_envs for v in vectors])
        self.value = np.zeros(self.ends[-1], np.float32)  # of each row at its last action
        self.take([v.reset(seed=seed + 1_000_000 * i) for i, v in enumerate(vectors)])

    def take(self, seen: list[tuple[Rows, dict[str, Any]]]) -> None:
        self.rows = {name: np.concatenate([obs[name] for obs, _ in seen]) for name in self.inputs}
        self.rows["mask"] = np.concatenate([infos["mask"] for _, infos in seen])
        waits = [infos["waits"] if "waits" in infos else np.zeros(len(infos["mask"]), bool) for _, infos in seen]
        self.awake = ~np.concatenate(waits)

    def step(self, actions: np.ndarray) -> Rows:
        """Plays actions [rows, heads]. Returns for each row the environment's reward, the result of an episode that has
        ended, whether one has ended, and whether a turn has ended."""
        actions = actions[:, 0] if actions.shape[1] == 1 else actions
        turns = [v.arrays["turn"].copy() for v in self.vectors]
        steps = [v.step(a) for v, a in zip(self.vectors, np.split(actions, self.ends[:-1]))]
        self.take([(s[0], s[4]) for s in steps])
        done = np.concatenate([s[2] | s[3] for s in steps])
        results = [s[4]["final_info"]["result"] if "final_info" in s[4] else np.zeros(len(s[1]), np.float32) for s in steps]
        turned = np.concatenate([v.arrays["turn"] != turn for v, turn in zip(self.vectors, turns)])
        return {"reward": np.concatenate([s[1] for s in steps]), "result": np.concatenate(results), "done": done, "turned": turned | done}


def advantages(played: Rows, last: np.ndarray, discount: float, smooth: float) -> np.ndarray:
    """Returns generalised advantage estimates, [steps, rows].

    played: reward, value, done and turned, [steps, rows]. The value of a row that waits is that of its last action: so
    the estimates of its last action contain what comes while it waits.
    """
    out, ahead, after = np.zeros_like(played["reward"]), np.zeros_like(last), last
    for t in reversed(range(len(out))):
        gamma = np.where(played["turned"][t], discount, 1) * ~played["done"][t]
        lam = np.where(played["turned"][t], smooth, 1)
        ahead = played["reward"][t] + gamma * (after + lam * ahead) - played["value"][t]
        out[t], after = ahead, played["value"][t]
    return out


def play(games: Games, me: Learner, args: argparse.Namespace) -> Rows:
    """Plays some steps of all games with the current network; returns the rows to learn from."""
    rows, grid = list[Rows](), list[Rows]()
    for step in range(args.steps + 1):
        awake = games.awake
        seen = {name: a[awake] for name, a in games.rows.items()}
        with torch.no_grad():
            features = me.see(seen)
            games.value[awake] = args.span * features.value.cpu().numpy()
            if step == args.steps:
                break
            action, log = (a.cpu().numpy() for a in me.choose(features))
        actions = np.zeros((len(awake), me.heads), np.int32)
        actions[awake] = action
        value = games.value.copy()
        played = games.step(actions)
        played["reward"] = args.shaping * played["reward"] + played.pop("result")
        rows.append({**seen, "action": action, "log": log})
        grid.append({**played, "value": value, "awake": awake})
    whole = {name: np.stack([g[name] for g in grid]) for name in grid[0]}
    gain = advantages(whole, games.value.copy(), args.gamma, args.smooth)
    data = {name: np.concatenate([r[name] for r in rows]) for name in rows[0]}
    data["return"] = (gain + whole["value"])[whole["awake"]].astype(np.float32)
    gain = gain[whole["awake"]].astype(np.float32)
    return {**data, "gain": (gain - gain.mean()) / (gain.std() + 1e-6)}


def loss(me: Learner, teacher: Learner | None, batch: Rows, args: argparse.Namespace) -> tuple[Tensor, float]:
    """Returns the loss of some rows, and the mean entropy of a row.

    The ratio of probabilities is clipped for each head, and the mean is over heads: the ratio of a whole row is the
    product of its heads', and after an update 55 to 69 % of the rows of Terminal's form cells, of 264 to 280 heads with a
    choice, had ratios outside 0.8 … 1.2, but 0.1 % of the heads or less. The objective of the others is flat.
    """
    actions, logs, gain = (me.tensor(batch, name) for name in ("action", "log", "gain"))
    seen = me.see(batch)
    taught = teacher.body.say(teacher.see(batch), actions) if teacher else None
    surrogate, entropy, apart = (torch.zeros((), device=me.device) for _ in range(3))
    heads = 0
    for said in me.body.say(seen, actions):  # heads with one legal choice are not among them
        log, g = F.log_softmax(said.logits / me.temperature, 1), gain[said.rows]
        ratio = (log.gather(1, actions[said.rows, said.heads][:, None])[:, 0] - logs[said.rows, said.heads]).exp()
        surrogate = surrogate + torch.min(ratio * g, ratio.clamp(1 - args.clip, 1 + args.clip) * g).sum()
        entropy = entropy - (log.exp() * log).sum()
        heads += len(g)
        if taught is not None:
            theirs = F.log_softmax(next(taught).logits / me.temperature, 1)
            apart = apart + (theirs.exp() * (theirs - log)).sum()
    policy = surrogate + args.entropy * entropy - args.teacher_weight * apart
    off = F.mse_loss(args.span * seen.value, me.tensor(batch, "return"))
    return 0.5 * off - policy / max(heads, 1), float(entropy) / len(gain)


def update(run: Run, teacher: Learner | None, data: Rows, args: argparse.Namespace) -> float:
    """Makes several passes over the rows; returns the mean entropy of a row."""
    entropies = []
    for _ in range(args.passes):
        for some in torch.randperm(len(data["gain"])).split(args.batch):
            batch = {name: a[some.numpy()] for name, a in data.items()}
            of, entropy = loss(run.learner, teacher, batch, args)
            run.optimiser.zero_grad()
            of.backward()
            nn.utils.clip_grad_norm_(run.learner.body.parameters(), 0.5)
            run.optimiser.step()
            entropies.append(entropy)
    return float(np.mean(entropies))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("--form", help="of actions and observations (default: orders for terminal, entities for codecraft, else cells)")
    parser.add_argument("--opponent", action="append", required=True, help="policy to play against; may be given several times")
    parser.add_argument("--seconds", type=float, help="seconds of training, without measurements (default 900, with --updates no limit)")
    parser.add_argument("--updates", type=int, help="largest number of updates")
    parser.add_argument("--out", type=Path, help="folder for the network and the curve; a run in it is continued")
    parser.add_argument(
        "--begin", type=Path,
        help="folder of behaviour_cloning.py, or of a round of dagger.py, whose network to begin with (with the same --width)",
    )  # fmt: skip
    parser.add_argument("--teacher-weight", type=float, default=0, metavar="X", help="weight of the divergence from the network of --begin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reward", help="reward of the game that is added to the result")
    parser.add_argument("--shaping", type=float, default=0.01, help="weight of that reward")
    parser.add_argument("--max-turns", type=int, default=0, help="games are cut after this many turns; 0: no cut")
    parser.add_argument("--envs", type=int, default=0, help="games at the same time; 0: depends on the size of an observation, at most 256")
    parser.add_argument("--steps", type=int, default=64, help="steps of each game between updates")
    parser.add_argument("--batch", type=int, default=0, help="rows per batch; 0: depends on the size of an observation, at most 2048")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument(
        "--plain", action=argparse.BooleanOptionalAction,
        help="for Tower Defence layers over the whole board, a twentieth of the work of the residual tower (default: unless --begin)",
    )  # fmt: skip
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.995, help="discount of a turn")
    parser.add_argument("--smooth", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, help="weight of a head's entropy (default: 0.01, in forms with several heads 0.0003)")
    parser.add_argument("--league", type=int, default=4, help="number of past selves that play at the same time")
    parser.add_argument("--past", type=int, default=25, help="updates between past selves")
    parser.add_argument("--measure", type=float, default=60, help="seconds between measurements")
    parser.add_argument("--games", type=int, default=100, help="games of a measurement against each opponent")
    parser.add_argument("--temperature", type=float, default=1, help="of its choices; 0.5 with --begin and entities, which are learned for it")
    parser.add_argument("--greedy", action="store_true", help="measure the likeliest choices instead of drawing them")
    parser.add_argument("--threads", type=int, default=0, help="PyTorch's threads; 0: its default")
    args = parser.parse_args()
    args.form = args.form or FORMS.get(args.game, "cells")
    args.plain = args.plain if args.plain is not None else not args.begin
    if args.seconds is None:
        args.seconds = math.inf if args.updates else 900
    args.updates = args.updates or 10**9
    # The network's value is within ±1, as results are, while returns with another reward are larger.
    args.span, args.shaping = (1, 0) if args.reward is None else (2, args.shaping)
    return args


class Training:
    """A run with its league, which can be saved and continued."""

    def __init__(self, envs: moonfarm.VectorEnv, args: argparse.Namespace) -> None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        body = make(envs, args.width, plain=args.plain)
        self.envs, self.args = envs, args
        if args.entropy is None:  # each of many heads has little part in the result: with 0.01 Terminal's became random
            args.entropy = 0.01 if len(envs.heads) == 1 else 0.0003
        self.run = Run(Learner(envs, body, device, temperature=args.temperature), torch.optim.Adam(body.parameters(), args.rate, eps=1e-5), [])
        self.teacher = None
        self.updates, self.cpu, self.entropy = 0, 0.0, math.nan
        if args.begin:
            begin(body, args.begin, device)
            if args.teacher_weight:
                self.teacher = Learner(envs, copy.deepcopy(body).requires_grad_(False), device, temperature=args.temperature)
        self.league = [Learner(envs, copy.deepcopy(body), device, temperature=args.temperature) for _ in range(args.league)]
        if args.out and (args.out / "checkpoint.pt").exists():
            file = args.out / "checkpoint.pt"
            state = self.run.continues(file)
            with reading(file):
                self.updates, self.cpu, self.entropy = (state[name] for name in ("updates", "cpu", "entropy"))
                for past, kept in zip(self.league, state["league"]):
                    past.body.load_state_dict(kept)
            torch.manual_seed(args.seed + self.updates)
            print(f"continues after {self.run.seconds:.0f} s, {self.updates} updates", flush=True)

    def spent(self) -> float:
        """Returns the CPU time of this program and the runs before it, in seconds."""
        return self.cpu + sum(os.times()[:4])

    def measure(self, kind: dict[str, Any], games: int) -> None:
        """Adds a point to the curve, prints it, and saves the run."""
        run, args = self.run, self.args
        point = {"seconds": round(run.seconds, 1), "cpu": round(self.spent(), 1), "updates": self.updates}
        point |= {"steps": run.rows, "entropy": self.entropy}
        print(LINE.format(**point), flush=True)
        with torch.random.fork_rng():  # the training does not depend on when it is measured
            torch.manual_seed(args.seed)
            run.curve.append(point | compete(run.learner, kind, games, args))
        if args.out:
            league = [past.body.state_dict() for past in self.league]
            run.keep(args.out / "checkpoint.pt", updates=self.updates, cpu=self.spent(), entropy=self.entropy, league=league)
            write(run.learner.body, self.envs, args.out / "network.onnx")
            table(run.curve, args.out / "curve.csv")

    def learn(self, games: Games) -> None:
        """Makes an update."""
        run, args, begun = self.run, self.args, time.perf_counter()
        left = 1 - min(1.0, max(run.seconds / args.seconds, self.updates / args.updates))
        for group in run.optimiser.param_groups:
            group["lr"] = args.rate * max(left, 0.05)
        data = play(games, run.learner, args)
        self.entropy = update(run, self.teacher, data, args)
        self.updates, run.rows = self.updates + 1, run.rows + len(data["gain"])
        if self.league and self.updates % args.past == 0:
            self.league[self.updates // args.past % len(self.league)].body.load_state_dict(run.learner.body.state_dict())
        run.seconds += time.perf_counter() - begun


def main() -> None:
    args = arguments()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    kind = {"game": args.game, "form": args.form}
    envs = moonfarm.make_vec(num_envs=1, opponent="empty", **kind)
    training = Training(envs, args)
    run = training.run
    obs, _ = envs.reset(seed=args.seed)
    numbers = sum(obs[name].size for name in run.learner.body.inputs if name != "mask") + envs.choices
    args.batch = args.batch or min(2048, max(64, 2**22 // numbers))
    args.envs = args.envs or min(256, max(16, 2**28 // (args.steps * numbers)))
    options: dict[str, Any] = {**kind, "seat": "random", "autoreset": "same_step", "reward": args.reward, "max_turns": args.max_turns}
    past = args.envs // 2 if training.league else 0
    opponents = [(args.envs - past, args.opponent), (past, training.league)]
    vectors = [moonfarm.make_vec(num_envs=n, opponent=o, **options) for n, o in opponents if n]
    games = Games(vectors, run.learner.body.inputs, args.seed + training.updates)
    measured = run.curve[-1]["seconds"] if run.curve else -args.measure
    while True:
        over = run.seconds >= args.seconds or training.updates >= args.updates
        fresh = not run.curve or run.curve[-1]["updates"] < training.updates
        if fresh and (over or run.seconds - measured >= args.measure):
            measured = run.seconds
            training.measure(kind, args.games * (4 if over else 1))
        if over:
            break
        training.learn(games)
    for name in args.opponent:
        print("".join("▁▂▃▄▅▆▇█"[min(7, int(8 * point.get(name, 0)))] for point in run.curve), name)


if __name__ == "__main__":
    main()
