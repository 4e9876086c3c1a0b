// This file reads and checks the data. Its texts and numbers come from files of strangers: texts
// become text nodes only, and numbers are checked here, once, so that the rest can rely on them.

const $ = (id) => document.getElementById(id);

// Bounds of what a page shows, so that broken data cannot fill the memory.
const most = { items: 20000, chunkItems: 4e6, frames: 4096, kinds: 1000, looks: 10000, stats: 64, marks: 5000, seats: 16, cells: 4096, bytes: 2 ** 28, chunks: 64, cached: 8e6 };

const number = (v, otherwise = 0) => (Number.isFinite(v) ? v : otherwise);
const whole = (v, least, greatest, otherwise = least) => (Number.isFinite(v) ? Math.min(Math.max(Math.round(v), least), greatest) : otherwise);
const listOf = (v, limit) => (Array.isArray(v) ? v.slice(0, limit) : []);

// text returns a text as one line without characters that steer the direction of writing.
function text(v, limit = 300) {
  const s = typeof v === "string" ? v : typeof v === "number" ? String(v) : "";
  return s.slice(0, limit).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ").replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "");
}

const seatLetter = (seat) => (seat < 0 ? "nobody" : String.fromCharCode(65 + seat));

// Missing is the error for data that nobody offers.
class Missing extends Error {}

const embedded = (() => {
  const node = $("moonfarm-data");
  if (!node) return null;
  try {
    return JSON.parse(node.textContent) ?? {};
  } catch {
    return {};
  }
})();

// offered reports whether a JSON file may be had. A server has all.
const offered = (name) => !embedded || Object.hasOwn(embedded, name);

// textOf returns the text of a stream of bytes, which has a limit.
async function textOf(stream, name) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let all = "";
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return all + decoder.decode();
    bytes += value.length;
    if (bytes > most.bytes) throw new Error(`${name} is too large`);
    all += decoder.decode(value, { stream: true });
  }
}

// load returns the value of a JSON file: of the data in the page, or else of the server.
async function load(name) {
  let body;
  if (embedded) {
    const packed = Object.hasOwn(embedded, name) ? embedded[name] : null;
    if (typeof packed !== "string") throw new Missing(`This page has no ${name}.`);
    try {
      const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
      body = await textOf(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), name);
    } catch {
      throw new Error(`${name} of this page cannot be unpacked.`);
    }
  } else {
    let answer;
    try {
      answer = await fetch("./" + name);
    } catch {
      throw new Error("The server does not answer.");
    }
    if (answer.status === 204 || answer.status === 404) throw new Missing(`The server has no ${name}.`);
    if (!answer.ok) throw new Error(`The server answers ${name} with ${answer.status}: ${text(await answer.text(), 200)}`);
    body = await textOf(answer.body, name);
  }
  let value;
  try {
    value = JSON.parse(body);
  } catch {
    throw new Error(`${name} is not JSON.`);
  }
  if (value === null || typeof value !== "object") throw new Error(`${name} is not an object.`);
  return value;
}

const query = (name, values) => name + "?" + Object.entries(values).map(([k, v]) => k + "=" + encodeURIComponent(v)).join("&");

// headOf checks a film.json.
function headOf(raw) {
  const seats = whole(raw.seats, 1, most.seats, 1);
  const head = {
    game: text(raw.game), name: text(raw.name), players: listOf(raw.players, most.seats).map((p) => text(p)), seats,
    fog: raw.fog === true, turns: whole(raw.turns, 0, 1e7), chunk: whole(raw.chunk, 1, 4096, 32), width: number(raw.width), height: number(raw.height),
    up: raw.up === true, moves: raw.moves === true, printed: raw.printed === true, paths: raw.paths === true, word: text(raw.word, 20) || "turn",
  };
  const inBounds = (v) => v > 0 && v <= most.cells;
  head.drawn = inBounds(head.width) && inBounds(head.height);
  head.far = head.width + head.height;
  head.marks = listOf(raw.marks, most.marks).filter((m) => m && Number.isFinite(m.turn)).map((m) => ({
    turn: whole(m.turn, 0, head.turns), kind: text(m.kind, 40), seat: whole(m.seat, -1, most.seats - 1, -1), note: text(m.note),
  }));
  head.stats = listOf(raw.stats, most.stats).map((s) => ({ name: text(s?.name, 60), unit: text(s?.unit, 60), seat: whole(s?.seat, -1, most.seats - 1, -1) }));
  return head;
}

// spread decodes a list from its differences to the list before. An item that cannot be drawn is
// null, since later lists count it. A list that equals the one before is the same array.
function spread(coded, before, make, count) {
  if (!Array.isArray(coded) || !coded.length) return before.length ? [] : before;
  if (coded.length === 1 && Array.isArray(coded[0]) && coded[0].length === 2 && coded[0][0] === 0 && coded[0][1] === before.length) return before;
  const list = [];
  for (const item of coded) {
    if (Array.isArray(item) && item.length === 2) {
      const [start, copies] = item;
      if (!(Number.isInteger(start) && Number.isInteger(copies) && start >= 0 && copies >= 0 && start + copies <= before.length)) {
        throw new Error("a frame copies things that the frame before does not have");
      }
      if (list.length + copies > most.items) throw new Error("a frame has too many things");
      for (let i = start; i < start + copies; i++) list.push(before[i]);
    } else if (list.push(Array.isArray(item) ? make(item) : null) > most.items) {
      throw new Error("a frame has too many things");
    }
  }
  count(list.length);
  return list;
}

