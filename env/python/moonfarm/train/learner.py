"""Learners: a network with its losses, what it plays, and how it is measured."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

import moonfarm

from .bodies import Body, Said, Seen
from .rows import Batch, Rows, cross_entropy
from .run import Run


class Learner:
    """The network, and statistics of the choices in the datasets.

    learn: "shares", "played" and "value" are for the rows of searched(), "all" and "asked" for those of a dataset. mix: the weight
    of the search's value in the value to learn. temperature: of its choices when it plays. compiled: by torch.compile.
    """

    def __init__(
        self, envs: moonfarm.VectorEnv, body: Body, device: str, learn: str = "all", mix: float = 0.5, temperature: float = 1,
        compiled: bool = False,
    ) -> None:
        self.body, self.temperature = body.to(device), temperature
        self.device, self.choices, self.heads = device, envs.choices, len(envs.heads)
        self.learn, self.mix = learn, mix
        self._see = torch.compile(body.see) if compiled else body.see
        if learn == "value":
            for part in self.body.children():
                part.requires_grad_(part is self.body.value)
        self.common = torch.zeros(envs.choices, device=device)  # how often each choice was made
        self.forget()

    def nothing(self, rows: int) -> Tensor:
        """Returns what a body with a memory remembers before a game begins."""
        return torch.zeros(rows, self.body.memory, device=self.device)

    def forget(self) -> None:
        """Ends the games of which a body with a memory remembers something."""
        self._state: Tensor | None = None

    def tensor(self, batch: Batch, name: str) -> Tensor:
        """Returns an array of a batch on the device; to a GPU it is copied while the program goes on."""
        array = batch[name]
        if isinstance(array, Tensor) or self.device == "cpu":
            return torch.as_tensor(array, device=self.device)
        return torch.from_numpy(np.ascontiguousarray(array)).pin_memory().to(self.device, non_blocking=True)

    def labels(self, batch: Batch, learn: str) -> Tensor:
        """Returns each head's label: the choice that was made, that a policy would make, or the largest share's."""
        choices = self.tensor(batch, {"shares": "best", "asked": "asked"}.get(learn, "action"))
        return choices.long().reshape(len(batch["mask"]), -1)

    def legal(self, batch: Batch) -> Tensor:
        """Returns the masks, bool [rows, choices]. A GPU gets the bits, an eighth of the bytes."""
        mask = batch["mask"]
        if not isinstance(mask, Tensor):
            if self.device == "cpu":
                return torch.from_numpy(moonfarm.unpack_masks(mask, self.choices))
            mask = self.tensor({"mask": mask.view(np.uint8)}, "mask")
        bits = torch.arange(8, dtype=torch.uint8, device=self.device)  # Memory has the bytes
        return (mask[:, :, None] >> bits & 1).flatten(1)[:, : self.choices].bool()

    def tensors(self, batch: Batch, *more: str) -> dict[str, Tensor]:
        """Returns the body's inputs, and more, if they are in the batch."""
        return {name: self.tensor(batch, name) for name in (*self.body.inputs, *more) if name in batch}

    def remember(self, batch: Batch) -> Tensor:
        """Returns what a body with a memory remembers after rows, [rows, memory]: see Body.remember."""
        return self.body.remember(self.tensors(batch, "state_memory"), self.tensor(batch, "begins") if "begins" in batch else None)

    def see(self, batch: Batch) -> Seen:
        tensors = self.tensors(batch, "player", "memory")
        if self.body.memory and "memory" not in batch:
            tensors["memory"] = self.remember(batch)
        return self._see(tensors, self.legal(batch))

    def value(self, seen: Seen) -> Tensor:
        """Returns the values, float32 [rows]."""
        assert seen.value is not None
        return seen.value.float()

    def loss(self, batch: Batch) -> Tensor:
        """Returns the mean over rows of the heads' cross-entropies, and the mean square of the value's error."""
        labels, shares = self.labels(batch, self.learn), None
        if self.learn == "shares":
            shares = self.tensor(batch, "shares")
        seen = self.see(batch)
        total = torch.zeros((), device=self.device)
        for said in self.body.say(seen, labels, self.body.most) if self.learn != "value" else ():
            label = labels[said.rows, said.heads]
            if shares is None:
                loss = self.body.cross_entropy(said, label)
            else:
                loss = cross_entropy(said, shares)[0]
            total = total + (said.weights * loss).sum()
            made = said.choices.gather(1, label[:, None])[:, 0]
            self.common.index_add_(0, made, said.weights)
        total = total / len(labels)
        if seen.value is None:
            return total
        outcome = self.tensor(batch, "outcome").float()
        if self.searches:
            outcome = torch.lerp(outcome, self.tensor(batch, "search_value"), self.mix)
        return total + F.mse_loss(seen.value.float(), outcome)

    @property
    def searches(self) -> bool:
        """It learns from rows in which a policy searched."""
        return self.learn in ("shares", "played", "value")

    @torch.no_grad()
    def agreement(self, batches: Iterable[Rows]) -> dict[str, float]:
        """Returns how often the network's likeliest choice is the label, and how often the commonest legal choice is;
        which part of all other labels the network predicts, and which part of its other predictions is right; and for
        searches the cross-entropy and the errors of the value.
        """
        n = right = common = found = predicted = 0
        sums, rows, shares = torch.zeros(5, dtype=torch.float64), 0, False
        for batch in batches:
            shares = "shares" in batch
            labels, seen = self.labels(batch, "shares" if self.searches else self.learn), self.see(batch)
            if self.searches:
                outcome, value = self.tensor(batch, "outcome"), self.tensor(batch, "search_value")
                for i, error in enumerate((seen.value - outcome, value - outcome, seen.value - value)):
                    sums[i] += float((error**2).sum())
                rows += len(value)
            for said in self.body.say(seen, labels):
                label, best = labels[said.rows, said.heads], said.logits.argmax(1)
                usual = self.common[said.choices].masked_fill(said.logits == -1e9, -1).argmax(1)
                good = best == label
                n, right, common = n + len(label), right + int(good.sum()), common + int((usual == label).sum())
                found, predicted = found + int((good & (best != usual)).sum()), predicted + int((best != usual).sum())
                if "shares" in batch:
                    for i, of in enumerate(cross_entropy(said, self.tensor(batch, "shares")), 3):
                        sums[i] += float(of.sum())
        point = {
            "choices": n, "agreement": right / max(n, 1), "commonest": common / max(n, 1),
            "recall": found / max(n - common, 1), "precision": found / max(predicted, 1),
        }  # fmt: skip
        if not self.searches:
            return point
        errors = (sums[:3] / max(rows, 1)).sqrt().tolist()
        names = ("value_outcome", "search_outcome", "value_search", *(("cross_entropy", "entropy") if shares else ()))
        return {**point, **dict(zip(names, [*errors, *(sums[3:] / max(rows, 1)).tolist()]))}

    @torch.no_grad()
    def choose(self, seen: Seen, greedy: bool = False) -> tuple[Tensor, Tensor]:
        """Returns actions, int64 [rows, heads], the likeliest or drawn by their probabilities, and the logarithm of the
        probability of each head's choice."""
        mask = seen.mask
        assert mask is not None
        actions = torch.zeros(len(mask), self.heads, dtype=torch.long, device=self.device)
        logs = torch.zeros(actions.shape, device=self.device)
        for said in self.body.say(seen):
            logits = said.logits / self.temperature
            logs_of = F.log_softmax(logits, 1)
            if not greedy:
                logits = logits - torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            chosen = logits.argmax(1)
            actions[said.rows, said.heads] = chosen
            logs[said.rows, said.heads] = logs_of.gather(1, chosen[:, None])[:, 0]
        return actions, logs

    @torch.no_grad()
    def log(self, batch: Batch) -> Tensor:
        """Returns the logarithms of the probabilities of a batch's actions, [rows, heads]; 0 where there is no choice."""
        actions = self.tensor(batch, "action").long()
        logs = torch.zeros(actions.shape, device=self.device)
        for said in self.body.say(self.see(batch), actions):
            chosen = actions[said.rows, said.heads][:, None]
            logs[said.rows, said.heads] = F.log_softmax(said.logits / self.temperature, 1).gather(1, chosen)[:, 0]
        return logs

    def __call__(self, obs: Rows, infos: dict[str, Any], greedy: bool = False) -> np.ndarray:
        """Returns actions to play, as step takes them. With a memory the rows are those of the call before, until forget."""
        batch: dict[str, Any] = {**obs, "mask": infos["mask"]}
        with torch.no_grad():
            if self.body.memory:
                state = self._state if self._state is not None else self.nothing(len(infos["mask"]))
                self._state = batch["memory"] = self.remember({**batch, "state_memory": state})
            actions, _ = self.choose(self.see(batch), greedy)
        return actions[:, 0 if self.heads == 1 else slice(None)].to("cpu", torch.int32).numpy()


