"""Loading the library, and properties of the whole process: imports, forks, threads, Ctrl-C."""

import ctypes
import gc
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import moonfarm
from moonfarm import library, registration

HEADER = Path(__file__).resolve().parents[3] / "cmd" / "libmoonfarm" / "moonfarm.h"

# Setup that a program started in the background lacks.
INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def run(code, **environment):
    """Runs Python code in a separate process and returns its output."""
    folder = str(Path(moonfarm.__file__).parent.parent)
    paths = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )  # fmt: skip
    return done.stdout + done.stderr


@unittest.skipUnless(sys.platform == "linux", "needs limits on addresses and /proc")
class Memory(unittest.TestCase):
    LIMIT = """
import os, resource
import numpy as np
import moonfarm

def limit(gib):
    used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + (gib << 30), resource.RLIM_INFINITY))

def attempt(make):
    try:
        make()
        print("made")
    except MemoryError as e:
        print("MemoryError", e)
"""

    def test_too_little(self):
        """What does not fit into memory is a MemoryError: the library never ends the interpreter."""
        found = run(self.LIMIT + """
limit(4)
attempt(lambda: moonfarm.make_vec("towerdefence", 10_000_000, opponent="random"))
attempt(lambda: moonfarm.make_vec("codecraft", 20_000, obs=("key",), memory=True))
attempt(lambda: moonfarm.make_vec("terminal", 200_000, form="orders", obs=("key",)))
attempt(lambda: moonfarm.make_vec("tron", 2**31 - 1, obs=("key",)))
attempt(lambda: [moonfarm.make_vec("codecraft", 1000, opponent="random", obs=("key",)) for _ in range(99)])
few = moonfarm.make_vec("tron", 100_000, opponent="random")
few.reset(seed=1)
few.step(np.zeros(100_000, np.int32))
print("alive")
""")
        lines = found.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["MemoryError"] * 5 + ["alive"], found)
        for line in lines[:4]:
            self.assertRegex(line, r"num_envs is \d+: making the games needs \d+ MiB of memory, the (limit of|machine has)")

    def test_loading(self):
        """Without room for the library's addresses it is not loaded."""
        self.assertIn("MemoryError moonfarm: loading the library", run(self.LIMIT + "limit(1); attempt(moonfarm.games)"))


class Loading(unittest.TestCase):
    def test_import_is_small(self):
        loaded = run("import sys, moonfarm; print(*sys.modules); print('library:', moonfarm.library.Process.library)")
        for name in ("gymnasium", "pettingzoo", "torch", "pyarrow", "h5py"):
            self.assertNotIn(f" {name} ", loaded)
        self.assertIn("library: None", loaded)

    def test_sizes(self):
        lib = library.library()
        for name, struct in library._structs.items():
            lib._check_size(name, struct)
        with self.assertRaisesRegex(ImportError, "mf_error has 1024 bytes in .* and 108 in this package: build"):
            lib._check_size("mf_error", library.CSpec if ctypes.sizeof(library.CSpec) == 108 else ctypes.c_char * 108)

    @unittest.skipUnless(HEADER.exists(), "the package is not in a clone")
    def test_structs_are_those_of_the_header(self):
        text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
        self.assertIn(f"#define MF_ABI {library.ABI}", text)
        for name, struct in library._structs.items():
            body = re.search(r"typedef struct \{([^}]*)\} " + name + ";", text).group(1)
            fields = re.findall(r"(\w+)(?:\[\d+\])?\s*[,;]", body)
            self.assertEqual(fields, [f[0] for f in struct._fields_], name)

    def test_the_library_is_missing_or_another(self):
        out = run("import moonfarm; moonfarm.games()", MOONFARM_LIBRARY="/nowhere/lib.so")
        self.assertIn("ImportError: moonfarm: the library /nowhere/lib.so is not there. Build it with Go and gcc", out)
        out = run("import moonfarm; moonfarm.games()", MOONFARM_LIBRARY=__file__)
        self.assertRegex(out, "ImportError: moonfarm: .*test_library.py cannot be loaded")
        abi = library.ABI
        with mock.patch.object(library, "ABI", 99), self.assertRaisesRegex(
            ImportError, f"has ABI {abi}, this package needs 99",
        ):
            library.Library(library.library().file)

    def test_version(self):
        self.assertEqual(moonfarm.__version__, library.library().version)

    def test_names_for_gymnasium(self):
        self.assertEqual(set(registration.GAMES.values()), {game["name"] for game in moonfarm.games()})

    def test_errors(self):
        lib, made_up = library.library(), ctypes.c_uint64(12345678901)
        with self.assertRaises(moonfarm.HandleError):
            lib.call("mf_step", made_up)
        self.assertTrue(issubclass(moonfarm.ArgumentError, ValueError) and issubclass(moonfarm.WaitError, TimeoutError))


