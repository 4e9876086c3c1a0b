"""Datasets in other formats, by `python3 -m moonfarm export` and by Dataset.export."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import moonfarm
from moonfarm import __main__ as command
from moonfarm import exporting

from . import ROOT
from . import test_dataset as datasets
from .test_dataset import generate, setUpModule, small, tearDownModule  # noqa: F401

try:
    import h5py
except ImportError:
    h5py = None
try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

ENVIRONMENT = dict(os.environ, PYTHONPATH=str(ROOT / "env" / "python"))
ENOUGH = 120  # seconds, for something that takes one


def folder():
    return Path(datasets.made["folder"].name)


def export(ds, out, *flags):
    """Exports by the command; returns what it prints with --json."""
    line = [sys.executable, "-m", "moonfarm", "export", ds.path, "--out", out, "--json", *flags]
    done = subprocess.run(line, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode or done.stderr:
        raise AssertionError(f"{line}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def run(*arguments):
    """Runs the command in this process; returns its exit status, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    kept = signal.getsignal(signal.SIGTERM)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command.main(["export", *map(str, arguments)])
    signal.signal(signal.SIGTERM, kept)
    return status, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def child(program, *arguments):
    """A process that runs a Python program. It ends with the block."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as p:  # fmt: skip
        watch = threading.Timer(ENOUGH, p.kill)
        watch.start()
        try:
            yield p
        finally:
            watch.cancel()
            p.kill()


def mixed():
    """Makes games of a mix, of policies that win more and less often, with an opening."""
    return small("--policy", "mix(1*random,1*safe),safe", "--opening", "random:2")


class NPZ(unittest.TestCase):
    def test_columns(self):
        """The command and Dataset.export write the rows of batches()."""
        ds = small("--obs", "none")
        for i, (flags, options) in enumerate([
            ([], {}),
            (["--obs", "planes", "--discount", "0.9", "--split", "train"], {"obs": "planes", "discount": 0.9, "split": "train"}),
            (["--obs", "packed", "--columns", "packed,mask", "--part", "1/3"], {"obs": "packed", "columns": ["packed", "mask"], "part": 1, "parts": 3}),
        ]):
            ours, theirs = folder() / f"command{i}.npz", folder() / f"python{i}.npz"
            theirs = folder() / f"made{i}" / theirs.name  # in a new folder
            told = export(ds, ours, "--format", "npz", *flags)
            ds.export(theirs, **options)
            (want,) = ds.batches(len(ds), **options)
            for file in (ours, theirs):
                with np.load(file) as got:
                    self.assertEqual(set(got), {*want, "metadata"})
                    for name in want:
                        self.assertEqual(got[name].dtype, want[name].dtype)
                        np.testing.assert_array_equal(got[name], want[name])
                    self.assertEqual(json.loads(str(got["metadata"])), ds.metadata)
            self.assertEqual((told["rows"], told["columns"], told["episodes"]), (len(want[next(iter(want))]), list(want), 0))
            self.assertEqual((told["bytes"], told["from"], told["to"], told["path"]), (ours.stat().st_size, str(ds.path), "npz", str(ours)))
            self.assertEqual(ours.read_bytes(), theirs.read_bytes())
            self.assertEqual([f.name for f in theirs.parent.iterdir()], [theirs.name])

    def test_filters(self):
        ds = mixed()
        for flags, options in (
            (["--outcome", "win,draw", "--policy", "safe", "--seat", "0,1"], {"outcome": ["win", "draw"], "policy": "safe", "seat": [0, 1]}),
            (["--policy", "random", "--policy", "safe", "--chosen", "1"], {"policy": ["random", "safe"], "chosen": 1}),
            (["--no-opening", "--seat", "1", "--split", "train", "--validation", "0.5"], {"opening": False, "seat": 1, "split": "train", "validation": 0.5}),
        ):
            with self.subTest(flags=flags):
                file = folder() / "filtered.npz"
                export(ds, file, "--to", "npz", "--force", "--columns", "episode,turn,seat", *flags)
                (want,) = ds.batches(len(ds), columns=["episode", "turn", "seat"], **options)
                self.assertTrue(0 < len(want["turn"]) < len(ds))
                with np.load(file) as got:
                    for name in want:
                        np.testing.assert_array_equal(got[name], want[name])


@unittest.skipIf(pyarrow is None, "left out: pyarrow is not installed")
class Parquet(unittest.TestCase):
    def read(self, file, ds):
        """Returns the table of a Parquet file, whose metadata it checks, and its columns."""
        read = pyarrow.parquet.ParquetFile(file)
        metadata = {key.decode(): json.loads(text) for key, text in read.metadata.metadata.items() if key.startswith(b"moonfarm.")}
        self.assertEqual(metadata["moonfarm.manifest"], ds.metadata)
        return read.read(), metadata["moonfarm.columns"]

    def check(self, ds, planes="list", **options):
        """Exports rows, and compares the file with the dataset."""
        file = folder() / "rows.parquet"
        ds.export(file, format="parquet", planes=planes, **options)
        table, columns = self.read(file, ds)
        if "columns" not in options:
            options["columns"] = [*ds.batches(1, **options).as_lists().columns, "orders"]
        self.assertEqual(table.column_names, [c["name"] for c in columns])
        self.assertEqual(set(table.column_names), set(options["columns"]))
        (want,) = ds.batches(len(ds), **options).as_lists()
        for c in columns:
            got, name = table[c["name"]].combine_chunks(), c["name"]
            self.assertFalse(table.schema.field(name).nullable)
            if c.get("list"):
                ends = {"orders": "order_ends", "search_choices": "search_choice_ends"}.get(name, "search_ends")
                np.testing.assert_array_equal(got.offsets.to_numpy(), want[ends])
                values = got.values
            elif not c.get("shape"):
                values = got
            elif name == "planes" and planes == "bytes":
                self.assertEqual(got.type, pyarrow.binary(want[name][0].size))
                values = np.frombuffer(got.buffers()[1], np.uint8)
            else:
                self.assertEqual(got.type.list_size, want[name][0].size)
                self.assertEqual(json.loads(table.schema.field(name).metadata[b"moonfarm.shape"]), c["shape"])
                values = got.flatten()
            if not isinstance(values, np.ndarray):
                values = values.to_numpy(zero_copy_only=False)
            self.assertEqual(values.dtype, want[name].dtype, name)
            np.testing.assert_array_equal(values, want[name].reshape(-1), name)

    def test_columns(self):
        ds = mixed()
        self.check(ds)
        self.check(ds, planes="bytes")
        self.check(ds, obs="packed", discount=0.9)
        self.check(ds, columns=["opponent", "nstep", "turn", "orders"], steps=3)
        self.check(ds, columns=["orders"])
        self.check(ds, columns=["planes"])
        self.check(ds, policy="safe", outcome="win", obs="none")
        self.check(ds, split="train", validation=0.4, part=1, parts=2)

    def test_searches(self):
        """Moves are lists, as in the files, and columns that were not named are left out."""
        ds = generate("towerdefence", "--episodes", "2", "--max-turns", "9", "--policy", "mcts(sims=3),random")
        self.check(ds)
        ds.export(folder() / "policy.parquet", format="parquet", columns=["search_policy"])
        table, _ = self.read(folder() / "policy.parquet", ds)
        self.assertEqual(table.column_names, ["search_policy"])
        self.check(generate("terminal", "--episodes", "1", "--max-turns", "5", "--policy", "mcts(sims=3),random"))
        self.check(generate("codecraft", "--episodes", "1", "--max-turns", "9"))

    def test_command(self):
        ds = mixed()
        file = folder() / "command.parquet"
        told = export(ds, file, "--format", "parquet", "--outcome", "win", "--columns", "episode,planes")
        table, columns = self.read(file, ds)
        self.assertEqual((told["rows"], told["columns"], told["bytes"]), (table.num_rows, ["episode", "planes"], file.stat().st_size))
        self.assertEqual([c["shape"] for c in columns if "shape" in c], [ds.batches(1).columns["planes"]["shape"]])
        with self.assertRaisesRegex(ValueError, "planes: 'no' is not one of 'list', 'bytes'"):
            ds.export(file, format="parquet", planes="no")


class Minari(unittest.TestCase):
    @unittest.skipIf(h5py is None, "left out: h5py is not installed")
    def test_minari(self):
        ds = small("--obs", "none")
        out = folder() / "datasets" / "tron" / "tron-v0"
        told = export(ds, out, "--format", "minari", "--discount", "0.9")
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
        self.assertEqual([p.name for p in out.parent.iterdir()], [out.name])
        with self.assertRaisesRegex(FileExistsError, "tron-v0: it is there already"):
            ds.export(out, format="minari")
        export(ds, out, "--format", "minari", "--force", "--split", "validation")
        self.assertLess(json.loads((out / "data" / "metadata.json").read_text())["total_steps"], len(ds))


class Failures(unittest.TestCase):
    def setUp(self):
        self.ds = small("--obs", "none")
        self.folder = folder() / "refused"
        self.folder.mkdir(exist_ok=True)

    def left(self):
        return sorted(p.name for p in self.folder.iterdir())

    def test_wrong_use(self):
        there = self.folder / "there.npz"
        there.write_bytes(b"kept")
        x = self.folder / "x"
        for flags, text in (
            (["--out", x], "--format/--to"),
            (["--format", "csv", "--out", x], "invalid choice: 'csv'"),
            (["--format", "npz"], "--out"),
            (["--format", "npz", "--out", there], "there.npz: it is there already; --force replaces it"),
            (["--format", "npz", "--out", self.folder, "--force"], "expected the name of a file, found a folder"),
            (["--format", "minari", "--out", self.folder, "--force"], "it is no dataset of Minari, and is not replaced"),
            (["--format", "npz", "--out", "s3://KEY:hidden@bucket/x"], "expected a path on this machine"),
            (["--format", "npz", "--out", x, "--columns", "planes"], "planes"),
            (["--format", "npz", "--out", x, "--reward", "none"], "none"),
            (["--format", "npz", "--out", x, "--discount", "2"], "discount: 2.0 is not above 0"),
            (["--format", "npz", "--out", x, "--validation", "0.7", "--test", "0.7"], "shares that are 1 together or less"),
            (["--format", "npz", "--out", x, "--part", "3"], "--part 3: expected I/N"),
            (["--format", "npz", "--out", x, "--part", "3/3"], "3"),
            (["--format", "npz", "--out", x, "--seat", "2"], "seat 2: there are 2, from 0"),
            (["--format", "npz", "--out", x, "--seat", "one"], "--seat: invalid list of numbers value: 'one'"),
            (["--format", "npz", "--out", x, "--outcome", "won"], "outcome: 'won' is not one of 'win', 'draw', 'loss'"),
            (["--format", "npz", "--out", x, "--workers", "0"], "workers"),
            (["--format", "minari", "--out", x, "--columns", "turn"], "--columns: the columns of minari are given"),
            (["--format", "minari", "--out", x, "--outcome", "win"], "minari holds whole episodes, so no rows can be left out"),
            (["--unknown"], "required"),
        ):
            with self.subTest(flags=flags):
                status, out, err = run(self.ds.path, *flags)
                self.assertEqual((status, out), (2, ""))
                self.assertTrue(err.startswith("moonfarm: ") and err.count("\n") == 1 and text in err and "hidden" not in err, err)
        status, _, err = run(mixed().path, "--format", "npz", "--out", x, "--policy", "econ", "--json")
        told = json.loads(err)
        self.assertEqual((status, told["usage"], told["exit_status"]), (2, True, 2))
        self.assertIn('policy "econ": no policy of that name played', told["error"])
        self.assertEqual((self.left(), there.read_bytes()), (["there.npz"], b"kept"))
        there.unlink()

    def test_failures(self):
        x = self.folder / "x"
        for path, flags, text in (
            (self.ds.path, ["--columns", "orders"], "columns: orders are lists, which .npz files do not have"),
            (self.ds.path, ["--split", "test"], "there are no rows of this split or part"),
            (self.folder / "none", [], "manifest.json"),
        ):
            with self.subTest(flags=flags):
                status, out, err = run(path, "--format", "npz", "--out", x, *flags)
                self.assertEqual((status, out), (1, ""))
                self.assertIn(text, err)
        self.assertEqual(self.left(), [])

    def test_missing_packages(self):
        """The message names the missing package and the command that installs it."""
        for name, to in (("pyarrow", "parquet"), ("h5py", "minari")):
            with mock.patch.dict(sys.modules, {name: None}):
                status, _, err = run(self.ds.path, "--format", to, "--out", self.folder / "x")
            self.assertEqual(status, 1)
            self.assertIn(f"{name}, which is not installed: python3 -m pip install {name}", err)
        self.assertEqual(self.left(), [])
        with child("import sys; sys.modules['numpy'] = None; import moonfarm") as p:
            self.assertIn("moonfarm needs numpy, which is not installed: python3 -m pip install numpy", p.stderr.read())

    @unittest.skipIf(sys.platform == "win32", "Windows has no SIGINT for one process, nor limits of files")
    def test_nothing_partly_written(self):
        """After an interrupt, and on a full disk, no file is left."""
        slow = """if True:
            import signal, sys, time
            from moonfarm import __main__, exporting
            signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes ignore it
            batches = exporting.Source.batches
            def slow(self, progress):
                for b in batches(self, progress):
                    yield b
                    print("begun", flush=True)
                    while True:  # a signal just before one long sleep would wait for its end
                        time.sleep(0.05)
            exporting.Source.batches = slow
            sys.exit(__main__.main(["export", *sys.argv[1:]]))
        """
        full = """if True:
            import resource, sys
            from moonfarm import __main__
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
            sys.exit(__main__.main(["export", *sys.argv[1:]]))
        """
        for to in ["npz"] + ["parquet"] * (pyarrow is not None):
            for number in (signal.SIGINT, signal.SIGTERM):
                with child(slow, self.ds.path, "--format", to, "--out", self.folder / "x") as p:
                    self.assertEqual(p.stdout.readline(), "begun\n")
                    self.assertRegex(",".join(self.left()), r"^\.moonfarm-\w+\.part$")
                    p.send_signal(number)
                    out, err = p.communicate()
                self.assertEqual((p.returncode, out, err), (130, "", "moonfarm: interrupted: nothing was written\n"))
                self.assertEqual(self.left(), [])
            with child(full, self.ds.path, "--format", to, "--obs", "planes", "--out", self.folder / "x") as p:
                _, err = p.communicate()
            self.assertEqual(p.returncode, 1)
            self.assertIn("File too large", err)
            self.assertEqual(self.left(), [])


    def test_two_at_once(self):
        """Two that write one file have a file each until they are complete; a link is followed, and modes stay."""
        file = self.folder / ("n" * 250)
        with exporting.whole(file) as one, exporting.whole(file) as other:
            one.write_text("one")
            other.write_text("the other")
        self.assertEqual((file.read_text(), self.left()), ("one", [file.name]))
        if sys.platform != "win32":
            file.chmod(0o640)
            link = self.folder / "link"
            link.symlink_to(file)
            with exporting.whole(link) as part:
                part.write_text("by the link")
            self.assertEqual((file.read_text(), file.stat().st_mode & 0o777), ("by the link", 0o640))
            self.assertTrue(link.is_symlink())
            link.unlink()
            with exporting.whole(Path(os.devnull)) as part:
                part.write_text("nothing stays")
            self.assertFalse(Path(os.devnull).is_file())
        file.unlink()

    @unittest.skipIf(h5py is None, "left out: h5py is not installed")
    def test_two_folders_at_once(self):
        out = self.folder / "minari"
        done = [threading.Thread(target=exporting.export, args=(self.ds, out, "minari"), kwargs={"force": True}) for _ in range(3)]
        for thread in done:
            thread.start()
        for thread in done:
            thread.join()
        self.assertEqual(self.left(), ["minari"])
        self.assertEqual(json.loads((out / "data" / "metadata.json").read_text())["total_steps"], len(self.ds))
        shutil.rmtree(out)


class Progress(unittest.TestCase):
    def test_calls(self):
        """Progress never decreases, and ends with all rows."""
        ds = small()
        for to in ["npz"] + ["parquet"] * (pyarrow is not None) + ["minari"] * (h5py is not None):
            told = []
            out = folder() / f"progress.{to}"
            ds.export(out, format=to, progress=lambda done, rows: told.append((done, rows)))  # noqa: B023
            self.assertEqual(told[-1], (len(ds), len(ds)))
            self.assertEqual(told, sorted(told))

    def test_meter(self):
        """On a terminal there is one line, which is removed; elsewhere nothing."""
        self.assertIsNone(command._Meter().show)
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        with mock.patch.object(sys, "stderr", terminal), mock.patch.object(command.time, "monotonic", iter([0, 0.1, 1, 1.1, 3]).__next__):
            meter = command._Meter()
            for done in (10, 2000, 2100):
                meter.show(done, 10000)
            self.assertEqual(meter.end(), 3)
        self.assertEqual(terminal.getvalue(), "\r\033[K2,000 of 10,000 rows, 2,000 rows/s, 4 s left\r\033[K")


if __name__ == "__main__":
    unittest.main()
