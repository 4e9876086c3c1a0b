"""The build backend (PEP 517 and PEP 660): it builds the shared library and the command with Go and gcc, and zips wheels.

It uses only the standard library and downloads nothing. The Go sources are those of the
clone that this folder is in, so there are no source distributions. With GOOS, GOARCH and a
compiler as CC in the environment it makes the wheel of another platform.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
PACKAGE = HERE / "moonfarm"
ROOT = HERE.parent.parent

# The names of the library and the command in the package on other systems than Linux.
NAMES = {"darwin": ("libmoonfarm.dylib", "bin/moonfarm"), "windows": ("moonfarm.dll", "bin/moonfarm.exe")}

# The platforms of wheels by GOOS and GOARCH; on Linux the version of glibc comes before the machine.
PLATFORMS = {
    ("linux", "amd64"): "linux_x86_64", ("linux", "arm64"): "linux_aarch64",
    ("windows", "amd64"): "win_amd64", ("windows", "arm64"): "win_arm64",
    ("darwin", "amd64"): "macosx_12_0_x86_64", ("darwin", "arm64"): "macosx_12_0_arm64",
}  # fmt: skip

PYTHON = ">=3.9"
NUMPY = "numpy>=1.21"

SECONDS = 3.0  # between lines about the progress of a build


class BuildError(Exception):
    """A tool or file is missing; the text is for people."""


# The programs


def build(folder: Path = PACKAGE) -> list[Path]:
    """Builds the shared library and the command into a folder and returns their paths. It reports progress on stderr."""
    began = time.monotonic()
    say(check_tools())
    system = target()[0]
    library, command = NAMES.get(system, ("libmoonfarm.so", "bin/moonfarm"))
    # On Linux the mode pie compiles packages as c-shared does, so that the second build finds them compiled.
    mode = ["-buildmode=pie"] if system == "linux" else []
    (folder / command).parent.mkdir(exist_ok=True)
    built = [_build(["-buildmode=c-shared"], folder / library, "./cmd/libmoonfarm"), _build(mode, folder / command, "./cmd/moonfarm")]
    for path in built:
        say(f"{path} is built, {path.stat().st_size >> 20} MiB")
    say(f"after {time.monotonic() - began:.0f} s")
    return built


def _build(mode: list[str], out: Path, package: str) -> Path:
    made = out.with_name(f"{out.name}.{os.getpid()}")
    command = ["go", "build", *mode, "-trimpath", "-o", str(made), package]
    say(f"{' '.join(command)} (in {ROOT}); the first time takes a minute or more")
    try:
        done = _watched([*command[:2], "-v", *command[2:]])
        if done.returncode:
            raise BuildError(f"moonfarm: {package} cannot be built: {' '.join(command)} says\n{_said(done)}")
        os.replace(made, out)  # programs that have loaded the old file keep it
    finally:
        for left in (made, made.with_suffix(".h"), out.with_suffix(".h")):
            left.unlink(missing_ok=True)
    return out


def say(text: str) -> None:
    """Prints progress to stderr, as stdout is for programs."""
    print("moonfarm:", text, file=sys.stderr, flush=True)


def _watched(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command of Go with -v, which prints each package before compiling it, and reports their number."""
    told, packages, last = [], 0, time.monotonic()
    with subprocess.Popen(
        command, cwd=ROOT, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            if re.fullmatch(r"[\w./~+-]+\n", line):  # a package
                packages += 1
                if time.monotonic() - last >= SECONDS:
                    last = time.monotonic()
                    say(f"{packages} packages compiled, now {line.strip()}")
            else:
                told.append(line)
    return subprocess.CompletedProcess(command, process.wait(), "".join(told), "")


def check_tools() -> str:
    """Returns what the build uses; raises BuildError if the sources, a new enough Go or a C compiler are missing."""
    if not (ROOT / "cmd" / "libmoonfarm").is_dir():
        raise BuildError(f"moonfarm: {HERE} must lie in a clone of the project: the Go sources are not in {ROOT}")
    if shutil.which("go") is None:
        raise BuildError(
            f"moonfarm: Go is missing: install {needed_go()} or newer (https://go.dev/dl) and put go on PATH"
        )
    version = _run(["go", "env", "GOVERSION"])
    if version.returncode:
        raise BuildError(f"moonfarm: Go does not run here, {needed_go()} or newer is needed:\n{_said(version)}")
    found = version.stdout.strip()
    if _numbers(found) < _numbers(needed_go()):
        raise BuildError(f"moonfarm: Go is too old: {found}; install {needed_go()} or newer (https://go.dev/dl)")
    compiler = _run(["go", "env", "CC"]).stdout.split() or ["gcc"]
    if shutil.which(compiler[0]) is None:
        raise BuildError(
            f"moonfarm: the C compiler {compiler[0]} is missing: install gcc (Debian, Ubuntu: apt-get install gcc "
            "libc6-dev), or name another in the environment variable CC"
        )
    return f"building with {found} and {compiler[0]}"


def needed_go() -> str:
    """Returns the version of Go that go.mod requires, such as "Go 1.26.0"."""
    return "Go " + _find(r"^go (\S+)", ROOT / "go.mod")


def _find(pattern: str, file: Path) -> str:
    found = re.search(pattern, file.read_text(), re.MULTILINE)
    if found is None:
        raise BuildError(f"moonfarm: {file} has no line that is like {pattern}")
    return found.group(1)


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"[Gg]o ?(\d+)\.(\d+)(?:\.(\d+))?", version)
    # A version without numbers was built from Go's own sources: it is new.
    return tuple(int(n or 0) for n in found.groups()) if found else (99,)