class Registration(unittest.TestCase):
    """With a fake module gymnasium."""

    STUB = """
import sys, types, importlib.machinery
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in ("gymnasium", "gymnasium.envs", "gymnasium.envs.registration"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec): return None
    def exec_module(self, module):
        if module.__name__ == "gymnasium.envs.registration":
            module.registry = {}
            module.register = lambda id, **rest: module.registry.__setitem__(id, rest)
"""

    def test_before_and_after(self):
        show = "from gymnasium.envs.registration import registry; print(*registry)"
        for order in ("import moonfarm; import gymnasium", "import gymnasium.envs.registration; import moonfarm"):
            code = self.STUB + "import importlib.machinery as m\nm.PathFinder.find_spec = Finder().find_spec\n"
            out = run(code.replace("m.PathFinder", "old = m.PathFinder.find_spec\nm.PathFinder").replace(
                "= Finder().find_spec", "= staticmethod(lambda *a: Finder().find_spec(*a) or old(*a))"
            ) + order + "\n" + show)  # fmt: skip
            self.assertEqual(out.split(), [f"moonfarm/{name}-v0" for name in registration.GAMES], out)


def _child_steps(queue):
    env = moonfarm.make_vec("tron", 2, opponent="safe")
    env.reset(seed=1)
    queue.put(env.step([0, 0])[0]["scalars"].tolist())


class Processes(unittest.TestCase):
    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        """A forked child gets an error from every call and can end."""
        env = moonfarm.make_vec("tron", 2, opponent="safe")
        single, function = moonfarm.make_env("tron"), moonfarm.make_vec("tron", 2, opponent=lambda obs, infos: [0, 0])
        for e in (env, single, function):
            e.reset(seed=1)
        calls = [
            lambda: env.step([0, 0]), env.reset, env.get_state, env.recv, lambda: env.send([0, 0]), env.text,
            lambda: single.step(0), single.reset, lambda: env.ask("safe"), lambda: function.step([0, 0]), moonfarm.games,
            lambda: moonfarm.make_vec("tron"), lambda: library.library(),
        ]  # fmt: skip
        child = os.fork()
        if child == 0:
            good = 0
            for call in calls:
                try:
                    call()
                except RuntimeError as e:
                    good += 'multiprocessing.get_context("spawn")' in str(e)
            env.close()
            del env, single, function
            gc.collect()
            os._exit(good)
        self.assertEqual(self.status(child), len(calls))
        env.step([0, 0])  # the parent goes on

    def status(self, child):
        """Returns the exit status of a child, which is killed if it hangs."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return self.fail("the child hangs")

    def test_spawn(self):
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        child = context.Process(target=_child_steps, args=(queue,))
        child.start()
        try:
            self.assertEqual(queue.get(timeout=60), [[1], [1]])
        finally:
            child.join(60)

    @unittest.skipUnless(hasattr(signal, "raise_signal") and os.name == "posix", "there are no such signals")
    def test_ctrl_c_ends_recv(self):
        """A long wait for a block ends with KeyboardInterrupt."""
        out = run(INTERRUPTS + """
