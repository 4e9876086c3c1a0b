// This file shows where events have happened: sums by cell from the start of the game up to the present turn, as colours
// over the ground of the board.

// Colours from small to large sums.
const heatColours = { light: heatScale(["#fdf0a2", "#f0bf2c", "#b03a8c", "#3a0a5e"]), dark: heatScale(["#4a1a70", "#b03a8c", "#f0bf2c", "#fdf0a2"]) };
let heatKind = ""; // that is shown; "": none

// heatScale returns 32 colours between some.
function heatScale(stops) {
  const parts = stops.map((s) => [1, 3, 5].map((i) => parseInt(s.slice(i, i + 2), 16)));
  return Array.from({ length: 32 }, (_, i) => {
    const at = (i / 31) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2);
    return `rgb(${parts[k].map((v, j) => Math.round(v + (parts[k + 1][j] - v) * (at - k))).join()})`;
  });
}

// heatOf checks a heat.json: { bucket, kinds }; kinds has for each name a list of [cell, sum, cell, sum, …] for each bucket.
function heatOf(raw, head) {
  const width = Math.ceil(head.width), cells = width * Math.ceil(head.height);
  const bucket = Number.isInteger(raw.bucket) && raw.bucket >= 1 ? raw.bucket : 0;
  if (!head.drawn || raw.width !== width || raw.turns !== head.turns || bucket * 64 < head.turns) throw new Error("heat.json does not fit the film");
  let left = 1e6;
  const kinds = new Map();
  for (const k of listOf(raw.kinds, 100)) {
    const sums = listOf(k?.sums, 64).map((list) => {
      const good = [];
      for (let i = 0; Array.isArray(list) && i + 1 < list.length && left > 0; i += 2, left--) {
        const [cell, sum] = [list[i], list[i + 1]];
        if (Number.isInteger(cell) && cell >= 0 && cell < cells && Number.isFinite(sum) && Math.abs(sum) <= 1e12) good.push(cell, sum);
      }
      return good;
    });
    if (sums.some((list) => list.length)) kinds.set(text(k.kind, 60) || "event", sums);
  }
  return { bucket, width, kinds };
}

// heatOffered reports whether the heat of a film may be shown. A seat under fog must not see what others do.
const heatOffered = (film) => film.head.heat && film.heat !== null && state.seat < 0 && offered(query("heat.json", { game: film.head.id }));

// loadHeat asks for the heat of a film, once.
async function loadHeat(film) {
  if (film.heatAsked) return;
  film.heatAsked = true;
  try {
    const raw = await load(query("heat.json", { game: film.head.id }));
    film.heat = sound(() => heatOf(raw, film.head));
  } catch {
    film.heat = null; // it is not offered
  }
  film.heated = film.heatBase = null;
  changed();
}

// heatGaps returns the requests for the chunks that the heat of a turn needs besides the whole buckets before it.
function heatGaps(film, turn) {
  const { heat, head } = film;
  if (!heat?.kinds.has(heatKind) || state.seat >= 0 || turn >= head.turns || heat.bucket > 2 * head.chunk) return [];
  const asked = [];
  for (let n = turn - (turn % heat.bucket); n <= turn; n += head.chunk - (n % head.chunk)) asked.push(film.need(n, -1));
  return asked.filter(Boolean);
}

// heatAt returns the heat of a film up to a turn: { cells, most, sum, until }, or null. cells has the sums by cell and is
// another Map after each change. The heat ends before the turn where frames that it needs are not in memory.
function heatAt(film, turn) {
  const { heat, head } = film;
  const sums = state.seat < 0 ? heat?.kinds.get(heatKind) : null;
  if (!sums) return null;
  turn = Math.min(turn, head.turns);
  if (film.heated?.turn === turn && film.heated.kind === heatKind) return film.heated;
  const full = turn === head.turns ? 64 : Math.floor(turn / heat.bucket);
  let base = film.heatBase;
  if (!base || base.kind !== heatKind || base.full > full) base = { kind: heatKind, full: 0, cells: new Map() };
  if (base.full < full) {
    const cells = new Map(base.cells);
    for (const list of sums.slice(base.full, full)) for (let i = 0; i < list.length; i += 2) cells.set(list[i], (cells.get(list[i]) ?? 0) + list[i + 1]);
    base = { kind: heatKind, full, cells };
  }
  film.heatBase = base;
  let { cells } = base, until = turn;
  for (let n = full ? full * heat.bucket + 1 : 0; n <= turn; n++) {
    const frames = film.have(n, -1);
    if (!frames) {
      until = Math.max(n - 1, 0);
      break;
    }
    for (const frame of frames) {
      for (const v of frame.events) {
        if (!v.placed || (v.kind || "event") !== heatKind) continue;
        if (cells === base.cells) cells = new Map(cells);
        const cell = heatCell(v.y2, Math.ceil(head.height)) * heat.width + heatCell(v.x2, heat.width);
        cells.set(cell, (cells.get(cell) ?? 0) + (v.amount || 1));
      }
    }
  }
  const old = film.heated;
  if (old?.base === base && old.cells.size === cells.size && [...cells].every(([c, v]) => old.cells.get(c) === v)) cells = old.cells;
  let most = 0, sum = 0;
  for (const v of cells.values()) {
    most = Math.max(most, v);
    sum += v;
  }
  const now = { kind: heatKind, turn, base, cells, most, sum, until, width: heat.width };
  film.heated = now;
  if (until < turn) {
    const gaps = heatGaps(film, turn);
    if (gaps.length) Promise.all(gaps).then(() => {
      if (film.heated === now) film.heated = null;
      changed();
    }, () => {});
  }
  return now;
}