def wilson(share: float, games: int) -> tuple[float, float]:
    """Returns Wilson's interval (95 %) of a share of games."""
    z = 1.96
    middle, root = share + z * z / (2 * games), z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return max((middle - root) / (1 + z * z / games), 0.0), min((middle + root) / (1 + z * z / games), 1.0)


def play(learner: Learner, kind: dict[str, Any], opponent: str, args: argparse.Namespace, games: int, greedy: bool = False) -> float:
    """Returns the share of games that the learner wins, with draws as half; its seat is random. kind: game, form, rules."""
    envs = moonfarm.make_vec(num_envs=games, opponent=opponent, seat="random", max_turns=args.max_turns, **kind)
    obs, infos = envs.reset(seed=args.seed)
    learner.forget()
    results = np.full(games, np.nan)
    while np.isnan(results).any():
        obs, _, terminated, truncated, infos = envs.step(learner(obs, infos, greedy))
        fresh = (terminated | truncated) & np.isnan(results)  # the first episode of each game counts
        if fresh.any():
            results[fresh] = infos["result"][fresh]
    envs.close()
    return float((results.mean() + 1) / 2)


def compete(run: Run, learner: Learner, kind: dict[str, Any], games: int, greedy: bool = False) -> dict[str, float]:
    """Plays every opponent and judge that many times, prints the scores, and returns them with Wilson's intervals (95 %)."""
    scores: dict[str, float] = {}
    for opponent in dict.fromkeys([*run.args.opponent, *run.args.judge]) if games else ():
        run.now(f"plays {games} games against {opponent}")
        score = play(learner, kind, opponent, run.args, games, greedy)
        scores |= scored(run, opponent, score, games)
    return scores


def scored(run: Run, opponent: str, score: float, games: int, more: str = "") -> dict[str, float]:
    """Prints a score, and returns the numbers of the curve for it."""
    low, high = wilson(score, games)
    run.say(f"  {100 * score:5.1f} % against {opponent} in {games} games{more}, between {100 * low:.1f} and {100 * high:.1f} %")
    return {f"scores/{opponent}": score, f"low/{opponent}": low, f"high/{opponent}": high}
