"""Datasets in other formats: the rows to write, and files that appear only when they are complete."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .reading import TYPES, Batch, Reader, one_of, rows_in

if TYPE_CHECKING:
    from .dataset import Dataset

FORMATS = ("parquet", "npz", "minari")

# Called with the number of rows done and the number of all rows.
Progress = Callable[[int, int], None]

_BATCH_BYTES = 16 << 20  # about the size of a batch of rows, and of a row group of a Parquet file

# Arguments of batches() that select rows; the others do not affect their number.
WHICH = ("split", "validation", "test", "part", "parts", "policy", "seat", "chosen", "outcome", "opening")


def export(
    ds: Dataset, out: str | os.PathLike[str], to: str, *, force: bool = False, progress: Progress | None = None, **options: Any
) -> dict[str, Any]:
    """Writes rows of a dataset in the format `to`; returns the numbers of rows and episodes, and the columns.

    out: the file, or the folder of Minari. force: replace an existing file. options are those of
    Dataset.batches except size and copy, and `planes` for Parquet; for Minari those of Dataset.episodes.
    """
    out = Path(out)
    refusal = refuse(out, one_of("format", to, FORMATS), force)
    if refusal is not None:
        raise FileExistsError(refusal)
    if to == "minari":
        from . import minari

        return minari.export(ds, out, progress=progress, force=force, **options)
    if to == "parquet":
        from . import parquet

        write: Callable[..., Source] = parquet.write
    else:
        from . import npz

        write = npz.write
    with whole(out) as part:
        source = write(ds, part, progress, options)
    return {"rows": source.rows, "episodes": 0, "columns": list(source.columns)}


def refuse(out: Path, to: str, force: bool) -> str | None:
    """Returns why the path cannot be written; None if it can."""
    if not os.path.lexists(out):
        return None
    if not force:
        return f"{out}: it is there already"
    if to == "minari" and not (out / "data" / "main_data.hdf5").is_file():
        return f"{out}: it is no dataset of Minari, and is not replaced"
    if to != "minari" and out.is_dir():
        return f"{out}: expected the name of a file, found a folder"
    return None


def beside(path: Path) -> Path:
    """Returns a new path in the same folder, which no other process has."""
    return path.with_name(f".moonfarm-{secrets.token_hex(8)}.part")


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields the path of an empty file to write to: it gets the final name when complete, or is removed.

    A link is followed, the mode of an existing file is kept, and what is not a regular file, such as a
    pipe, gets the contents.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    into = path.exists() and not path.is_file()
    part = beside(Path(tempfile.gettempdir(), path.name) if into else path)
    try:
        part.touch(exist_ok=False)
        yield part
        if into:
            with part.open("rb") as written, path.open("wb") as to:
                shutil.copyfileobj(written, to)
            return
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


class Source:
    """The rows to write: an iterator of batches, each valid until the next one.

    columns: the description of each in Reader.columns. rows: the number of rows.
    lists: keep search_policy and search_choices as lists, as in the files.
    """

    def __init__(self, ds: Dataset, options: dict[str, Any], *, lists: bool) -> None:
        self._ds, self._lists, self._options = ds, lists, options
        self.columns = self._columns()
        if lists and options.get("columns") is None:  # batches() leaves orders out unless they are named
            self._options = {**options, "columns": [*self.columns, "orders"]}
            self.columns = self._columns()
        which = {n: options[n] for n in WHICH if options.get(n) is not None}
        self.rows = len(ds)
        if which:
            self.rows = sum(rows_in(b) for b in ds.batches(1 << 16, columns=["seat"], copy=False, play=False, **which))

    def _open(self, size: int) -> Reader:
        """Begins to read."""
        reader = self._ds.batches(size, copy=False, **self._options)
        return reader.as_lists() if self._lists else reader

    def _columns(self) -> dict[str, dict[str, Any]]:
        """The columns that are wanted."""
        reader = self._open(1)
        reader.close()
        wanted = self._options.get("columns")
        return {n: c for n, c in reader.columns.items() if wanted is None or n in wanted}

    def without_lists(self) -> None:
        """Leaves out the columns that are lists."""
        self.columns = {n: c for n, c in self.columns.items() if not c["list"]}
        self._options = {**self._options, "columns": list(self.columns)}

    def batches(self, progress: Progress | None) -> Iterator[Batch]:
        """Yields all rows. RuntimeError: there are more or fewer than `rows`."""
        width = 1 + sum(values(c) * np.dtype(TYPES[c["type"]]).itemsize for c in self.columns.values() if not c["list"])
        done = 0
        reader = self._open(min(max(_BATCH_BYTES // width, 64), 1 << 16))
        try:
            for batch in reader:
                yield batch
                done += rows_in(batch)
                if progress is not None:
                    progress(done, self.rows)
        finally:
            reader.close()
        if done != self.rows:
            raise RuntimeError(f"found {done} rows, expected {self.rows}")


def values(column: dict[str, Any]) -> int:
    """Returns the number of values in a row of a column that is not a list."""
    return math.prod(column["shape"])
