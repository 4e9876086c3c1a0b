// This file shows what bots draw over the board, and what they log. The numbers come from programs of
// strangers: they are checked here once, as data.js does.

// Bounds of a seat's drawing, and of the vertices of all drawings of a chunk.
const mostDrawn = { vertices: 40000, texts: 1000, lines: 500, text: 500, far: 1000, offset: 10000, font: 200, chunk: 2e6 };

show.drawings = true;
let drawnBy = -1; // the seat whose drawings are shown where everybody's may be, −1: all

// drawingsOf decodes the drawings of a chunk: by position { turn, seats }, or null. Beyond the bound it
// leaves out those of the first positions.
function drawingsOf(raw, head) {
  const list = listOf(raw, head.chunk).map(() => null);
  let vertices = 0;
  for (let i = list.length - 1; i >= 0 && vertices < mostDrawn.chunk; i--) {
    const seats = listOf(raw[i]?.seats, most.seats).filter((d) => d && typeof d === "object").map(drawingOf);
    for (const d of seats) vertices += (d.triangles.length + d.lines.length) / 5;
    if (seats.length) list[i] = { turn: whole(raw[i].turn, 0, head.turns), seats };
  }
  return { list, vertices };
}

function drawingOf(raw) {
  const colours = listOf(raw.colours, mostDrawn.vertices + mostDrawn.texts).map((c) => (/^#[0-9a-f]{8}$/.test(c) ? c : "#00000000"));
  const texts = listOf(raw.texts, mostDrawn.texts).filter(Array.isArray).map((t) => {
    const vertex = new Float32Array(5), [alignment, size, words] = t.slice(5);
    const good = vertexOf(t, 0, vertex, 0, colours.length) && size > 0;
    return good ? { vertex, alignment: Math.min(Math.max(number(alignment), 0), 1), size: Math.min(number(size, 1), mostDrawn.font), words: text(words, mostDrawn.text) } : null;
  });
  return {
    seat: whole(raw.seat, 0, most.seats - 1), colours, triangles: verticesOf(raw.triangles, 3, colours.length), lines: verticesOf(raw.lines, 2, colours.length),
    texts: texts.filter(Boolean), log: listOf(raw.log, mostDrawn.lines).map((l) => text(l, mostDrawn.text)), dropped: whole(raw.dropped, 0, 1e9),
  };
}

// verticesOf returns the numbers of lines or triangles, of n vertices each. One with a number that cannot
// be drawn is left out.
function verticesOf(raw, n, colours) {
  const list = listOf(raw, 5 * mostDrawn.vertices), size = 5 * n;
  const out = new Float32Array(list.length);
  let kept = 0;
  for (let i = 0; i + size <= list.length; i += size) {
    let good = true;
    for (let j = 0; j < size && good; j += 5) good = vertexOf(list, i + j, out, kept + j, colours);
    if (good) kept += size;
  }
  return out.slice(0, kept);
}

// vertexOf copies the numbers of a vertex: x, y (both NaN where it has no place on the board), dx, dy, and
// the index of its colour. It reports whether they can be drawn.
function vertexOf(from, at, to, index, colours) {
  const [x, y, dx, dy, c] = [from[at], from[at + 1], from[at + 2], from[at + 3], from[at + 4]];
  const free = x === null && y === null;
  to.set(free ? [NaN, NaN, dx, dy, c] : [x, y, dx, dy, c], index);
  const small = (v, limit) => typeof v === "number" && Math.abs(v) <= limit;
  return (free || (small(x, mostDrawn.far) && small(y, mostDrawn.far))) && small(dx, mostDrawn.offset) && small(dy, mostDrawn.offset) &&
    Number.isInteger(c) && c >= 0 && c < colours;
}

// drawingsAt returns the drawings of a position of a film, or null.
function drawingsAt(film, position, seat) {
  const chunk = chunks.get(film.key(position, seat));
  film.drawn = !!chunk?.drawings.length;
  return chunk?.drawings[position - chunk.from] ?? null;
}

const seatsShown = (drawings) => drawings?.seats.filter((d) => state.seat >= 0 || drawnBy < 0 || d.seat === drawnBy) ?? [];

// drawDrawings draws the drawings of a board. They are kept in a layer.
function drawDrawings(b, g) {
  if (!show.drawings || !b.drawings) return;
  if (!b.drawn) b.drawn = layer();
  const { made } = b, canvas = b.drawn.canvas;
  if (made.drawings !== b.drawings || made.drawnBy !== drawnBy) {
    Object.assign(made, { drawings: b.drawings, drawnBy });
    [canvas.width, canvas.height] = [b.canvas.width, b.canvas.height];
    b.inside(b.drawn);
    for (const d of seatsShown(b.drawings)) drawOne(b, b.drawn, d);
    b.drawn.restore();
  }
  g.drawImage(canvas, 0, 0);
}

// pointIn returns the point of the canvas of a vertex. Without a place on the board it counts from the lower
// left corner; a negative offset counts from the opposite edge, since bots are told that the window has no size.
function pointIn(b, v, i) {
  const dx = v[i + 2] * b.dpr, dy = v[i + 3] * b.dpr;
  if (!Number.isNaN(v[i])) return [b.x(v[i]) + dx, b.y(v[i + 1]) - dy];
  return [(dx < 0 ? b.canvas.width : b.clip.left) + dx, (dy < 0 ? 0 : b.clip.bottom) - dy];
}

function drawOne(b, g, d) {
  const batch = 500; // shapes of a path at most
  let colour = null, n = 0, gradients = 1000; // at most
  const begin = (next, end) => {
    if (next === colour && n++ < batch) return;
    if (colour !== null) end();
    [colour, n] = [next, 0];
    if (next !== null) g.beginPath();
  };
  const fill = () => {
    g.fillStyle = colour;
    g.fill();
  };
  for (let i = 0, v = d.triangles; i < v.length; i += 15) {
    begin(mixed([4, 9, 14].map((k) => d.colours[v[i + k]])), fill);
    const [p, q, r] = [0, 5, 10].map((k) => pointIn(b, v, i + k));
    const turns = (q[0] - p[0]) * (r[1] - p[1]) < (q[1] - p[1]) * (r[0] - p[0]); // overlapping ones that turn the other way would be a hole
    g.moveTo(...p);
    g.lineTo(...(turns ? r : q));
    g.lineTo(...(turns ? q : r));
    g.closePath();
  }
  begin(null, fill);
  const stroke = () => {
    g.strokeStyle = colour;
    g.stroke();
  };
  g.lineWidth = 1.5 * b.dpr;
  for (let i = 0, v = d.lines; i < v.length; i += 10) {
    const [from, to] = [d.colours[v[i + 4]], d.colours[v[i + 9]]], p = pointIn(b, v, i), q = pointIn(b, v, i + 5);
    let next = from;
    if (from !== to && gradients-- <= 0) next = mixed([from, to]);
    else if (from !== to) {
      next = g.createLinearGradient(...p, ...q);
      next.addColorStop(0, from);
      next.addColorStop(1, to);
    }
    begin(next, stroke);
    g.moveTo(...p);
    g.lineTo(...q);
  }
  begin(null, stroke);
  g.textAlign = "left";
  g.textBaseline = "alphabetic";
  for (const t of d.texts) {
    const [x, y] = pointIn(b, t.vertex, 0);
    g.font = fontOf(t.size * b.dpr);
    g.fillStyle = d.colours[t.vertex[4]];
    g.fillText(t.words, x - t.alignment * g.measureText(t.words).width, y);
  }
}

// mixed returns the mean of colours: a canvas has no triangles with a colour for each corner.
function mixed(list) {
  if (list.every((c) => c === list[0])) return list[0];
  const mean = (from) => Math.round(list.reduce((sum, c) => sum + parseInt(c.slice(from, from + 2), 16), 0) / list.length);
  return "#" + [1, 3, 5, 7].map((from) => mean(from).toString(16).padStart(2, "0")).join("");
}

// showDrawings shows what the bots logged, and how much they drew.
function showDrawings(film) {
  const { head } = film, drawings = boards[0].drawings;
  $("drawings-box").hidden = $("show-drawings-label").hidden = !film.drawn;
  if (!film.drawn) return;
  const by = $("drawn-by"), seats = [-1, ...seatsOf(head)];
  $("drawn-by-label").hidden = state.seat >= 0 || head.seats < 2;
  if (by.options.length !== seats.length) by.replaceChildren(...seats.map((s) => new Option(s < 0 ? "everybody" : playerOf(head, s), s)));
  by.value = drawnBy = drawnBy < head.seats ? drawnBy : -1;
  const shown = seatsShown(drawings), box = $("drawings");
  const key = JSON.stringify([state.turn, drawings?.turn, shown.map((d) => [d.seat, d.triangles.length, d.lines.length, d.texts.length, d.dropped, d.log])]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren();
  if (drawings && drawings.turn !== state.turn) box.append(element("p", `at ${head.word} ${drawings.turn}, the last one played`, "soft"));
  for (const d of shown) {
    const title = element("h3"), list = element("ul");
    const parts = [[d.triangles.length / 15, "triangle"], [d.lines.length / 10, "line"], [d.texts.length, "text"]].filter(([n]) => n);
    title.append(chip(d.seat), playerOf(head, d.seat));
    const words = parts.map(([n, name]) => `${n} ${name}${n > 1 ? "s" : ""}`);
    if (d.dropped) words.push(`${d.dropped} dropped: too many, or no numbers to draw`);
    box.append(title);
    if (words.length) box.append(element("p", words.join(", "), "soft"));
    if (d.log.length) {
      lines(list, d.log.map((words) => ({ words })), "", mostDrawn.lines);
      box.append(list);
    }
  }
  if (!shown.length) box.append(element("p", "none", "soft"));
}

$("show-drawings").addEventListener("change", () => {
  show.drawings = $("show-drawings").checked;
  changed(false);
});
$("drawn-by").addEventListener("change", () => {
  drawnBy = Number($("drawn-by").value);
  changed();
});
