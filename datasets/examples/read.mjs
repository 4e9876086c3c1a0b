// Reads a dataset with Apache Arrow's JavaScript library.
//
//   npm install
//   node read.mjs DIR
//
// It reads every column of every shard and prints the sha256 of each column's values
// over all shards: the same sums as `moonfarm inspect --sums DIR` and ColumnSHA256 of
// the Go package. Then it lists the episodes for validation, with a tenth of the games
// for it, unpacks the planes of packed observations, and shows the first step as
// tensors.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CompressionType, compressionRegistry, tableFromIPC, Type } from "apache-arrow";
import { decompress } from "fzstd";
import { inValidation, unpacker } from "./moonfarm.mjs";

// The library has no codecs. fzstd is a zstd decoder in plain JavaScript; it does not
// align its results in their buffers, which the library needs.
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
    case Type.Bool: // one bit each; the sums are over bytes
      return Uint8Array.from({ length: data.length }, (_, i) => (data.values[i >> 3] >> (i & 7)) & 1);
    default:
      return data.values.subarray(0, data.length);
  }
}

let first;
const validation = [];
const planes = createHash("sha256");
const o = manifest.observation;
const unpack = o.form === "packed" && unpacker(o);
for (const name of ["steps", "episodes", "finals"].filter((name) => manifest[name])) {
  const columns = manifest[name].columns.map((c) => c.name);
  const sums = columns.map(() => createHash("sha256"));
  let rows = 0;
  for (let shard = 0; shard < manifest.totals.shards; shard++) {
    const table = tableFromIPC(readFileSync(join(dir, name, String(shard).padStart(5, "0") + ".arrow")));
    first ??= table;
    rows += table.numRows;
    if (name === "episodes") {
      const games = table.getChild("game");
      [...table.getChild("episode")].forEach((id, i) => inValidation(games.get(i), 0.1) && validation.push(id));
    } else if (unpack && name === "steps") {
      const row = new Uint8Array(o.planes * o.height * o.width);
      for (const data of table.getChild("packed").data) {
        const words = values(data);
        for (let i = 0; i < data.length; i++) {
          unpack(row, words.subarray(i * o.words, (i + 1) * o.words));
          planes.update(row);
        }
      }
    }
    columns.forEach((column, i) => {
      for (const data of table.getChild(column).data) {
        const v = values(data);
        sums[i].update(new Uint8Array(v.buffer, v.byteOffset, v.byteLength));
      }
    });
  }
  const { rows: steps, episodes } = manifest.totals;
  const all = { steps, episodes, finals: episodes * manifest.game.players }[name];
  if (rows !== all) throw new Error(`${rows} rows of ${name}, the manifest says ${all}`);
  console.log(`${name} ${rows}`);
  columns.forEach((column, i) => console.log(`${name}.${column} ${sums[i].digest("hex")}`));
}

console.log(`# validation ${validation.join(" ")}`);
if (unpack) console.log(`# unpacked ${planes.digest("hex")}`);

// A tensor column has one long array per batch; its shape is in the manifest
// and in the metadata of the field.
for (const c of manifest.steps.columns.filter((c) => c.tensor)) {
  const size = c.shape.reduce((a, b) => a * b, 1);
  const row = values(first.getChild(c.name).data[0]).subarray(0, size);
  console.log(`# first step: ${c.name} ${c.type} [${c.shape}] = ${row.slice(0, 16).join(" ")}${size > 16 ? " …" : ""}`);
}