def target() -> tuple[str, str]:
    """Returns the system and the architecture that Go builds for, by its names."""
    system, architecture = _run(["go", "env", "GOOS", "GOARCH"]).stdout.split()
    return system, architecture


def _environment() -> dict[str, str]:
    """Returns the environment of Go: the C compiler of macOS builds for the oldest release on which programs of Go run."""
    return {"MACOSX_DEPLOYMENT_TARGET": "12.0", **os.environ, "CGO_ENABLED": "1"}


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr + done.stdout).strip()


# The wheels


def version() -> str:
    """Returns the version of the package."""
    return _find(r'__version__ = "(.*)"', PACKAGE / "version.py")


CLASSIFIERS = (
    "Intended Audience :: Science/Research",
    "Operating System :: MacOS",
    "Operating System :: Microsoft :: Windows",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: Python :: 3",
    "Topic :: Scientific/Engineering :: Artificial Intelligence",
    "Typing :: Typed",
)


def _platform(programs: dict[str, bytes]) -> str:
    """Returns the platform of a wheel: on Linux that of the oldest glibc that the programs need (PEP 600)."""
    platform = PLATFORMS.get(target(), re.sub(r"[-.]", "_", sysconfig.get_platform()))
    needed = [tuple(map(int, found)) for data in programs.values() for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", data)]
    if not platform.startswith("linux_") or not needed:
        return platform
    major, minor = max(needed)
    return f"manylinux_{major}_{minor}_{platform[len('linux_'):]}"


def _texts(programs: dict[str, bytes]) -> tuple[str, dict[str, str]]:
    """Returns the tag of a wheel with these programs and the files of its .dist-info folder except its RECORD."""
    tag = "py3-none-" + _platform(programs)
    return tag, {
        "METADATA": (
            f"Metadata-Version: 2.1\nName: moonfarm\nVersion: {version()}\n"
            "Summary: Strategy games of old programming contests as environments for reinforcement learning\n"
            "Keywords: reinforcement learning,games,gymnasium,pettingzoo,self-play\n"
            + "".join(f"Classifier: {line}\n" for line in CLASSIFIERS)
            + f"Requires-Python: {PYTHON}\nRequires-Dist: {NUMPY}\nDescription-Content-Type: text/markdown\n\n"
            + (HERE / "README.md").read_text(encoding="utf-8")
        ),
        "licenses/THIRD_PARTY_NOTICES": (ROOT / "THIRD_PARTY_NOTICES").read_text(encoding="utf-8"),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: moonfarm_build\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": (
            "[console_scripts]\nmoonfarm = moonfarm_command:main\n"
            "[gymnasium.envs]\n__root__ = moonfarm.registration:register\n"
        ),
    }


def _wheel(folder: str, files: dict[str, bytes], programs: dict[str, bytes]) -> str:
    """Writes a wheel of files and programs, bytes by name, and returns its name."""
    tag, texts = _texts(programs)
    info = f"moonfarm-{version()}.dist-info/"
    files = {**files, **programs, **{info + name: text.encode() for name, text in texts.items()}}
    rows = []
    name = f"moonfarm-{version()}-{tag}.whl"
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if path in programs else 0o644)) << 16
            wheel.writestr(entry, data)

        for path, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(data)}\n")
            add(path, data)
        add(info + "RECORD", ("".join(rows) + info + "RECORD,,\n").encode())
    return name


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """PEP 517: builds a wheel with the library and the command in it."""
    with tempfile.TemporaryDirectory() as folder:
        programs = {f"moonfarm/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in _built(Path(folder))}
    files = {"moonfarm_command.py": (HERE / "moonfarm_command.py").read_bytes()}
    for path in PACKAGE.rglob("*"):
        if path.suffix == ".py" or path.name == "py.typed":
            files[path.relative_to(HERE).as_posix()] = path.read_bytes()
    return _wheel(wheel_directory, files, programs)


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """PEP 660: builds a wheel that points to this folder, in which it builds the library and the command."""
    _built(PACKAGE)
    return _wheel(wheel_directory, {"moonfarm_editable.pth": f"{HERE}\n".encode()}, {})


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """PEP 517: not possible."""
    raise UnsupportedOperation(
        "moonfarm: there are no source distributions: install from a clone (pip install ./env/python)"
    )


def _built(folder: Path) -> list[Path]:
    try:
        return build(folder)
    except BuildError as e:
        sys.exit(str(e))


class UnsupportedOperation(Exception):
    """The exception of build_sdist, with the name of PEP 517."""
