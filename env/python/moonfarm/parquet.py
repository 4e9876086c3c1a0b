"""Rows as a Parquet file, written by pyarrow."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .exporting import Progress, Source, values
from .reading import Batch, list_ends, one_of

if TYPE_CHECKING:
    from .dataset import Dataset

# How the tensors of bytes (planes) are stored.
PLANES = ("list", "bytes")


def write(ds: Dataset, file: Path, progress: Progress | None, options: dict[str, Any]) -> Source:
    """Writes a Parquet file, compressed with zstd. Its metadata has moonfarm.columns and moonfarm.manifest, as JSON.

    A tensor is a list of its values, row-major, whose shape is in moonfarm.columns and, for pyarrow, in
    moonfarm.shape of the metadata of its field. With options["planes"] "bytes" planes are the bytes of all
    cells, a FIXED_LEN_BYTE_ARRAY, which pyarrow writes in a sixth of the time, because Parquet stores each
    value of a list in 32 bits. No column has nulls.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as e:
        raise ImportError(f"Parquet files are written by pyarrow, which is not installed: python3 -m pip install pyarrow ({e})") from e
    options = dict(options)
    lists = one_of("planes", options.pop("planes", "list"), PLANES) == "list"
    source = Source(ds, options, lists=True)
    types = {name: _type(pa, c, lists) for name, c in source.columns.items()}
    shapes = {name: {"moonfarm.shape": json.dumps(c["shape"], separators=(",", ":"))} for name, c in source.columns.items() if c["shape"]}
    schema = pa.schema([pa.field(name, t, nullable=False, metadata=shapes.get(name)) for name, t in types.items()], _metadata(ds, source))
    single = [name for name, c in source.columns.items() if not c["list"] and not c["shape"]]
    # Dictionaries make these files larger and slower to write. Statistics of lists or boards are useless.
    writer = pq.ParquetWriter(str(file), schema, compression="zstd", use_dictionary=False, write_statistics=single or False)
    try:
        for batch in source.batches(progress):
            ends = list_ends(batch)
            arrays = [_array(pa, t, batch, name, ends.get(name)) for name, t in types.items()]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=1 << 20)
        writer.close()
    except BaseException:
        with contextlib.suppress(Exception):
            writer.close()
        raise
    return source


def _metadata(ds: Dataset, source: Source) -> dict[str, str]:
    """Returns the metadata of the file."""
    known = {c["name"]: c for c in ds.metadata["steps"]["columns"]}
    columns = [known.get(name, {key: x for key, x in c.items() if x or key == "doc"}) for name, c in source.columns.items()]
    texts = {"moonfarm.columns": columns, "moonfarm.manifest": ds.metadata}
    return {key: json.dumps(x, ensure_ascii=False, separators=(",", ":")) for key, x in texts.items()}


def _type(pa: Any, column: dict[str, Any], lists: bool) -> Any:
    """Returns the Arrow type of a column."""
    value = pa.bool_() if column["type"] == "bool" else pa.from_numpy_dtype(np.dtype(column["type"]))
    element = pa.field("element", value, nullable=False)
    if column["list"]:
        return pa.list_(element)
    if not column["shape"]:
        return value
    if column["type"] == "uint8" and not lists:
        return pa.binary(values(column))
    return pa.list_(element, values(column))


def _array(pa: Any, type_: Any, batch: Batch, name: str, ends: str | None) -> Any:
    """Returns a column of a batch as an Arrow array, without copying where possible."""
    array: NDArray[Any] = batch[name]
    if pa.types.is_fixed_size_binary(type_):
        return pa.Array.from_buffers(type_, len(array), [None, pa.py_buffer(array)])
    if ends is not None:
        bounds = batch[ends]
        return pa.Array.from_buffers(type_, len(bounds) - 1, [None, pa.py_buffer(bounds)], children=[pa.array(array)])
    if pa.types.is_fixed_size_list(type_):
        return pa.Array.from_buffers(type_, len(array), [None], children=[pa.array(array.reshape(-1))])
    return pa.array(array, type_)