const heatCell = (v, cells) => Math.min(Math.max(Math.floor(v), 0), cells - 1);

// heatLevel returns the place of a sum in the scale. It goes with the square root, so that small sums can be told apart.
const heatLevel = (v, most) => Math.min(31, Math.round(31 * Math.sqrt(v / most)));

// drawHeat draws the heat of a board over its ground.
function drawHeat(g, b) {
  const { heat, cell } = b, colours = heatColours[themeKey()];
  if (!(heat.most > 0)) return;
  g.globalAlpha = 0.82;
  for (const [at, v] of heat.cells) {
    const x = at % heat.width, y = Math.floor(at / heat.width);
    if (!(v > 0)) continue;
    const px = Math.round(b.x(x)), py = Math.round(b.yTop(y, 1));
    const right = Math.max(Math.round(b.x(x + 1)), px + 1), bottom = Math.max(Math.round(b.yTop(y, 1) + cell), py + 1);
    if (right < 0 || bottom < 0 || px > g.canvas.width || py > g.canvas.height) continue;
    g.fillStyle = colours[heatLevel(v, heat.most)];
    g.fillRect(px, py, right - px, bottom - py);
  }
  g.globalAlpha = 1;
}

// heatFacts returns what is to be said of the heat at a point of a board, in points of the page.
function heatFacts(b, x, y) {
  if (!b.heat || !b.film?.head.drawn || !b.cell) return [];
  const [bx, by] = b.under(x, y).map(Math.floor);
  const v = bx >= 0 && bx < b.heat.width ? b.heat.cells.get(by * b.heat.width + bx) : undefined;
  return v ? [`${b.heat.kind} at ${bx}, ${by}: ${figure(v)} up to ${b.film.head.word} ${b.heat.until}`] : [];
}

// showHeat shows the choice of kinds, and what the colours mean.
function showHeat() {
  const { films } = state, box = $("show-heat-label"), select = $("show-heat");
  box.hidden = !heatOffered(films[0]);
  if (!box.hidden) for (const f of films) if (f.head.heat && shelf.info && (!shelf.info.live || heatKind)) loadHeat(f);
  const names = [...new Set(films.flatMap((f) => [...(f.heat?.kinds.keys() ?? [])]))].sort();
  const key = JSON.stringify(names);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(new Option("none", ""), ...names.map((n) => new Option(n, n)));
  }
  if (names.length && !names.includes(heatKind)) heatKind = "";
  if (select.value !== heatKind) select.value = heatKind;
  const heat = boards[0].heat, { word } = films[0].head;
  $("heat-legend").hidden = !heat;
  if (!heat) return;
  put($("heat-say"), `${heat.kind} up to ${word} ${heat.until}: ${figure(heat.sum)} in all, at most ${figure(heat.most)} in a cell`);
  put($("heat-most"), figure(heat.most));
  const [g, w, h] = fitted($("heat-scale")), colours = heatColours[themeKey()];
  for (let x = 0; x < w; x++) {
    g.fillStyle = colours[heatLevel(x, Math.max(w - 1, 1))];
    g.fillRect(x, 0, 1, h);
  }
}

// A list that changes loads the heat only for a person who wants it.
for (const event of ["focus", "pointerenter"]) {
  $("show-heat").addEventListener(event, () => state.films.forEach((f) => f.head.heat && loadHeat(f)));
}
$("show-heat").addEventListener("change", () => {
  heatKind = $("show-heat").value;
  changed();
});
