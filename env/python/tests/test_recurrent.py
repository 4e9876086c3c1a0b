"""Recurrent networks of PyTorch as players: they play as PyTorch computes them, turn by turn."""

import pickle
import unittest
import warnings
from pathlib import Path

import numpy as np

import moonfarm

from . import test_dataset as datasets
from .test_dataset import generate, setUpModule, tearDownModule  # noqa: F401

try:
    import torch
except ImportError:
    torch = None

TURNS = 40
if torch is not None:

    class Network(torch.nn.Module):
        """A policy of Tower Defence with an LSTM, whose states have the batch first."""

        def __init__(self):
            super().__init__()
            self.board = torch.nn.Conv2d(9, 8, 3, padding=1)
            self.lstm = torch.nn.LSTM(8 + 19, 16, num_layers=2, batch_first=True)
            self.logits = torch.nn.Linear(16, 322)

        def forward(self, planes, scalars, state_h, state_c):
            x = torch.cat([self.board(planes.float()).relu().mean((2, 3)), scalars], 1)
            y, (h, c) = self.lstm(x[:, None], (state_h.transpose(0, 1).contiguous(), state_c.transpose(0, 1).contiguous()))
            return 20 * self.logits(y[:, 0]), h.transpose(0, 1), c.transpose(0, 1)


@unittest.skipIf(torch is None, "left out: there is no PyTorch")
class Recurrent(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.network = Network().eval()
        self.file = Path(datasets.made["folder"].name) / "lstm.onnx"
        self.zero = torch.zeros(1, 2, 16)
        inputs = {"planes": torch.zeros(1, 9, 8, 16, dtype=torch.uint8), "scalars": torch.zeros(1, 19), "state_h": self.zero, "state_c": self.zero}
        outputs = ["logits", "next_state_h", "next_state_c"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                self.network, tuple(inputs.values()), self.file, input_names=list(inputs), output_names=outputs,
                dynamic_axes={name: {0: "batch"} for name in [*inputs, *outputs]},
            )  # fmt: skip
        self.policy = f'"{self.file}"(greedy)'

    def chosen(self, planes, scalars, masks):
        """The logits of the legal choices in the turns of a game, by PyTorch: −∞ for others."""
        h = c = self.zero
        for one in zip(planes, scalars, masks):
            with torch.no_grad():
                logits, h, c = self.network(*(torch.from_numpy(x[None].copy()) for x in one[:2]), h, c)
            yield np.where(one[2], logits[0].numpy(), -np.inf)

    def test_as_in_pytorch(self):
        """Datasets have the choices that PyTorch makes in their observations, also after an opening and in a mixture."""
        for name, opening, flags in (
            ("itself", 0, ("--policy", self.policy)), ("opening", 3, ("--policy", self.policy, "--opening", "random:3")),
            ("mixture", 0, ("--policy", f"mix(1*{self.policy},1*random)")),
        ):  # fmt: skip
            with self.subTest(name):
                ds = generate("towerdefence", *flags, "--episodes", "6", "--max-turns", str(TURNS))
                compared = same = 0
                for game in ds.episodes(obs="planes"):
                    masks = ds.masks(game["mask"])
                    for seat in range(2):
                        found = self.chosen(game["planes"][:, seat], game["scalars"][:, seat], masks[:, seat])
                        for turn, (logits, action) in enumerate(zip(found, game["action"][:, seat])):
                            if turn >= opening and ("chosen" not in game or game["chosen"][turn, seat] == 0):
                                compared += 1
                                same += logits[action] >= logits.max() - 1e-3
                self.assertGreater(compared, 100)
                self.assertEqual(same, compared)

    def test_as_an_opponent(self):
        """In a vector it plays as in a dataset, from episode to episode, also in a copy; it cannot be asked about single turns."""
        ds = generate("towerdefence", "--policy", f"{self.policy},random", "--episodes", "4", "--max-turns", str(TURNS))
        for mode in ("next_step", "same_step", "disabled"):
            with self.subTest(mode):
                envs = moonfarm.make_vec("towerdefence", 1, opponent=self.policy, seat=1, max_turns=TURNS, autoreset=mode)
                obs, infos = envs.reset(seed=3)
                for game in ds.episodes(obs="planes"):
                    for turn, action in enumerate(game["action"][:, 1]):
                        np.testing.assert_array_equal(obs["planes"][0], game["planes"][turn, 1])
                        if turn == 20:
                            envs = pickle.loads(pickle.dumps(envs))
                        state = envs.get_state()
                        envs.step(np.array([action]))
                        envs.set_state(state)
                        obs, _, ended, cut, infos = envs.step(np.array([action]))
                    self.assertTrue(ended[0] or cut[0])
                    if mode == "next_step":
                        obs, *_ = envs.step(np.array([0]))
                    elif mode == "disabled":
                        obs, _ = envs.reset()
                with self.assertRaisesRegex(ValueError, "is recurrent: it must see every turn of a game, so it cannot be asked about single ones"):
                    envs.ask(self.policy)
                with moonfarm.make_vec("towerdefence", 1, opponent="econ", seat=1) as other:
                    other.reset(seed=1)
                    with self.assertRaisesRegex(ValueError, "snapshot without what the opponent at seat 0 remembers of the game"):
                        envs.set_state(other.get_state())
                envs.close()


if __name__ == "__main__":
    unittest.main()
