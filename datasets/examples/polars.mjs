// Reads a dataset with Polars for Node (Rust underneath).
//
//   npm install --no-save nodejs-polars       (and, if npm leaves it out, nodejs-polars-linux-x64-gnu)
//   node polars.mjs DIR
//
// Polars refuses datasets that were made with --tensor-metadata extension, as was the default up to
// moonfarm 0.3.0. The manifest has the shapes.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pl from "nodejs-polars";

const dir = process.argv[2];
if (!dir) {
  console.error("usage: node polars.mjs DIR");
  process.exit(2);
}
const manifest = JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8"));
const read = (path) => pl.readIPC(readFileSync(join(dir, path)));

const planes = createHash("sha256");
const file = (table, shard) => join(table, String(shard).padStart(5, "0") + ".arrow");
for (let shard = 0; shard < manifest.totals.shards; shard++) {
  const steps = read(file("steps", shard));
  if (steps.columns.includes("planes")) {
    planes.update(Uint8Array.from(steps.getColumn("planes").explode().toTypedArray()));
  }
}
console.log(`steps.planes ${planes.digest("hex")}`);

const steps = read(file("steps", 0));
const episodes = read(file("episodes", 0));
console.log(episodes.select("episode", "policies", "turns", "results", "scores").head(5).toString());
console.log(steps.groupBy("seat").agg(pl.col("return").mean(), pl.col("reward").sum(), pl.len().alias("rows")).sort("seat").toString());
