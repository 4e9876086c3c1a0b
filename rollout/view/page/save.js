// This file saves what the page shows: the position as JSON, and turns of the film as GIF.

// saveFile gives a file to the browser to keep.
function saveFile(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  say("Saved " + name);
}

// fileName names a file with what the page shows.
function fileName(end) {
  const { head } = state.films[0], { no } = boards[0].frame;
  return `moonfarm-${head.id}-${head.word}-${turnNow()}${no === null ? "" : `-frame-${no}`}.${end}`;
}

// positionOf returns what the first board shows, as data.
function positionOf() {
  const { film, frame } = boards[0], { head } = film, { turn, no } = frame;
  const flags = (e) => ({ unfinished: (e.flags & 1) !== 0, upgraded: (e.flags & 2) !== 0, leaving: (e.flags & 4) !== 0 });
  const place = (v) => ({ x1: v.placed ? v.x1 : null, y1: v.placed ? v.y1 : null, x2: v.placed ? v.x2 : null, y2: v.placed ? v.y2 : null });
  return {
    format: "moonfarm position", version: 2,
    game: head.game, id: head.id, name: head.name, players: head.players, seat: state.seat, word: head.word, turn, turns: head.turns,
    frame: no, title: frame.title, link: hashOf(),
    board: { width: head.width, height: head.height, up: head.up },
    entities: frame.entities.filter(Boolean).map((e) => ({
      kind: e.kind.name, owner: e.owner, id: e.id, x: e.x, y: e.y, width: e.width, height: e.height, health: e.health, number: e.number, ...flags(e), note: e.note,
    })),
    ranges: frame.ranges.filter(Boolean), lines: frame.lines.filter(Boolean), areas: frame.areas.filter(Boolean),
    events: frame.events.map((v) => ({ kind: v.kind, owner: v.owner, ...place(v), amount: v.amount, note: v.note })),
    stats: head.stats.map((s, i) => ({ ...s, value: frame.stats[i] })).filter((s) => s.value !== null),
    orders: film.inputs(turn, Math.min(state.turn, head.turns), state.seat),
  };
}

function savePosition() {
  if (!boards[0].frame) return;
  saveFile(new Blob([JSON.stringify(positionOf(), null, 1) + "\n"], { type: "application/json" }), fileName("json"));
}

// Bounds of a GIF.
const gifBounds = { frames: 600, least: 120, widest: 1200, highest: 1600, samples: 24, bar: 22 };
let sheets = 0;

// Sheet is a board of a given width that the page does not show. It has the view of a board that is shown.
class Sheet extends Board {
  constructor(of, width) {
    const canvas = element("canvas");
    canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    super(canvas, 2);
    const { head } = of.film, rims = 32;
    let cell = Math.min((width - rims) / head.width, 64);
    if (cell >= 4) cell = Math.floor(cell);
    const high = of.zoom > 1 ? (width * of.canvas.height) / of.canvas.width : head.height * cell + rims;
    this.size = [width, Math.min(Math.max(Math.ceil(high), 60), gifBounds.highest)];
    this.version = ++sheets * 1e6; // no other sheet has its sprites
    this.whole = element("canvas").getContext("2d", { alpha: false, willReadFrequently: true });
    this.whole.canvas.width = width;
    this.whole.canvas.height = this.size[1] + gifBounds.bar;
    this.of = of;
  }

  resize() {
    const [w, h] = this.size;
    if (this.canvas.width === w && this.canvas.height === h) return false;
    for (const c of [this.canvas, this.layers.ground.canvas, this.layers.still.canvas, this.layers.over.canvas]) [c.width, c.height] = [w, h];
    this.changed();
    return true;
  }

  mini() {}

  // picture returns the picture of a frame of a position as ImageData.
  picture(film, seat, turn, frame) {
    const frames = film.have(turn, seat), last = frame === frames.length - 1, g = this.whole, { width, height } = g.canvas;
    const fresh = !this.film;
    this.set(film, frames[frame], null);
    if (fresh) Object.assign(this, { zoom: this.of.zoom, midX: this.of.midX, midY: this.of.midY });
    this.moves = last && film.head.moves ? film.moves(turn, seat) : [];
    this.draw(1);
    g.fillStyle = palette.paper;
    g.fillRect(0, 0, width, gifBounds.bar);
    g.font = fontOf(12);
    g.fillStyle = palette.dark;
    g.textBaseline = "middle";
    const players = film.head.players.map((p, i) => `${seatLetter(i)} ${p}`).join(", ");
    g.fillText(`${frames[frame].title || `${film.head.word} ${turn}`} · ${players}`, 8, gifBounds.bar / 2);
    g.drawImage(this.canvas, 0, gifBounds.bar);
    return g.getImageData(0, 0, width, height);
  }

  // close forgets the sprites.
  close() {
    for (const look of looks.values()) if (look.sprites[this.no]) look.sprites[this.no] = undefined;
  }
}

// gifJob is what is being saved; null: nothing.
let gifJob = null;

class Cancelled extends Error {}

// breathe lets the page react. It fails if the job has been cancelled.
async function breathe(job) {
  if (performance.now() - job.breath > 25) {
    await new Promise((done) => setTimeout(done));
    job.breath = performance.now();
  }
  if (job.cancelled) throw new Cancelled();
}

