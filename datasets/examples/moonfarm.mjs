// Functions that a reader of datasets needs: which episodes are for validation,
// and the planes of packed observations. FORMAT.md defines both; the same
// functions are in moonfarm.py, and in Go ReadOptions.Split and
// features.Unpacker. This file imports nothing.

const G = 0x9e3779b97f4a7c15n;
const word = (x) => BigInt.asUintN(64, x);

function mix(x) {
  x = word(x);
  x = word((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n);
  x = word((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
  return x ^ (x >> 31n);
}

// inValidation returns whether an episode is for validation if that share of all
// games, 0 … 1, is. game, a BigInt, is from the column of that name, so that equal
// games are on one side.
export function inValidation(game, share) {
  let k = mix(G);
  k = mix((k ^ game) + G);
  k = mix(k + G);
  k = mix((k ^ 5n) + G);
  return Number(mix(k + G) >> 11n) * 2 ** -53 < share;
}

// unpacker returns a function that writes the planes of one packed observation,
// a Uint8Array [planes, height, width], from its words, a BigUint64Array [words].
// observation is from the manifest.
export function unpacker(observation) {
  const layout = observation.packed_layout;
  if (!layout) throw new Error("the manifest has no observation.packed_layout");
  const size = observation.height * observation.width;
  const lists = layout.cells.map((runs) =>
    Int32Array.from(runs.flatMap(({ first, step, count }) => Array.from({ length: count }, (_, i) => first + i * step))),
  );
  const parts = layout.parts.map((part) => ({ ...part, cells: lists[part.cells], in: part.if && new Set(part.if.in) }));
  return (planes, packed) => {
    const halves = new Uint32Array(packed.buffer, packed.byteOffset, 2 * packed.length);
    const number = ({ first, step, width }, k) => {
      const bit = first + k * step;
      return (halves[bit >> 5] >>> (bit & 31)) & ((1 << width) - 1);
    };
    const add = (part, k, cell) => {
      if (part.if && !part.in.has(number(part.if, k))) return;
      planes[part.plane * size + cell] += part.times * (part.number.width ? number(part.number, k) : 1);
    };
    planes.fill(0);
    for (const part of parts) {
      if (part.at) {
        const cell = part.cells[number(part.at, 0)];
        if (cell !== undefined) add(part, 0, cell);
      } else {
        for (let k = 0; k < part.cells.length; k++) add(part, k, part.cells[k]);
      }
    }
  };
}