import os, signal, threading, time, moonfarm
from moonfarm import library
env = moonfarm.make_vec("tron", 2, opponent="safe", batch_size=1)
env.reset(seed=1)
call, waits = env._lib.call, []
def busy(name, *arguments):  # as if every block took long
    if name == "mf_recv":
        waits.append(arguments[1])
        if len(waits) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(arguments[1] / 1000)
        raise library.WaitError("nothing yet")
    call(name, *arguments)
env._lib.call = busy
env.send([0, 0])
try:
    env.recv()
except KeyboardInterrupt:
    print("interrupted", max(waits))
del env._lib.call
env.recv(); env.recv()
print(env.step([0, 0])[0]["scalars"].tolist())
""")
        self.assertEqual(out.splitlines(), ["interrupted 100", "[[2.0], [2.0]]"])

    @unittest.skipUnless(os.name == "posix", "there are no such signals")
    def test_ctrl_c_between_steps(self):
        out = run(INTERRUPTS + """
import os, signal, threading, moonfarm
env = moonfarm.make_vec("tron", 64, opponent="safe")
env.reset(seed=1)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        env.step([0] * 64)
except KeyboardInterrupt:
    print("interrupted", env.step([0] * 64)[1].shape)
""")
        self.assertEqual(out.split("\n")[0], "interrupted (64,)")

    def test_threads(self):
        """Environments step in parallel threads, and calls of one environment wait for each other."""
        env = moonfarm.make_vec("towerdefence", 8, opponent="econ", max_turns=50)
        env.reset(seed=1)
        failures = []

        def work(own):
            try:
                for _ in range(50):
                    own.step(np.zeros(own.num_envs, np.int32))
                    env.action_masks()
                    env.get_state(0)
            except Exception as e:
                failures.append(e)

        envs = [moonfarm.make_vec("towerdefence", 8, opponent="econ", max_turns=50) for _ in range(3)]
        for e in envs:
            e.reset(seed=1)
        threads = [threading.Thread(target=work, args=(e,)) for e in [*envs, env]]
        for t in threads:
            t.start()
        for t in threads:
            t.join(120)
        self.assertEqual(failures, [])


class Loaders(unittest.TestCase):
    def test_data_loader(self):
        """Workers of a DataLoader: forked ones get the error, spawned ones work; neither hangs."""
        code = """
import torch, moonfarm, sys
if {used}:
    env = moonfarm.make_vec("tron", 2, opponent="safe")
    env.reset(seed=1)
class Steps(torch.utils.data.IterableDataset):
    def __iter__(self):
        env = moonfarm.make_vec("tron", 2, opponent="safe")
        env.reset(seed=1)
        for _ in range(3):
            yield env.step([0, 0])[0]["scalars"]
try:
    print(len(list(torch.utils.data.DataLoader(Steps(), num_workers=2, timeout=60, batch_size=None))))
except RuntimeError as e:
    print("get_context" in str(e))
"""
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("torch is not installed")
        self.assertEqual(run(code.format(used=True)).split()[-1:], ["True"])
        self.assertEqual(run(code.format(used=False)).split()[-1:], ["6"])


class Registration(unittest.TestCase):
    def test_who_looks_for_gymnasium_does_not_import_it(self):
        """importlib.util.find_spec, which packages use to see what is installed, does not register the games."""
        program = """
import importlib.util
import moonfarm
importlib.util.find_spec("gymnasium")
from gymnasium.envs import registration
print(sorted(registration.registry))
"""
        with tempfile.TemporaryDirectory() as folder:
            stand_in = Path(folder) / "gymnasium" / "envs"
            stand_in.mkdir(parents=True)
            for package in (stand_in.parent, stand_in):
                (package / "__init__.py").write_text("")
            (stand_in / "registration.py").write_text("registry = {}\ndef register(id, **_): registry[id] = 1\n")
            path = os.pathsep.join([folder, str(Path(__file__).parents[1])])
            done = subprocess.run(
                [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
            )  # fmt: skip
        self.assertIn("moonfarm/Tron-v0", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
