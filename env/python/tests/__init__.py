import atexit
import functools
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@functools.lru_cache(maxsize=None)
def program() -> Path:
    """Builds the command moonfarm, once for all tests."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    file = Path(folder.name) / "moonfarm"
    subprocess.run(["go", "build", "-o", file, "./cmd/moonfarm"], cwd=ROOT, check=True)
    return file