// gifFrames loads the turns of a job and returns their frames: [turn, frame, time in milliseconds].
async function gifFrames(job) {
  const { film, seat, first, last } = job, list = [];
  const many = () => new Error(`${film.head.word}s ${first} to ${last} have more than ${gifBounds.frames} frames, and a GIF may have ${gifBounds.frames}. Choose fewer ${film.head.word}s.`);
  if (last - first + 1 > gifBounds.frames) throw many();
  for (let turn = first; turn <= last; turn++) {
    await film.need(turn, seat);
    await breathe(job);
    const count = film.have(turn, seat).length;
    if (list.length + count > gifBounds.frames) throw many();
    for (let k = 0; k < count; k++) list.push([turn, k, duration(count) / job.speed]);
  }
  return list;
}

// makeGIF returns the GIF of a job. It tells `progress` how many pictures of all are drawn.
async function makeGIF(job, progress) {
  const { film, seat } = job, list = await gifFrames(job), sheet = new Sheet(job.board, job.width), colours = new Colours();
  const draw = async ([turn, frame]) => {
    await breathe(job);
    await film.need(turn, seat);
    return sheet.picture(film, seat, turn, frame);
  };
  try {
    const samples = Math.min(list.length, gifBounds.samples);
    for (let i = 0; i < samples; i++) colours.add(await draw(list[Math.floor((i * (list.length - 1)) / Math.max(samples - 1, 1))]));
    const gif = new GIF(sheet.whole.canvas.width, sheet.whole.canvas.height, colours.table());
    let at = 0, told = 0; // in milliseconds, in hundredths of a second
    for (const [i, frame] of list.entries()) {
      at += frame[2];
      const time = Math.max(2, Math.min(Math.round(at / 10) - told, 65535)); // programs that show GIFs delay shorter times
      gif.add(await draw(frame), time);
      told += time;
      progress(i + 1, list.length);
    }
    return gif.end();
  } finally {
    sheet.close();
  }
}

// openGIF opens the dialog. It offers a short game as a whole, and of a longer one the turns from the present one on.
function openGIF() {
  if (!boards[0].frame) return;
  stop();
  const { head } = state.films[0], many = 40;
  const first = head.turns <= 60 ? 0 : Math.max(0, Math.min(state.turn, head.turns - many));
  put($("gif-first-name"), `First ${head.word}`);
  put($("gif-last-name"), `Last ${head.word}`);
  for (const [id, value] of [["gif-first", first], ["gif-last", head.turns <= 60 ? head.turns : first + many]]) {
    $(id).max = head.turns;
    $(id).value = value;
  }
  $("gif-speed").value = state.speed;
  gifSay(gifJob ? "Cancelling …" : "");
  $("gif").showModal();
}

function gifSay(words, bad) {
  put($("gif-say"), words, bad ? "bad" : "");
}

// gifWanted reads the dialog. It fails with a sentence for a person.
function gifWanted() {
  const [film] = state.films, { head } = film;
  const [first, last, width] = ["gif-first", "gif-last", "gif-width"].map((id) => {
    const v = $(id).valueAsNumber;
    $(id).setAttribute("aria-invalid", !Number.isInteger(v));
    return v;
  });
  if (![first, last].every((v) => Number.isInteger(v) && v >= 0 && v <= head.turns)) throw new Error(`The ${head.word}s are whole numbers from 0 to ${head.turns}.`);
  if (first > last) throw new Error(`The first ${head.word} must not come after the last.`);
  if (!(Number.isInteger(width) && width >= gifBounds.least && width <= gifBounds.widest)) throw new Error(`The width is a whole number from ${gifBounds.least} to ${gifBounds.widest}.`);
  if (!head.drawn) throw new Error("The board has no size: there is nothing to draw.");
  return { film, board: boards[0], seat: state.seat, first, last, width, speed: Number($("gif-speed").value), breath: performance.now(), cancelled: false };
}

async function saveGIF() {
  if (gifJob) return;
  const busy = (on) => {
    for (const id of ["gif-first", "gif-last", "gif-width", "gif-speed", "gif-go"]) $(id).disabled = on;
    $("gif-progress").hidden = !on;
    $("gif-progress").removeAttribute("value");
  };
  let job = null;
  try {
    job = gifJob = gifWanted();
    const { head } = job.film;
    busy(true);
    $("gif-cancel").focus();
    gifSay("Loading …");
    const blob = await makeGIF(job, (n, all) => {
      $("gif-progress").value = n / all;
      gifSay(`Frame ${n} of ${all}`);
    });
    $("gif").close();
    saveFile(blob, `moonfarm-${head.id}-${head.word}-${job.first}-${job.last}.gif`);
  } catch (e) {
    gifSay(e instanceof Cancelled ? "" : e.message, true);
  }
  busy(false);
  gifJob = null;
  if ($("gif").open) $("gif-first").focus();
  if (job && state.films[0] === job.film) need(job.film, state.turn)?.catch(() => {}); // other turns may have taken its place
}

$("gif-speed").replaceChildren(...speeds.map((s) => new Option("×" + s, s)));
$("gif-form").addEventListener("submit", (e) => {
  e.preventDefault();
  saveGIF();
});
$("gif-cancel").addEventListener("click", () => $("gif").close());
$("gif").addEventListener("close", () => {
  if (gifJob) gifJob.cancelled = true;
});
