"""The build backend with fake tools: its messages where something is missing, and its wheels."""

import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile
from pathlib import Path
from unittest import mock

FOLDER = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER / "_backend"))

import moonfarm_build as backend  # noqa: E402


class Tools(unittest.TestCase):
    def tools(self, **scripts):
        """Returns a PATH with only these scripts."""
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        folder = Path(made.name)
        for name, text in scripts.items():
            (folder / name).write_text("#!/bin/sh\n" + text)
            (folder / name).chmod(0o755)
        return mock.patch.dict(os.environ, {"PATH": str(folder)})


class Missing(Tools):
    def refused(self, text, **scripts):
        with self.tools(**scripts), self.assertRaisesRegex(backend.BuildError, text):
            backend.check_tools()

    def test_what_is_missing(self):
        self.refused(r"Go is missing: install Go 1\.\d+(\.\d+)? or newer")
        self.refused("Go is too old: go1.18.1; install Go 1", go='echo go1.18.1')
        self.refused("Go does not run here.*\n.*toolchain not available", go='echo toolchain not available >&2; exit 1')
        self.refused("the C compiler gcc is missing", go='if [ $2 = CC ]; then echo gcc; else echo go1.99.1; fi')
        with self.tools(go='if [ $2 = CC ]; then echo gcc; else echo devel; fi', gcc=""):
            backend.check_tools()

    def test_a_command_that_is_said_as_a_line(self):
        with self.tools():
            done = subprocess.run([sys.executable, FOLDER / "build.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^moonfarm: Go is missing")


# A Go that says which packages it compiles, and writes a file, which needs what is in NEEDS.
BUILDS = """case $2 in GOVERSION) echo go1.99.1;; CC) echo gcc;; GOOS) echo ${GOOS:-linux}; echo ${GOARCH:-amd64};; *)
echo moonfarm/sim >&2; echo moonfarm/cmd/libmoonfarm >&2
while [ "$1" != -o ]; do shift; done; echo "a file$NEEDS" >"$2";; esac"""


class Building(Tools):
    """Runs build with a Go that is a script."""

    def build(self, go):
        """Returns the messages, and the error if there is one."""
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, self.tools(gcc="", go=go), mock.patch.object(
            backend, "SECONDS", 0
        ), contextlib.redirect_stderr(said):
            try:
                built = backend.build(Path(folder))
            except backend.BuildError as e:
                return said.getvalue(), str(e)
            self.assertEqual([path.read_text() for path in built], ["a file\n", "a file\n"])
        return said.getvalue(), None

    def test_what_is_done_is_said(self):
        said, error = self.build(BUILDS)
        self.assertIsNone(error)
        lines = said.splitlines()
        self.assertEqual(lines[0], "moonfarm: building with go1.99.1 and gcc")
        self.assertRegex(lines[1], "^moonfarm: go build -buildmode=c-shared .*/cmd/libmoonfarm .*takes a minute")
        self.assertEqual(lines[3], "moonfarm: 2 packages compiled, now moonfarm/cmd/libmoonfarm")
        self.assertRegex(lines[-3], r"^moonfarm: .*libmoonfarm.* is built, 0 MiB$")
        self.assertRegex(lines[-2], r"^moonfarm: .*bin.moonfarm is built, 0 MiB$")
        self.assertRegex(lines[-1], r"^moonfarm: after \d+ s$")

    def test_what_go_says_is_in_the_error(self):
        said, error = self.build("case $2 in GOVERSION) echo go1.99.1;; CC) echo gcc;; GOOS) echo linux amd64;; *) echo moonfarm/sim; echo 'x.go:1: bad' >&2; exit 1;; esac")
        self.assertRegex(error, "(?s)cannot be built: go build .* says\nx.go:1: bad$")


@unittest.skipIf(sys.platform == "win32", "Windows starts no scripts")
class Wheels(Tools):
    def made(self, build, **environment):
        """Returns the files of a wheel, the names of the programs among them, and its own name."""
        with tempfile.TemporaryDirectory() as out, self.tools(gcc="", go=BUILDS), mock.patch.dict(os.environ, environment), contextlib.redirect_stderr(io.StringIO()):
            with zipfile.ZipFile(Path(out) / build(out)) as wheel:
                programs = [info.filename for info in wheel.infolist() if info.external_attr >> 16 & 0o111]
                return {name: wheel.read(name) for name in wheel.namelist()}, programs, Path(wheel.filename).name

    def test_platforms(self):
        """A wheel of each platform has its tag, and its programs by their names there."""
        for goos, goarch, needs, tag, names in (
            ("linux", "amd64", "GLIBC_2.9 GLIBC_2.17 GLIBC_2.4", "manylinux_2_17_x86_64", ["bin/moonfarm", "libmoonfarm.so"]),
            ("linux", "arm64", "", "linux_aarch64", ["bin/moonfarm", "libmoonfarm.so"]),
            ("windows", "amd64", "", "win_amd64", ["bin/moonfarm.exe", "moonfarm.dll"]),
            ("darwin", "arm64", "", "macosx_12_0_arm64", ["bin/moonfarm", "libmoonfarm.dylib"]),
        ):
            files, programs, name = self.made(backend.build_wheel, GOOS=goos, GOARCH=goarch, NEEDS=needs)
            self.assertEqual(name, f"moonfarm-{backend.version()}-py3-none-{tag}.whl")
            self.assertEqual(programs, ["moonfarm/" + program for program in names])
            self.assertIn(f"\nTag: py3-none-{tag}\n".encode(), files[f"moonfarm-{backend.version()}.dist-info/WHEEL"])

    def test_wheel(self):
        files, _, _ = self.made(backend.build_wheel)
        info = f"moonfarm-{backend.version()}.dist-info/"
        self.assertEqual({files["moonfarm/libmoonfarm.so"], files["moonfarm/bin/moonfarm"]}, {b"a file\n"})
        self.assertIn(b"\nDescription-Content-Type: text/markdown\n\n# The Python package\n", files[info + "METADATA"])
        self.assertIn(b"\nCopyright 2009 The Go Authors.\n", files[info + "licenses/THIRD_PARTY_NOTICES"])
        self.assertIn(b"[console_scripts]\nmoonfarm = moonfarm_command:main\n", files[info + "entry_points.txt"])
        for path in ("moonfarm_command.py", "moonfarm/__init__.py", "moonfarm/py.typed", info + "METADATA", info + "WHEEL"):
            self.assertIn(path, files)
        self.assertIn(b"[gymnasium.envs]\n__root__ = moonfarm.registration:register", files[info + "entry_points.txt"])
        record = files[info + "RECORD"].decode().splitlines()
        self.assertEqual({line.split(",")[0] for line in record}, set(files))

    def test_editable(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(backend, "PACKAGE", Path(folder)):
            (Path(folder) / "version.py").write_text('__version__ = "1.2.3"')
            files, programs, _ = self.made(backend.build_editable)
            self.assertTrue((Path(folder) / "bin" / "moonfarm").exists())
        self.assertEqual(files["moonfarm_editable.pth"].decode().strip(), str(FOLDER))
        self.assertFalse(programs or any(name.startswith("moonfarm/") for name in files))

    def test_no_source_distribution(self):
        with self.assertRaisesRegex(backend.UnsupportedOperation, "install from a clone"):
            backend.build_sdist("x")


STEPS = """
import moonfarm, numpy
envs = moonfarm.make_vec("towerdefence", 2, opponent="econ")
obs, infos = envs.reset(seed=1)
for _ in range(3):
    obs, rewards, *_ = envs.step(envs.action_masks(infos["mask"]).argmax(axis=1))
print(moonfarm.__file__, moonfarm.__version__, obs["planes"].shape[0])
"""


class Installing(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("pip") is None, "left out: there is no pip")
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go")
    def test_wheel_in_an_empty_environment(self):
        """pip builds a wheel and installs it into a new environment without the network; games are stepped."""
        numpy = str(Path(importlib.util.find_spec("numpy").origin).parent.parent)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MOONFARM"))}
        with tempfile.TemporaryDirectory() as out:
            wheels, new = Path(out) / "wheels", Path(out) / "venv"
            pip = [sys.executable, "-m", "pip"]
            options = ["--no-index", "--no-deps", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, "wheel", *options, "--wheel-dir", wheels, FOLDER], check=True, capture_output=True)
            (wheel,) = wheels.iterdir()
            venv.EnvBuilder(with_pip=False).create(new)
            (python,) = [*new.glob("bin/python3"), *new.glob("Scripts/python.exe")]
            paths = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
            packages = subprocess.run(paths, env=environment, capture_output=True, text=True, check=True).stdout.strip()
            subprocess.run([*pip, "install", *options, "--target", packages, wheel], check=True, capture_output=True)
            (Path(packages) / "numpy_of_the_tests.pth").write_text(f"{numpy}\n")
            done = subprocess.run([python, "-c", STEPS], env=environment, capture_output=True, text=True, cwd=out)
            self.assertEqual(done.returncode, 0, done.stderr)
            file, version, rows = done.stdout.split()
            self.assertEqual(Path(file).resolve(), Path(packages).resolve() / "moonfarm" / "__init__.py")
            self.assertEqual(version, backend.version())
            self.assertEqual(rows, "2")
            data = Path(out) / "td"
            for command in [
                [python, "-m", "moonfarm", "generate", "towerdefence", "--episodes", "2", "--seed", "1", "--out", data],
                [python, "-m", "moonfarm", "export", data, "--format", "npz", "--out", Path(out) / "td.npz"],
                [python, "-m", "moonfarm", "eval", "towerdefence", "--players", "econ,random", "--games", "2"],
            ]:
                done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=out)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
