"""Rows as a compressed .npz file, which numpy.load reads."""

from __future__ import annotations

import contextlib
import gzip
import json
import tempfile
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .exporting import Progress, Source, values
from .reading import TYPES

if TYPE_CHECKING:
    from .dataset import Dataset

_format: Any = np.lib.format  # its functions have no types
_PIECE = 1 << 20  # bytes copied at once


def write(ds: Dataset, file: Path, progress: Progress | None, options: dict[str, Any]) -> Source:
    """Writes an array for each column, and "metadata", the manifest as JSON.

    The arrays are first written, lightly compressed, to unnamed files in the folder of the file,
    so that memory holds one batch of rows. ValueError: a column is a list, or there are no rows.
    """
    source = Source(ds, options, lists=False)
    lists = [name for name, c in source.columns.items() if c["list"]]
    if lists and options.get("columns") is not None:
        raise ValueError(f"columns: {', '.join(sorted(lists))} are lists, which .npz files do not have")
    source.without_lists()
    if not source.rows:
        raise ValueError("export: there are no rows of this split or part, or none that match")
    with contextlib.ExitStack() as stack:
        waiting: dict[str, IO[bytes]] = {}
        for name in source.columns:
            waiting[name] = stack.enter_context(tempfile.TemporaryFile(dir=file.parent, prefix=".moonfarm-export-"))
        _spill(source, waiting, progress)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            _collect(source, waiting, archive, progress)
            with archive.open("metadata.npy", "w") as to:
                _format.write_array(to, np.array(json.dumps(ds.metadata)))
    return source


def _spill(source: Source, waiting: dict[str, IO[bytes]], progress: Progress | None) -> None:
    """Writes the values of each column to a file of its own, which is about a quarter of the work."""

    def report(done: int, rows: int) -> None:
        if progress is not None:
            progress(done // 4, rows)

    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1)) for name, file in waiting.items()}
        for batch in source.batches(report):
            for name, file in files.items():
                file.write(batch[name].data)


def _collect(source: Source, waiting: dict[str, IO[bytes]], archive: zipfile.ZipFile, progress: Progress | None) -> None:
    """Copies the columns into the archive as arrays."""
    whole = sum(values(c) * np.dtype(TYPES[c["type"]]).itemsize for c in source.columns.values()) * source.rows
    done = 0
    for name, c in source.columns.items():
        head = {"descr": np.dtype(TYPES[c["type"]]).str, "fortran_order": False, "shape": (source.rows, *c["shape"])}
        waiting[name].seek(0)
        with archive.open(f"{name}.npy", "w", force_zip64=True) as to, gzip.GzipFile(fileobj=waiting[name], mode="rb") as column:
            _format.write_array_header_1_0(to, head)
            while piece := column.read(_PIECE):
                to.write(piece)
                done += len(piece)
                if progress is not None:
                    progress(source.rows * (whole + 3 * done) // (4 * whole), source.rows)
