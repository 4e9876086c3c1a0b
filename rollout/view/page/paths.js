// This file shows the ways that units or missiles would take from the places where they can start.

const mostSteps = 5000;

// waysOf checks a paths.json and returns the ways by position.
function waysOf(raw, head) {
  return listOf(raw.positions, head.chunk).map((list) => listOf(list, 1000).filter(Array.isArray).map((w) => {
    const [seat, x, y, stops, steps, note] = w;
    const way = { seat: whole(seat, 0, most.seats - 1), stops: stops === 1, note: text(note), cells: [{ x: whole(x, 0, most.cells), y: whole(y, 0, most.cells) }] };
    for (const step of text(steps, mostSteps)) {
      const last = way.cells.at(-1), [dx, dy] = { r: [1, 0], l: [-1, 0], u: [0, 1], d: [0, -1] }[step] ?? [0, 0];
      way.cells.push({ x: last.x + dx, y: last.y + dy });
    }
    return way;
  }).filter((w) => w.cells.every((c) => c.x >= 0 && c.y >= 0 && c.x < head.width && c.y < head.height)));
}

const startOf = (way) => `${seatLetter(way.seat)} ${way.cells[0].x}, ${way.cells[0].y}`;

const paths = {
  on: false,
  from: "", // the chosen start
  loaded: new Map(), // by film and first position: the ways, or null while they are asked for
  ways: [], // in the position that is shown

  // look finds the ways of the position that is shown, and asks for them if need be.
  look() {
    const [film] = state.films, offers = film.head.paths && offered(query("paths.json", { game: film.head.id, from: 0 }));
    $("show-paths-label").hidden = !offers;
    $("path-from-label").hidden = !offers;
    $("path-from").disabled = !this.on;
    const turn = Math.min(state.turn, film.head.turns), from = turn - (turn % film.head.chunk), key = `${film.no} ${from}`;
    const shown = offers && this.on && state.frame === state.frames - 1 && state.seat < 0;
    if (shown && !this.loaded.has(key)) this.ask(film, from, key);
    this.ways = (shown && this.loaded.get(key)?.[turn - from]) || [];
    if (!offers || !this.on) return;
    const starts = this.ways.map((w) => [startOf(w), w.note]), key2 = JSON.stringify([starts, this.from]), select = $("path-from");
    if (select.dataset.key !== key2) {
      select.dataset.key = key2;
      if (this.from && !starts.some(([s]) => s === this.from)) starts.push([this.from, "none now"]);
      select.replaceChildren(new Option("all", ""), ...starts.map(([s, note]) => new Option(note ? `${s}: ${note}` : s, s)));
    }
    select.value = this.from;
  },

  async ask(film, from, key) {
    if (this.loaded.size > 30) this.loaded.clear();
    this.loaded.set(key, null);
    try {
      const raw = await load(query("paths.json", { game: film.head.id, from }));
      this.loaded.set(key, sound(() => waysOf(raw, film.head)));
      changed();
    } catch (e) {
      fail(e);
    }
  },

  // at returns the way that starts at a point of a board.
  at(board, x, y) {
    if (board !== boards[0] || !this.ways.length) return null;
    const [bx, by] = board.under(x, y).map(Math.floor);
    return this.ways.find(({ cells: [c] }) => c.x === bx && c.y === by) ?? null;
  },

  // click chooses the way that starts at a point of a board, if there is one.
  click(board, x, y) {
    const way = this.at(board, x, y);
    if (way) this.from = startOf(way) === this.from ? "" : startOf(way);
  },

  // draw marks the starts, and draws the chosen way, and the one under the pointer.
  draw(board, g) {
    if (board !== boards[0] || !this.ways.length) return;
    const { cell, dpr } = board, middle = (c) => [board.x(c.x + 0.5), board.y(c.y + 0.5)];
    board.inside(g);
    g.setLineDash([]);
    for (const w of this.ways) {
      g.fillStyle = palette.edge[colour(w.seat)];
      g.beginPath();
      g.arc(...middle(w.cells[0]), Math.max(cell * 0.13, 1.5 * dpr), 0, 2 * Math.PI);
      g.fill();
    }
    const { pointer } = state, under = pointer ? this.at(boards[pointer.board], pointer.x, pointer.y) : null;
    for (const w of new Set([this.ways.find((w) => startOf(w) === this.from), under])) {
      if (!w) continue;
      g.strokeStyle = g.fillStyle = palette.edge[colour(w.seat)];
      g.lineWidth = Math.min(Math.max(cell / 7, 2 * dpr), 5 * dpr);
      g.lineJoin = "round";
      g.beginPath();
      w.cells.forEach((c, i) => g[i ? "lineTo" : "moveTo"](...middle(c)));
      const [x, y] = middle(w.cells.at(-1)), arm = Math.max(cell * 0.3, 3 * dpr);
      if (w.stops) {
        g.moveTo(x - arm, y - arm);
        g.lineTo(x + arm, y + arm);
        g.moveTo(x - arm, y + arm);
        g.lineTo(x + arm, y - arm);
      }
      g.stroke();
      if (w.stops || w.cells.length < 2) continue;
      g.beginPath();
      head(g, ...middle(w.cells.at(-2)), x, y, g.lineWidth);
      g.fill();
    }
    g.restore();
  },
};

$("show-paths").addEventListener("change", () => {
  paths.on = $("show-paths").checked;
  changed();
});
$("path-from").addEventListener("change", () => {
  paths.from = $("path-from").value;
  changed();
});
