"""Proximal policy optimisation in one file, for every game: from nothing to an ONNX file that plays.

    python3 env/python/examples/ppo.py towerdefence
    moonfarm eval towerdefence --player runs/towerdefence/network.onnx --player econ

It needs moonfarm, numpy and torch. Every --opponent plays a part of the games. The folder of --out gets network.onnx and
curve.csv; `moonfarm view FOLDER` shows the curve while it grows, and TensorBoard does if it is installed.

Details that matter here:

- Illegal choices get a logit of -1e9. An action of several heads has a ratio for each head with a choice.
- The reward is the result of the game, -1 to 1, and --shaping times a reward of the game from turn to turn.
- A game that is cut (--max-turns) goes on for the learner: what follows has the value of the last observation.
- In a sequential form a turn has several actions. Discounts count turns: an action that ends no turn discounts nothing.
- An update ends early when the policy has moved too far (--target-kl).
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import time
from pathlib import Path
from typing import Any

try:
    import moonfarm
except ModuleNotFoundError:
    raise SystemExit("there is no moonfarm: pip install ./env/python, or PYTHONPATH=env/python after python3 env/python/build.py") from None
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# The form, the reward for shaping and its weight, the actions to learn from, and opponents, drawn the more often the more they win.
GAMES: dict[str, tuple[str, str, float, int, list[str]]] = {
    "towerdefence": ("cells", "health", 0.01, 500_000, ["playout", "econ", "turtle", "tesla", "rush"]),
    "terminal": ("orders", "points", 0.03, 8_000_000, ["random", "scatter", "starter", "turtle", "maze"]),
    "codecraft": ("entities", "wealth", 0.001, 500_000, ["random", "quickstart"]),
    "tron": ("cells", "nearer", 0.01, 500_000, ["random", "safe"]),
}


class Linear(nn.Linear):
    """A linear layer as a convolution: up to 30 times as fast where PyTorch has no fast library for matrices, as Debian's."""

    def __init__(self, inputs: int, outputs: int, gain: float = 2**0.5) -> None:
        super().__init__(inputs, outputs)
        nn.init.normal_(self.weight, std=gain / inputs**0.5)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        if x.is_cuda or torch.onnx.is_in_onnx_export():
            return super().forward(x)
        boards = (F.pad(a, (0, -self.in_features % 64)).view(len(a), -1, 8, 8) for a in (x, self.weight))
        return F.conv2d(*boards, self.bias).flatten(1)


def varying(envs: moonfarm.VectorEnv, steps: int = 1000) -> Tensor:
    """Returns the indices of the numbers of the planes that change in games of random choices: Terminal's are a fifth of all."""
    with moonfarm.make_vec(envs.game, 32, form=envs.form) as games:
        obs, infos = games.reset(seed=1)
        first, draw = obs["planes"][:1], np.random.default_rng(1)
        found = np.zeros(first.shape[1:], bool)
        for _ in range(steps):
            obs, _, _, _, infos = games.step((infos["action_mask"] * draw.random(infos["action_mask"].shape, np.float32)).argmax(1))
            found |= (obs["planes"] != first).any(0)
    return torch.from_numpy(found.reshape(-1).nonzero()[0])


