"""Datasets in formats of others, by the command moonfarm and by Python."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

import moonfarm

from . import test_dataset as datasets
from .test_dataset import setUpModule, small, tearDownModule  # noqa: F401

try:
    import h5py
except ImportError:
    h5py = None


def export(ds, out, *flags):
    """Exports by the command moonfarm, which for Minari runs this Python."""
    environment = dict(os.environ, PYTHON=sys.executable, PYTHONPATH=str(datasets.ROOT / "env" / "python"))
    command = [datasets.made["command"], "export", ds.path, "--out", out, "--json", *flags]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def folder():
    return Path(datasets.made["folder"].name)


class Export(unittest.TestCase):
    def test_npz(self):
        """The command and Dataset.export write the same arrays."""
        ds = small("--obs", "none")
        for i, (flags, options) in enumerate([
            ([], {}),
            (["--obs", "planes", "--discount", "0.9", "--split", "train"], {"obs": "planes", "discount": 0.9, "split": "train"}),
            (["--obs", "packed", "--columns", "packed,mask"], {"obs": "packed", "columns": ["packed", "mask"]}),
        ]):
            ours, theirs = folder() / f"command{i}.npz", folder() / f"python{i}.npz"
            theirs = folder() / f"made{i}" / theirs.name  # a folder that is not there yet
            export(ds, ours, "--to", "npz", *flags)
            ds.export(theirs, **options)
            with np.load(ours) as got, np.load(theirs) as want:
                self.assertEqual(set(got), set(want))
                for name in set(got) - {"metadata"}:
                    self.assertEqual(got[name].dtype, want[name].dtype)
                    np.testing.assert_array_equal(got[name], want[name])
                self.assertEqual(json.loads(str(got["metadata"])), json.loads(str(want["metadata"])))
            self.assertEqual([f.name for f in theirs.parent.iterdir()], [theirs.name])

    @unittest.skipIf(h5py is None, "left out: h5py is not installed")
    def test_minari(self):
        ds = small("--obs", "none")
        out = folder() / "datasets" / "tron" / "tron-v0"
        told = export(ds, out, "--to", "minari", "--discount", "0.9")
        self.assertEqual((told["rows"], told["episodes"]), (len(ds), ds.num_episodes * ds.players))
        metadata = json.loads((out / "data" / "metadata.json").read_text())
        spec = json.loads(metadata["env_spec"])
        self.assertEqual((spec["id"], spec["entry_point"]), ("moonfarm/Tron-v0", "moonfarm.single:make_env"))
        env = moonfarm.make_env(**spec["kwargs"])
        self.assertEqual(env.vector.description["rules"], "torus=false\n")
        self.assertEqual(set(env.reset(seed=1)[0]), {"planes", "scalars"})
        self.assertEqual((metadata["total_steps"], metadata["dataset_id"]), (len(ds), "tron/tron-v0"))
        with h5py.File(out / "data" / "main_data.hdf5") as file:
            self.assertEqual((file.attrs["total_steps"], file.attrs["total_episodes"]), (len(ds), len(file)))
            number = 0
            for e in ds.episodes(obs="planes"):
                for seat in range(ds.players):
                    group = file[f"episode_{number}"]
                    self.assertEqual((group.attrs["id"], group.attrs["seat"], group.attrs["total_steps"]), (number, seat, len(e["reward"])))
                    for name, column in (("actions", "action"), ("rewards", "reward"), ("terminations", "terminated"), ("truncations", "truncated")):
                        np.testing.assert_array_equal(group[name], e[column][:, seat])
                    for name in group["observations"]:
                        seen = group["observations"][name][()]
                        np.testing.assert_array_equal(seen[:-1], e[name][:, seat])
                        np.testing.assert_array_equal(seen[-1], e[f"final_{name}"][seat])
                        self.assertEqual(list(seen.shape[1:]), json.loads(metadata["observation_space"])["subspaces"][name]["shape"])
                    np.testing.assert_array_equal(group["infos"]["mask"][:-1], e["mask"][:, seat])
                    self.assertEqual(group["infos"]["mask"][-1].tolist(), [1], "straight on, after the last turn")
                    number += 1
            self.assertEqual(number, len(file))
        self.assertEqual([p.name for p in folder().iterdir() if p.name.startswith(".tron")], [])
        export(ds, out, "--to", "minari", "--force", "--split", "validation")
        self.assertLess(json.loads((out / "data" / "metadata.json").read_text())["total_steps"], len(ds))


if __name__ == "__main__":
    unittest.main()
