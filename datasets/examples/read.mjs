// Reads a dataset with Apache Arrow's JavaScript library.
//
//   npm install
//   node read.mjs DIR
//
// It reads every column of every shard and prints the sha256 of the values of
// each over all shards: the same sums as `moonfarm inspect --sums DIR`, and as
// ColumnSHA256 of the Go package. Then it shows the first step as tensors.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CompressionType, compressionRegistry, tableFromIPC, Type } from "apache-arrow";
import { decompress } from "fzstd";

// The library brings no codecs. fzstd is a zstd decoder in plain JavaScript; its
// results can lie anywhere in a buffer, the library wants them aligned.
compressionRegistry.set(CompressionType.ZSTD, { decode: (frame) => decompress(frame).slice() });

const dir = process.argv[2];
if (!dir) {
  console.error("usage: node read.mjs DIR");
  process.exit(2);
}
const manifest = JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8"));

// values returns the values of one batch of a column as one array.
function values(data) {
  switch (data.typeId) {
    case Type.FixedSizeList:
      return values(data.children[0]);
    case Type.List:
      return values(data.children[0]).subarray(0, data.valueOffsets[data.length]);
    case Type.Utf8:
      return data.values.subarray(0, data.valueOffsets[data.length]);
    case Type.Bool: // one bit each; the sums are of bytes
      return Uint8Array.from({ length: data.length }, (_, i) => (data.values[i >> 3] >> (i & 7)) & 1);
    default:
      return data.values.subarray(0, data.length);
  }
}

let first;
for (const name of ["steps", "episodes"]) {
  const columns = manifest[name].columns.map((c) => c.name);
  const sums = columns.map(() => createHash("sha256"));
  let rows = 0;
  for (const shard of manifest.shards) {
    const table = tableFromIPC(readFileSync(join(dir, shard[name].path)));
    if (table.numRows !== shard[name].rows) throw new Error(`${shard[name].path}: ${table.numRows} rows`);
    first ??= table;
    rows += table.numRows;
    columns.forEach((column, i) => {
      for (const data of table.getChild(column).data) {
        const v = values(data);
        sums[i].update(new Uint8Array(v.buffer, v.byteOffset, v.byteLength));
      }
    });
  }
  console.log(`${name} ${rows}`);
  columns.forEach((column, i) => console.log(`${name}.${column} ${sums[i].digest("hex")}`));
}

// A tensor column has one long array per batch; its shape is in the manifest
// and in the metadata of the field.
for (const c of manifest.steps.columns.filter((c) => c.tensor)) {
  const size = c.shape.reduce((a, b) => a * b, 1);
  const row = values(first.getChild(c.name).data[0]).subarray(0, size);
  console.log(`# first step: ${c.name} ${c.type} [${c.shape}] = ${row.slice(0, 16).join(" ")}${size > 16 ? " …" : ""}`);
}