class Board(nn.Module):
    """For one head: layers over all cells and the scalars."""

    inputs = ["planes", "scalars"]

    def __init__(self, envs: moonfarm.VectorEnv, width: int) -> None:
        super().__init__()
        d = envs.description
        planes, scalars = (torch.tensor([1 / float(x["scale"]) for x in d[name]]) for name in ("planes", "scalars"))
        self.register_buffer("varying", varying(envs))
        self.register_buffer("planes", planes[self.varying // (d["height"] * d["width"])])
        self.register_buffer("scalars", scalars)
        size = len(self.varying) + 2 * len(scalars)
        self.trunk = nn.Sequential(Linear(size, width), nn.ReLU(), Linear(width, width), nn.ReLU())
        self.policy, self.value = Linear(width, envs.choices, 0.01), Linear(width, 1, 0.1)

    def forward(self, planes: Tensor, scalars: Tensor) -> tuple[Tensor, Tensor]:
        cells = planes.flatten(1)[:, self.varying].float() * self.planes
        numbers = scalars * self.scalars
        h = self.trunk(torch.cat([cells, numbers, (10 * numbers).clamp(0, 2)], 1))  # prices are small numbers
        return self.policy(h), self.value(h)[:, 0]


class Entities(nn.Module):
    """For CodeCraft: a head for each own entity, which sees its own row and features of the whole map."""

    inputs = ["own", "coarse", "scalars"]
    TYPES = 11

    def __init__(self, envs: moonfarm.VectorEnv, width: int) -> None:
        super().__init__()
        d = envs.description
        tensors = {t["name"]: t for t in d["tensors"]}
        self.register_buffer("fields", torch.tensor([1 / float(f["scale"]) for f in tensors["own"]["fields"]]))
        self.register_buffer("scalars", torch.tensor([1 / float(s["scale"]) for s in d["scalars"]]))
        whole, narrow = int(np.prod(tensors["coarse"]["dims"])) + len(d["scalars"]), min(width, 96)
        self.trunk = nn.Sequential(Linear(whole, width), nn.ReLU(), Linear(width, width), nn.ReLU())
        self.value, self.all = Linear(width, 1, 0.1), Linear(width, narrow)
        self.one = Linear(len(self.fields) + self.TYPES, narrow)
        self.policy = nn.Sequential(nn.ReLU(), Linear(narrow, narrow), nn.ReLU(), Linear(narrow, envs.heads[0], 0.01))

    def forward(self, own: Tensor, coarse: Tensor, scalars: Tensor) -> tuple[Tensor, Tensor]:
        own = own.float()
        h = self.trunk(torch.cat([coarse.float().flatten(1) / 8, scalars * self.scalars], 1))
        kinds = (own[:, :, :1] == torch.arange(float(self.TYPES), device=own.device)).float()
        one = self.one(torch.cat([own * self.fields, kinds], 2).flatten(0, 1)).view(own.shape[0], own.shape[1], -1)
        logits = self.policy((one + self.all(h)[:, None]).flatten(0, 1))
        return logits.view(own.shape[0], -1), self.value(h)[:, 0]


class Agent:
    """A network and what it says of observations. envs: a vector of the game, of any size."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int, device: str) -> None:
        assert len(envs.heads) == 1 or envs.description["tensors"], f"{envs.form} has several heads: expected another --form"
        self.device, self.heads, self.size = device, len(envs.heads), envs.heads[0]
        self.network = (Entities if envs.description["tensors"] else Board)(envs, width).to(device)
        self.inputs = self.network.inputs

    def tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    def say(self, obs: dict[str, np.ndarray], mask: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the logarithms of probabilities [rows, heads, choices], which heads have a choice [rows, heads], values [rows]."""
        legal = self.tensor(mask)
        logits, value = self.network(*(self.tensor(obs[name]) for name in self.inputs))
        logits = logits.masked_fill(~legal, -1e9).view(len(mask), self.heads, self.size)
        return F.log_softmax(logits, 2), legal.view(logits.shape).sum(2) > 1, value

    @torch.no_grad()
    def act(self, obs: dict[str, np.ndarray], mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draws actions, as step takes them; returns them, the logarithms of their probabilities [rows, heads], and values [rows]."""
        log, _, value = self.say(obs, mask)
        action = (log - torch.log(-torch.log(torch.rand_like(log).clamp(1e-9, 1 - 1e-7)))).argmax(2)
        log = log.gather(2, action[:, :, None])[:, :, 0]
        return (action[:, 0] if self.heads == 1 else action).int().cpu().numpy(), log.cpu().numpy(), value.cpu().numpy()

    def write(self, envs: moonfarm.VectorEnv, file: Path) -> None:
        """Writes the network as ONNX, for batches of any size."""
        example = tuple(torch.from_numpy(envs.reset(seed=1)[0][name]).float() for name in self.inputs)
        older = {} if torch.__version__ < "2.5" else {"dynamo": False}
        axes = {name: {0: "rows"} for name in [*self.inputs, "policy", "value"]}
        names = {"input_names": self.inputs, "output_names": ["policy", "value"], "dynamic_axes": axes}
        torch.onnx.export(self.network.cpu(), example, str(file.with_suffix(".part")), **names, **older)
        file.with_suffix(".part").replace(file)
        self.network.to(self.device)


class Games:
    """The vector that is learned from, between updates."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.envs = moonfarm.make_vec(
            args.game, args.envs, opponent=args.opponent, seat="random", form=args.form, reward=args.reward, max_turns=args.max_turns, seed=args.seed
        )
        self.obs, infos = self.envs.reset(seed=args.seed)
        self.mask, self.ended = infos["action_mask"], np.zeros(args.envs, bool)
        self.won = dict.fromkeys(args.opponent, 0.0)  # mean results of the latest games, -1 to 1

    def play(self, agent: Agent, args: argparse.Namespace) -> dict[str, np.ndarray]:
        """Plays args.horizon steps of all games; returns their rows, [steps, games, …], with advantages and returns.

        After the end of a game comes a row with its last observation, whose action the vector ignores: its value stands for
        what follows a cut game, and it is not learned from ("alive").
        """
        kept: list[dict[str, np.ndarray]] = []
        self.envs.opponent_weights = np.array([1.1 - won for won in self.won.values()])
        for _ in range(args.horizon):
            action, log, value = agent.act(self.obs, self.mask)
            row = {**{n: self.obs[n] for n in agent.inputs}, "mask": self.mask, "action": action, "log": log, "value": value, "alive": ~self.ended}
            turn = self.envs.arrays["turn"].copy()
            self.obs, reward, terminated, truncated, infos = self.envs.step(action)
            self.mask, self.ended = infos["action_mask"], terminated | truncated
            result = np.where(self.ended, infos["result"], 0)
            for i in self.ended.nonzero()[0]:
                self.won[infos["opponent"][i]] += 0.02 * (result[i] - self.won[infos["opponent"][i]])
            row |= {"reward": args.shaping * reward + result, "terminated": terminated, "ended": self.ended}
            row["turned"] = self.ended | (self.envs.arrays["turn"] != turn)
            kept.append(row)
        rows = {name: np.stack([row[name] for row in kept]) for name in kept[0]}
        rows["gain"] = self.gains(rows, agent.act(self.obs, self.mask)[2], args)
        rows["return"] = rows["gain"] + rows["value"]
        return rows

    def gains(self, rows: dict[str, np.ndarray], last: np.ndarray, args: argparse.Namespace) -> np.ndarray:
        """Returns generalised advantage estimates, [steps, games]. last: the values after the last step."""
        out, ahead, after = np.zeros_like(rows["value"]), np.zeros_like(last), last
        for t in reversed(range(len(out))):
            gamma, smooth = (np.where(rows["turned"][t], x, np.float32(1)) for x in (args.gamma, args.smooth))
            off = rows["reward"][t] + gamma * after * ~rows["terminated"][t] - rows["value"][t]
            out[t] = ahead = off + gamma * smooth * ahead * ~rows["ended"][t]
            after = rows["value"][t]
        return out


def update(agent: Agent, optimiser: torch.optim.Optimizer, rows: dict[str, np.ndarray], args: argparse.Namespace) -> dict[str, float]:
    """Learns from rows in several passes; returns the means of what the curve shows."""
    alive = rows.pop("alive").reshape(-1)
    data = {name: a.reshape(-1, *a.shape[2:])[alive] for name, a in rows.items()}
    gain = data["gain"]
    data["gain"] = (gain - gain.mean()) / (gain.std() + 1e-6)
    said: list[tuple[float, ...]] = []
    for _ in range(args.passes):
        for some in np.array_split(np.random.permutation(len(gain)), math.ceil(len(gain) / args.batch)):
            batch = {name: a[some] for name, a in data.items()}
            log, choice, value = agent.say(batch, batch["mask"])
            action, old, gains = (agent.tensor(batch[name]) for name in ("action", "log", "gain"))
            change = (log.gather(2, action.long().view(old.shape)[:, :, None])[:, :, 0] - old)[choice]
            ratio, g = change.exp(), gains[:, None].expand(choice.shape)[choice]
            gained = torch.min(ratio * g, ratio.clamp(1 - args.clip, 1 + args.clip) * g).mean()
            entropy = -(log.exp() * log).sum(2)[choice].mean()
            off = F.mse_loss(value, agent.tensor(batch["return"]))
            optimiser.zero_grad()
            (0.5 * off - gained - args.entropy * entropy).backward()
            nn.utils.clip_grad_norm_(agent.network.parameters(), 0.5)
            optimiser.step()
            with torch.no_grad():
                kl, clipped = (ratio - 1 - change).mean(), ((ratio - 1).abs() > args.clip).float().mean()
            said.append((-float(gained), float(off), float(entropy), float(kl), float(clipped)))
        if said[-1][3] > args.target_kl:
            break
    explained = 1 - float(np.var(data["return"] - data["value"]) / max(np.var(data["return"]), 1e-9))
    names = ("policy_loss", "value_loss", "entropy", "kl", "clipped")
    return {**dict(zip(names, np.mean(said, 0))), "explained_variance": explained}


def score(agent: Agent, opponent: str, games: int, args: argparse.Namespace) -> tuple[float, float, float]:
    """Plays against an opponent: the share of games won, a draw counts half, and its interval (Wilson, 95 %)."""
    with moonfarm.make_vec(args.game, games, opponent=opponent, seat="random", form=args.form, max_turns=args.max_turns) as envs:
        obs, infos = envs.reset(seed=10_000_000 + args.seed)
        results = np.full(games, np.nan)
        while np.isnan(results).any():
            obs, _, terminated, truncated, infos = envs.step(agent.act(obs, infos["action_mask"])[0])
            first = (terminated | truncated) & np.isnan(results)  # the first episode of each game counts
            results[first] = infos["result"][first]
    share, z = float((results.mean() + 1) / 2), 1.96
    middle, root = share + z * z / (2 * games), z * math.sqrt(share * (1 - share) / games + (z / (2 * games)) ** 2)
    low, high = (max(0.0, min(1.0, (middle + sign * root) / (1 + z * z / games))) for sign in (-1, 1))
    return share, low, high


class Curve:
    """Prints a line every few seconds, and writes curve.csv and TensorBoard's events."""

    def __init__(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.file, self.points, self.board = out / "curve.csv", list[dict[str, Any]](), None
        self.begun = self.said = time.perf_counter()
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:  # then there is curve.csv alone
            return
        self.board = SummaryWriter(str(out))

    def add(self, point: dict[str, Any], always: bool) -> None:
        now = time.perf_counter()
        self.points.append(point := {"seconds": now - self.begun, "cpu": sum(os.times()[:4]), **point})
        for name in point if self.board else ():
            self.board.add_scalar(name, point[name], point["steps"])
        with self.file.open("w", newline="") as f:
            writer = csv.DictWriter(f, dict.fromkeys(name for p in self.points for name in p))
            writer.writeheader()
            writer.writerows({name: f"{x:.6g}" for name, x in p.items()} for p in self.points)
        if always or now - self.said >= 5:
            self.said = now
            print("  ".join(f"{name} {point[name]:.5g}" for name in point), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("--form", help="of observations and actions (default: depends on the game)")
    parser.add_argument("--opponent", action="append", help="policy to play against; may be repeated (default: depends on the game)")
    parser.add_argument("--reward", help="reward of the game that is added to the result (default: depends on the game)")
    parser.add_argument("--shaping", type=float, help="weight of that reward (default: depends on the game)")
    parser.add_argument("--out", type=Path, help="folder of the network and the curve (default: runs/GAME)")
    parser.add_argument("--steps", type=int, help="actions to learn from (default: depends on the game)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--envs", type=int, default=256, help="games at the same time")
    parser.add_argument("--horizon", type=int, default=64, help="steps of each game between updates")
    parser.add_argument("--max-turns", type=int, default=0, help="games are cut after this many turns; 0: no cut")
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--passes", type=int, default=2, help="times that an update goes through the rows")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate, which falls to a twentieth")
    parser.add_argument("--gamma", type=float, default=0.995, help="discount of a turn")
    parser.add_argument("--smooth", type=float, default=0.95, help="lambda of advantage estimates, of a turn")
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--target-kl", type=float, default=0.05, help="an update ends after the pass that moves the policy this far")
    parser.add_argument("--entropy", type=float, default=0.003, help="weight of the entropy of a head")
    parser.add_argument("--measure", type=int, default=10, help="updates between measurements; 0: only at the end")
    parser.add_argument("--games", type=int, default=50, help="games of a measurement against each opponent, at the end four times as many")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="PyTorch's threads")
    args = parser.parse_args()
    form, reward, shaping, steps, opponents = GAMES[args.game]
    args.form, args.reward, args.opponent = args.form or form, args.reward or reward, args.opponent or opponents
    args.shaping, args.steps = shaping if args.shaping is None else args.shaping, args.steps or steps
    args.out, args.opponent = args.out or Path("runs") / args.game, list(dict.fromkeys(args.opponent))
    if min(args.steps, args.envs, args.batch, args.passes, args.width, args.horizon - 1) < 1:
        parser.error("expected numbers from 1, and from 2 for --horizon")
    return args


def main() -> None:
    args = arguments()
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    torch.set_num_threads(args.threads)
    games = Games(args)
    one = moonfarm.make_vec(args.game, 2, opponent="empty", form=args.form)
    agent = Agent(one, args.width, "cuda" if torch.cuda.is_available() else "cpu")
    optimiser = torch.optim.Adam(agent.network.parameters(), args.rate, eps=1e-5)
    curve, steps, updates = Curve(args.out), 0, 0
    while steps < args.steps:
        optimiser.param_groups[0]["lr"] = args.rate * max(1 - steps / args.steps, 0.05)
        begun = time.perf_counter()
        rows = games.play(agent, args)
        played = time.perf_counter()
        fresh = int(rows["alive"].sum())
        point = {"steps": steps + fresh, **update(agent, optimiser, rows, args), "result": float(np.mean([*games.won.values()]))}
        learned = time.perf_counter()
        point |= {"play_steps_per_second": fresh / (played - begun), "learn_steps_per_second": fresh / (learned - played)}
        steps, updates = steps + fresh, updates + 1
        over = steps >= args.steps
        measure = over or bool(args.measure) and updates % args.measure == 0
        many = args.games * (4 if over else 1)
        for opponent in args.opponent if measure and args.games else ():
            share, low, high = score(agent, opponent, many, args)
            point["scores/" + opponent] = share
            print(f"{100 * share:.1f} % against {opponent} [{100 * low:.1f}, {100 * high:.1f}] in {many} games", flush=True)
        if measure:
            point["measure_seconds"] = time.perf_counter() - learned
            agent.write(one, args.out / "network.onnx")
        curve.add(point, measure)


if __name__ == "__main__":
    main()