const none = [];
const looks = new Map(); // all looks of entities, by their data

const listed = (v, n, least, greatest) => Array.from({ length: n }, (_, i) => Math.min(Math.max(number(v?.[i]), least), greatest));

// looksOf checks the looks of a chunk. Things that look alike share one in all chunks: board.js keeps their pictures in it.
function looksOf(raw) {
  const all = listOf(raw, most.looks).map((l) => (Array.isArray(l) ? l : [])), role = (v) => whole(v, 0, scheme.roles - 1);
  const list = all.map((l) => {
    const [kind, owner, width, height, flags, corners, fill, edge, stroke, letter, x, y, size] = l, key = JSON.stringify(l.slice(0, -1));
    let look = looks.get(key);
    if (!look) {
      if (looks.size > 20000) looks.clear();
      look = {
        kind: text(kind, 60) || "thing", owner: whole(owner, -1, 127, -1), width: number(width), height: number(height), flags: whole(flags, 0, 7) & 7,
        corners: Array.isArray(corners) ? listed(corners, Math.min(corners.length, 32) & ~1, 0, 1) : null, fill: role(fill), edge: role(edge), stroke: listed(stroke, 4, 0, 100),
        letter: text(letter, 2), x: number(x), y: number(y), size: listed(size, 4, 0, 100), sprites: [],
      };
      looks.set(key, look);
    }
    return look;
  });
  list.forEach((look, i) => (look.sample = list[all[i].at(-1)] ?? look));
  return list;
}

// makers returns the functions that check the items of the lists. An item with a coordinate that
// is no number, or far from the board, is null.
function makers(head, looks) {
  const near = (...all) => all.every((v) => typeof v === "number" && v >= -head.far && v <= 2 * head.far);
  const seat = (v) => whole(v, -1, 127, -1);
  return {
    a: ([x, y, width, height, owner, hidden]) => (near(x, y, width, height) ? { x, y, width, height, owner: seat(owner), hidden: hidden === 1 } : null),
    r: ([x, y, radius, owner, kind]) => (near(x, y, radius) && radius >= 0 ? { x, y, radius, owner: seat(owner), kind: text(kind, 60) } : null),
    e: ([no, x, y, health, count, id, note]) => {
      const look = looks[no];
      if (!look || !near(x, y, look.width, look.height) || !(look.width > 0 && look.height > 0)) return null;
      const { kind, owner, width, height, flags } = look;
      return {
        look, kind, owner, x, y, width, height, health: Math.min(Math.max(number(health), 0), 1), number: whole(count, -1e9, 1e9, 0), flags, id: whole(id, 0, 2 ** 53), note: text(note),
      };
    },
    l: ([x1, y1, x2, y2, owner, flags, kind, note, x = x2, y = y2]) => // x, y: where it is drawn to
      near(x1, y1, x2, y2, x, y) ? { x1, y1, x2, y2, end: [x, y], owner: seat(owner), arrow: (flags & 1) === 1, thick: (flags & 2) === 2, kind: text(kind, 60), note: text(note) } : null,
    v: (v) => {
      if (!Array.isArray(v)) return null;
      const [kind, owner, x1, y1, x2, y2, amount, note] = v;
      return { kind: text(kind, 60), owner: seat(owner), x1, y1, x2, y2, placed: near(x1, y1, x2, y2), amount: number(amount), note: text(note) };
    },
  };
}

// chunkOf decodes a frames.json: { from, positions: [[frame, …], …], inputs, items }. items is the
// number of items in its lists, a measure of its memory.
function chunkOf(raw, head, from) {
  if (raw.from !== from) throw new Error(`frames.json begins at ${text(raw.from)}, expected ${from}`);
  const make = makers(head, looksOf(raw.looks));
  const drawn = drawingsOf(raw.drawings, head);
  const chunk = { from, positions: [], inputs: [], moves: [], printed: [], drawings: drawn.list, items: 0 };
  const count = (n) => {
    chunk.items += n;
    if (chunk.items > most.chunkItems) throw new Error("the frames have too many things");
  };
  let last = { areas: none, ranges: none, entities: none, lines: none };
  for (const coded of listOf(raw.positions, head.chunk)) {
    if (!Array.isArray(coded) || !coded.length) throw new Error(`position ${from + chunk.positions.length} has no frame`);
    if (coded.length > most.frames) throw new Error(`position ${from + chunk.positions.length} has too many frames`);
    const n = from + chunk.positions.length, frames = coded.map((f) => {
      if (!f || typeof f !== "object") throw new Error("a frame is not an object");
      last = {
        title: text(f.t), areas: spread(f.a, last.areas, make.a, count), ranges: spread(f.r, last.ranges, make.r, count),
        entities: spread(f.e, last.entities, make.e, count), lines: spread(f.l, last.lines, make.l, count),
        events: listOf(f.v, most.items).map(make.v).filter(Boolean), stats: head.stats.map((_, i) => (Number.isFinite(f.s?.[i]) ? f.s[i] : null)),
      };
      count(last.events.length + last.stats.length);
      return last;
    });
    numbered(frames, n);
    chunk.positions.push(frames);
  }
  chunk.moves = listOf(raw.moves, head.chunk).map((seats) => listOf(seats, most.seats).map((list) => listOf(list, 100).map((m) => ({
    share: Math.min(Math.max(number(m?.[0]), 0), 1), kind: text(m?.[1], 60), placed: m?.[2] === true && Math.abs(m[3]) < head.far && Math.abs(m[4]) < head.far, x: number(m?.[3]), y: number(m?.[4]), text: text(m?.[5], 200),
  }))));
  chunk.printed = listOf(raw.printed, head.chunk).map(printedOf);
  chunk.inputs = listOf(raw.inputs, head.chunk + 1).map((seats) => listOf(seats, most.seats).map((orders) => listOf(orders, 2000).map((o) => text(o))));
  chunk.items += drawn.vertices;
  return chunk;
}

// numbered gives the frames of a position the turn and the number by which the game knows them: those before the last are
// moments of the turn before, and are counted as their titles count them; the last is the state, which has no number.
function numbered(frames, position) {
  const last = frames.length - 1, counted = Number(/ frame (\d+)$/.exec(frames[last - 1]?.title)?.[1] ?? last - 1);
  frames.forEach((f, i) => Object.assign(f, i < last ? { turn: position - 1, no: counted - (last - 1 - i) } : { turn: position, no: null }));
}

// sound calls a function that reads data from strangers, and says so in its errors.
function sound(read) {
  try {
    return read();
  } catch (e) {
    throw new Error("Broken data: " + e.message + ".");
  }
}

// chunks are the chunks of all films that are in memory, the longest unused one first.
const chunks = new Map();

function forget() {
  let items = 0;
  for (const c of chunks.values()) items += c.items;
  for (const [key, c] of chunks) {
    if (chunks.size <= most.chunks && (items <= most.cached || chunks.size <= 2)) return;
    items -= c.items;
    chunks.delete(key);
  }
}

let films = 0;

// Film is an open film: its head, and the chunks that are loaded from it.
class Film {
  constructor(head) {
    this.head = head;
    this.no = films++;
    this.loading = new Map();
    this.values = new Map(); // stats of the seat in view, by position
    this.dashes = []; // kinds of lines and ranges, for their dashes
  }

  static async open(id) {
    const raw = await load(query("film.json", { game: id }));
    return new Film(sound(() => ({ ...headOf(raw), id })));
  }

  key(position, seat) {
    return `${this.no} ${seat} ${position - (position % this.head.chunk)}`;
  }

  // have returns the frames of a position, or null if they are not in memory.
  have(position, seat) {
    const key = this.key(position, seat);
    const chunk = chunks.get(key);
    if (!chunk) return null;
    chunks.delete(key);
    chunks.set(key, chunk);
    return chunk.positions[position - chunk.from] ?? null;
  }

  // moves returns the moves that the seats' searches weighed in the turn after a position, by seat.
  moves(position, seat) {
    const chunk = chunks.get(this.key(position, seat));
    return chunk?.moves[position - chunk.from] ?? [];
  }

  // inputs returns the orders of a turn, which begins or ends at a position that is in memory.
  inputs(turn, position, seat) {
    const chunk = chunks.get(this.key(position, seat));
    return chunk?.inputs[turn - Math.max(chunk.from - 1, 0)] ?? [];
  }

  // printed returns what the bots printed since the position before, by seat.
  printed(position, seat) {
    const chunk = chunks.get(this.key(position, seat));
    return chunk?.printed[position - chunk.from] ?? [];
  }

  // need loads the chunk of a position. raw: a request for it that has begun.
  need(position, seat, raw) {
    const key = this.key(position, seat);
    if (chunks.has(key)) return null;
    if (!this.loading.has(key)) {
      const from = position - (position % this.head.chunk);
      const job = (async () => {
        const coded = await (raw ?? load(query("frames.json", { game: this.head.id, seat, from })));
        const chunk = sound(() => chunkOf(coded, this.head, from));
        if (!chunk.positions[position - from]) throw new Error(`Broken data: there is no ${this.head.word} ${position}.`);
        chunks.set(key, chunk);
        forget();
        chunk.positions.forEach((frames, i) => this.values.set(`${seat} ${from + i}`, frames[frames.length - 1].stats));
      })();
      const end = () => this.loading.delete(key);
      this.loading.set(key, job);
      job.then(end, end);
    }
    return this.loading.get(key);
  }

  // close forgets the film's chunks.
  close() {
    for (const key of chunks.keys()) if (key.startsWith(this.no + " ")) chunks.delete(key);
  }
}
