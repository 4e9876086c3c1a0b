// This file draws a frame on a canvas, in the looks of package picture. What does not
// change is kept in layers: the ground (areas, grid, numbers), the things that do not move, and
// the lines. Each look of an entity is drawn once, as a small picture.

// scheme has the colours of package picture. Of owners they are by owner, nobody's first: edge: outlines and lines; fill: the inside;
// area: the owner's part of the board. roles: of looks.
let palette = scheme.light;
const colour = (owner) => (owner >= 0 && owner < 4 ? owner + 1 : 0);

function dashOf(dashes, kind, dpr) {
  let i = dashes.indexOf(kind);
  if (i < 0 && dashes.length < most.kinds) i = dashes.push(kind) - 1;
  return scheme.dashes[Math.max(i, 0) % scheme.dashes.length].map((d) => d * dpr);
}

// lengthIn returns a size of a look for the smaller side of its rectangle.
const lengthIn = ([part, least, greatest, cap], small, dpr) => Math.min(Math.max(part * small, least * dpr), greatest * dpr, cap * small);

const fontOf = (size) => `${size}px "Liberation Sans", Arial, Helvetica, sans-serif`;

// shape draws a look in a rectangle of the canvas.
function shape(g, look, left, top, wide, high, dpr) {
  const { corners, flags } = look, small = Math.min(wide, high), size = lengthIn(look.size, small, dpr);
  g.lineWidth = lengthIn(look.stroke, small, dpr);
  const inset = lengthIn(scheme.margin, small, dpr) + g.lineWidth / 2, x = left + inset, y = top + inset;
  const w = Math.max(wide - 2 * inset, 0.5), h = Math.max(high - 2 * inset, 0.5);
  g.beginPath();
  if (corners) for (let i = 0; i < corners.length; i += 2) g.lineTo(x + corners[i] * w, y + corners[i + 1] * h);
  else g.ellipse(x + w / 2, y + h / 2, w / 2, h / 2, 0, 0, 2 * Math.PI);
  g.closePath();
  g.fillStyle = palette.roles[look.fill];
  g.fill();
  g.strokeStyle = palette.roles[look.edge];
  g.lineJoin = "round";
  g.setLineDash(flags & 1 ? scheme.unfinished.map((d) => d * dpr) : []);
  g.stroke();
  g.setLineDash([]);
  if (look.letter && size >= 5 * dpr) {
    g.font = fontOf(size);
    g.fillStyle = palette.dark;
    g.textAlign = "center";
    g.textBaseline = "alphabetic";
    g.fillText(look.letter, left + wide * look.x, top + high * look.y + size * 0.36);
  }
  if (!(flags & 4)) return;
  g.beginPath();
  for (const [from, to] of [[y, y + h], [y + h, y]]) {
    g.moveTo(x, from);
    g.lineTo(x + w, to);
  }
  g.strokeStyle = palette.dark;
  g.lineWidth = lengthIn(scheme.cross, small, dpr);
  g.stroke();
}

const layer = () => document.createElement("canvas").getContext("2d");

// show has the switches of all boards.
const show = { ranges: true, orders: true, grid: true, moves: true };

const mostSprites = 3000;
const miniSide = 120; // of the map in the corner, in points
const greatestZoom = 40;

class Board {
  constructor(canvas, no) {
    this.canvas = canvas;
    this.no = no;
    this.g = canvas.getContext("2d", { alpha: false });
    this.layers = { ground: layer(), still: layer(), over: layer(), mini: layer() };
    this.made = {}; // what each layer shows
    this.zoom = 1;
    this.midX = this.midY = 0; // the middle of the view, in cells from the upper left corner of the board
    this.version = 0; // of the size of cells and the colours, for sprites
    this.film = this.frame = null;
    this.movers = [];
    this.moving = new Set();
    this.dpr = 1;
    this.times = { draws: 0, sum: 0, worst: 0 };
  }

  // set takes a frame to draw. before: the frame from which things move to it, or null.
  set(film, frame, before) {
    const was = this.film?.head, is = film.head;
    const fits = was && was.id === is.id && was.width === is.width && was.height === is.height && was.up === is.up;
    this.film = film;
    if (!fits) this.fit();
    this.frame = frame;
    this.movers = [];
    this.moving.clear();
    if (!before || before.entities === frame.entities) return;
    const ids = idsOf(before.entities);
    for (const e of frame.entities) {
      if (!e?.id) continue;
      const from = ids.get(e.id);
      if (from && from !== e && (from.x !== e.x || from.y !== e.y)) {
        this.movers.push({ e, x: from.x, y: from.y });
        this.moving.add(e);
      }
    }
  }

  fit() {
    this.zoom = 1;
    this.midX = (this.film?.head.width ?? 0) / 2;
    this.midY = (this.film?.head.height ?? 0) / 2;
    this.changed();
  }

  changed() {
    this.version++;
    this.made = {};
  }

  // resize fits the canvas to its box. It reports whether the size has changed.
  resize() {
    const dpr = Math.min(window.devicePixelRatio || 1, 3);
    const w = Math.max(1, Math.round(this.canvas.clientWidth * dpr)), h = Math.max(1, Math.round(this.canvas.clientHeight * dpr));
    if (w === this.canvas.width && h === this.canvas.height && dpr === this.dpr) return false;
    this.dpr = dpr;
    for (const c of [this.canvas, this.layers.ground.canvas, this.layers.still.canvas, this.layers.over.canvas]) {
      c.width = w;
      c.height = h;
    }
    this.changed();
    return true;
  }

  // place computes the side of a cell and the place of the board on the canvas, in pixels.
  place() {
    const { width, height } = this.film.head;
    const w = this.canvas.width, h = this.canvas.height, edge = 24 * this.dpr, rim = 8 * this.dpr;
    const fits = Math.min((w - edge - rim) / width, (h - edge - rim) / height, 64 * this.dpr);
    let cell = Math.max(fits, 0.02) * this.zoom;
    if (cell >= 4) cell = Math.floor(cell);
    if (cell !== this.cell) this.version++;
    this.cell = cell;
    const put = (side, cells, mid, before, after) => {
      const free = side - before - after - cells * cell;
      if (free >= 0) return [before + free / 2, cells / 2];
      const half = (side - before - after) / 2 / cell;
      const at = Math.min(Math.max(mid, half), cells - half);
      return [before + (half - at) * cell, at];
    };
    [this.left, this.midX] = put(w, width, this.midX, edge, rim);
    [this.top, this.midY] = put(h, height, this.midY, rim, edge);
    this.left = Math.round(this.left);
    this.top = Math.round(this.top);
    this.wide = Math.round(width * cell);
    this.high = Math.round(height * cell);
    this.clip = { left: Math.max(this.left, 22 * this.dpr), bottom: Math.min(this.top + this.high, h - 18 * this.dpr) }; // beside the numbers
  }

  x(x) {
    return this.left + x * this.cell;
  }

  y(y) {
    return this.top + (this.film.head.up ? this.film.head.height - y : y) * this.cell;
  }

  // top edge of a rectangle whose least y is given
  yTop(y, height) {
    return this.y(this.film.head.up ? y + height : y);
  }

  // under returns the place on the board of a point of the canvas.
  under(x, y) {
    const down = (y * this.dpr - this.top) / this.cell;
    return [(x * this.dpr - this.left) / this.cell, this.film.head.up ? this.film.head.height - down : down];
  }

  // draw draws the frame. part: how far things have moved from the frame before, from 0 to 1.
  draw(part) {
    const begun = performance.now();
    const g = this.g;
    this.resize();
    const { frame, film } = this;
    g.setTransform(1, 0, 0, 1, 0, 0);
    if (!film || !frame || !film.head.drawn) {
      this.blank(film && frame ? "nothing to draw: the board has no size" : "");
      return;
    }
    const view = `${this.zoom} ${this.midX} ${this.midY} ${this.version}`;
    if (this.view !== view || !this.made.ground) {
      this.place();
      this.made = {};
      this.canvas.style.touchAction = this.zoom > 1 ? "none" : "pan-y"; // a finger moves the page, or the board
      this.view = `${this.zoom} ${this.midX} ${this.midY} ${this.version}`;
    }
    this.ground(frame.areas);
    this.still(frame);
    g.drawImage(this.layers.still.canvas, 0, 0);
    for (const m of this.movers) this.entity(g, m.e, m.x + (m.e.x - m.x) * part, m.y + (m.e.y - m.y) * part);
    if (frame.lines.length) {
      this.over(frame);
      g.drawImage(this.layers.over.canvas, 0, 0);
    }
    this.events(g, frame.events, part);
    this.weighed(g);
    paths.draw(this, g);
    this.legal(g);
    drawDrawings(this, g);
    this.rings(g, part);
    if (this.zoom > 1) this.mini(g, frame);
    const took = performance.now() - begun;
    this.times.draws++;
    this.times.sum += took;
    this.times.worst = Math.max(this.times.worst, took);
  }

  blank(words) {
    const g = this.g;
    g.fillStyle = palette.paper;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
    g.fillStyle = palette.dark;
    g.font = fontOf(14 * this.dpr);
    g.textAlign = "center";
    g.fillText(words, this.canvas.width / 2, this.canvas.height / 2);
  }

  // ground draws the areas, the grid and the numbers of columns and rows.
  ground(areas) {
    if (this.made.ground === areas && this.made.grid === show.grid) return;
    Object.assign(this.made, { ground: areas, grid: show.grid, still: null });
    const g = this.layers.ground, { cell, dpr } = this;
    g.fillStyle = palette.paper;
    g.fillRect(0, 0, g.canvas.width, g.canvas.height);
    let lines = 4000; // at most
    for (const hidden of [false, true]) {
      for (const a of areas) {
        if (!a || a.hidden !== hidden) continue;
        const x = Math.round(this.x(a.x)), y = Math.round(this.yTop(a.y, a.height));
        const right = Math.round(this.x(a.x + a.width)), bottom = Math.round(this.yTop(a.y, a.height) + a.height * cell);
        g.fillStyle = hidden ? palette.fog : palette.area[colour(a.owner)];
        g.fillRect(x, y, right - x, bottom - y);
        if (hidden || !show.grid) continue;
        g.fillStyle = palette.grid;
        const step = cell < 5 * dpr ? 10 : 1;
        for (let v = 0; v <= a.width && lines-- > 0; v += step) g.fillRect(Math.round(this.x(a.x + v)), y, 1, bottom - y + 1);
        for (let v = 0; v <= a.height && lines-- > 0; v += step) g.fillRect(x, Math.round(this.yTop(a.y, a.height) + v * cell), right - x + 1, 1);
      }
    }
    this.numbers(g);
  }

  numbers(g) {
    const { cell, dpr } = this, { width, height } = this.film.head;
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((s) => s * cell >= 20 * dpr) ?? 2000;
    const w = g.canvas.width, h = g.canvas.height, { left, bottom } = this.clip;
    g.fillStyle = palette.paper; // over what is beside the view
    g.fillRect(0, bottom + 1, w, h);
    g.fillRect(0, 0, left, h);
    g.font = fontOf(10 * dpr);
    g.fillStyle = palette.axis;
    g.textBaseline = "middle";
    g.textAlign = "center";
    for (let x = 0; x < width; x += step) {
      const at = this.x(Math.min(x + 0.5, width));
      if (at > left && at < w) g.fillText(String(x), at, bottom + 9 * dpr);
    }
    g.textAlign = "right";
    for (let y = 0; y < height; y += step) {
      const at = this.yTop(y, 1) + cell / 2;
      if (at > 0 && at < bottom) g.fillText(String(y), left - 5 * dpr, at);
    }
    g.textBaseline = "alphabetic";
  }

  // inside limits drawing to the view of the board.
  inside(g) {
    g.save();
    g.beginPath();
    g.rect(this.clip.left, 0, this.canvas.width, this.clip.bottom + 1);
    g.clip();
  }

  // still draws the ground, the ranges, and the entities that do not move. Of a board that changes
  // little it draws the changed cells alone.
  still(frame) {
    const m = this.made;
    if (m.still === frame.entities && m.ranges === frame.ranges && m.withRanges === show.ranges && m.moving === this.movers) return;
    const ranged = show.ranges && frame.ranges.length > 0;
    const list = frame.entities.filter((e) => e && !this.moving.has(e));
    const cells = m.still && m.list && !ranged ? this.changedCells(m.list, list) : null;
    Object.assign(m, { still: frame.entities, ranges: frame.ranges, withRanges: show.ranges, moving: this.movers, list: ranged ? null : list });
    const g = this.layers.still;
    if (!cells) g.drawImage(this.layers.ground.canvas, 0, 0);
    this.inside(g);
    if (cells) this.groundOf(g, cells);
    if (ranged) this.rangesOf(g, frame.ranges);
    for (const e of list) if (!cells || cells.marks[this.cellOf(cells, e)]) this.entity(g, e, e.x, e.y);
    g.restore();
  }

  // cellOf returns the index of the cell with the upper left corner of an entity.
  cellOf(cells, e) {
    return Math.floor(this.film.head.up ? this.film.head.height - e.y - e.height : e.y) * cells.wide + Math.floor(e.x);
  }

  // changedCells returns the cells to draw again where the entities were one list and are another:
  // those of the entities in one list only, and all cells of the entities that share such a cell.
  // It returns null where it is better, or necessary, to draw all.
  changedCells(before, list) {
    const { width, height } = this.film.head;
    if (this.cell < 4 || width * height > 65536 || width % 1 || height % 1) return null;
    const cells = { wide: width, high: height, marks: new Uint8Array(width * height) };
    // each calls a function with the cells of an entity until it returns true.
    const each = (e, call) => {
      const first = this.cellOf(cells, e), x = first % width, y = Math.floor(first / width);
      const right = Math.ceil(e.x + e.width) - 1, rows = Math.ceil((e.y % 1) + e.height);
      for (let j = 0; j < rows && y + j < height; j++) for (let i = x; i <= right && i < width; i++) if (call((y + j) * width + i)) return true;
      return false;
    };
    const mark = (e) => each(e, (i) => void (cells.marks[i] = 1));
    const gone = new Set(before);
    let changes = 0;
    for (const e of list) {
      if (e.number > 0 || e.x < 0 || e.y < 0 || e.x + e.width > width || e.y + e.height > height) return null; // it draws outside of its cells
      if (!gone.delete(e) && ++changes) mark(e);
    }
    for (const e of gone) {
      if (e.number > 0) return null;
      mark(e);
    }
    if ((changes + gone.size) * 2 > list.length) return null;
    for (let more = true, turns = 0; more; turns++) {
      if (turns > 8) return null;
      more = false;
      for (const e of list) {
        if (each(e, (i) => cells.marks[i]) && each(e, (i) => !cells.marks[i])) {
          mark(e);
          more = true;
        }
      }
    }
    return cells;
  }

  // groundOf draws the ground of cells, in runs of each row.
  groundOf(g, { wide, high, marks }) {
    const { cell, left, top } = this, from = this.layers.ground.canvas;
    for (let y = 0; y < high; y++) {
      for (let x = 0; x < wide; x++) {
        if (!marks[y * wide + x]) continue;
        const first = x;
        while (x < wide && marks[y * wide + x]) x++;
        const px = left + first * cell, py = top + y * cell, w = (x - first) * cell;
        if (px + w > 0 && py + cell > 0 && px < from.width && py < from.height) g.drawImage(from, px, py, w, cell, px, py, w, cell);
      }
    }
  }

  rangesOf(g, ranges) {
    g.save();
    g.beginPath();
    g.rect(this.left, this.top, this.wide, this.high);
    g.clip();
    g.globalAlpha = 0.45;
    g.lineWidth = this.dpr;
    batched(ranges, (r) => r.owner + "\n" + r.kind, (group) => {
      g.strokeStyle = palette.edge[colour(group[0].owner)];
      g.setLineDash(dashOf(this.film.dashes, group[0].kind, this.dpr));
      g.beginPath();
      for (const r of group) {
        const x = this.x(r.x), y = this.y(r.y), radius = r.radius * this.cell;
        g.moveTo(x + radius, y);
        g.arc(x, y, radius, 0, 2 * Math.PI);
      }
      g.stroke();
    });
    g.restore();
  }

  // entity draws an entity whose least corner is at (x, y).
  entity(g, e, x, y) {
    const { cell, dpr } = this;
    const px = Math.round(this.x(x)), py = Math.round(this.yTop(y, e.height));
    const w = Math.max(1, Math.round(e.width * cell)), h = Math.max(1, Math.round(e.height * cell));
    if (px + w < 0 || py + h < 0 || px > this.canvas.width || py > this.canvas.height) return;
    const sprite = this.sprite(e.look, w, h);
    if (sprite) g.drawImage(sprite, px, py);
    else shape(g, e.look, px, py, w, h, dpr);
    const small = Math.min(w, h);
    if (e.health > 0 && e.health < 1 && small >= 4) {
      const high = Math.max(2, Math.round(Math.min(Math.max(small * 0.12, 1.5 * dpr), 5 * dpr))), rim = Math.max(1, Math.round(small * 0.06));
      const bx = px + rim, by = py + h - rim - high, wide = w - 2 * rim, left = Math.max(1, Math.round(wide * e.health));
      const frame = small >= 20 * dpr ? 1 : 0;
      g.fillStyle = palette.dark;
      g.fillRect(bx - frame, by - frame, (frame ? wide : left) + 2 * frame, high + 2 * frame);
      g.fillStyle = palette.paper;
      g.fillRect(bx + left, by, wide - left, high);
    }
    if (e.number > 0) {
      g.font = fontOf(Math.max(9 * dpr, Math.min(small * 0.4, 14 * dpr)));
      g.strokeStyle = palette.paper;
      g.lineWidth = 2 * dpr;
      g.fillStyle = palette.dark;
      g.textBaseline = "middle";
      g.textAlign = small < 20 * dpr ? "left" : "right";
      for (const draw of ["strokeText", "fillText"]) g[draw](String(e.number), px + w, small < 20 * dpr ? py + h / 2 : py + small * 0.22);
      g.textBaseline = "alphabetic";
    }
  }

  // sprite returns the picture of a look, or null where it has none.
  sprite(look, w, h) {
    const made = look.sprites[this.no];
    if (made?.version === this.version) return made.canvas;
    if (this.spritesOf !== this.version) [this.spritesOf, this.sprites] = [this.version, 0];
    if (w * h > 256 * 256 || ++this.sprites > mostSprites) return null;
    const g = layer();
    g.canvas.width = w;
    g.canvas.height = h;
    shape(g, look, 0, 0, w, h, this.dpr);
    look.sprites[this.no] = { version: this.version, canvas: g.canvas };
    return g.canvas;
  }

  // over draws the lines.
  over(frame) {
    const m = this.made;
    if (m.lines === frame.lines && m.orders === show.orders) return;
    Object.assign(m, { lines: frame.lines, orders: show.orders });
    const g = this.layers.over;
    g.clearRect(0, 0, g.canvas.width, g.canvas.height);
    this.inside(g);
    this.lines(g, frame.lines.filter((l) => l && (l.thick || show.orders)), (l) => l.end);
    g.restore();
  }

  // lines draws lines up to their ends.
  lines(g, lines, end) {
    const { dpr } = this, width = Math.min(Math.max(this.cell / 12, 1.2 * dpr), 3 * dpr);
    g.globalAlpha = 0.75;
    batched(lines, (l) => `${l.owner} ${l.thick} ${l.arrow} ${l.kind}`, (group) => {
      const [l] = group;
      g.strokeStyle = g.fillStyle = palette.edge[colour(l.owner)];
      const thick = l.thick ? 2 * width : width;
      g.lineWidth = thick;
      g.setLineDash(dashOf(this.film.dashes, l.kind, dpr));
      g.beginPath();
      for (const l of group) {
        const [x, y] = end(l);
        g.moveTo(this.x(l.x1), this.y(l.y1));
        g.lineTo(this.x(x), this.y(y));
      }
      g.stroke();
      if (!l.arrow) return;
      g.beginPath();
      for (const l of group) {
        const [x, y] = end(l);
        head(g, this.x(l.x1), this.y(l.y1), this.x(x), this.y(y), thick);
      }
      g.fill();
    });
    g.globalAlpha = 1;
  }

  // events draws what has happened: a beam from place to place, and a star where it arrives, unless they are many. They
  // fade while things move.
  events(g, events, part) {
    if (!events.length) return;
    this.inside(g);
    const { cell, dpr } = this;
    const radius = Math.min(Math.max(cell * 0.8, 5 * dpr), 40 * dpr) * (0.75 + 0.25 * part);
    const many = events.length > 30;
    let numbers = 60;
    for (const v of events) {
      if (!v.placed) continue;
      const x1 = this.x(v.x1), y1 = this.y(v.y1), x2 = this.x(v.x2), y2 = this.y(v.y2);
      g.strokeStyle = g.fillStyle = palette.edge[colour(v.owner)];
      g.setLineDash([]);
      g.globalAlpha = 1 - 0.3 * part;
      g.lineWidth = Math.min(Math.max(1.5 * dpr, cell / 16), 3 * dpr);
      g.beginPath();
      if (v.x1 !== v.x2 || v.y1 !== v.y2) {
        g.moveTo(x1, y1);
        g.lineTo(x2, y2);
      }
      for (let i = 0; i < 8 && !(many && (v.x1 !== v.x2 || v.y1 !== v.y2)); i++) {
        const dx = Math.cos((i * Math.PI) / 4), dy = Math.sin((i * Math.PI) / 4);
        g.moveTo(x2 + dx * radius * 0.65, y2 + dy * radius * 0.65);
        g.lineTo(x2 + dx * radius, y2 + dy * radius);
      }
      g.stroke();
      if (v.amount && !many && cell >= 9 * dpr && numbers-- > 0) {
        g.font = "bold " + fontOf(Math.min(Math.max(cell * 0.35, 10 * dpr), 14 * dpr));
        g.textAlign = "left";
        g.textBaseline = "alphabetic";
        g.globalAlpha = 1;
        g.lineWidth = 3 * dpr;
        g.strokeStyle = palette.paper;
        const words = figure(v.amount);
        g.strokeText(words, x2 + radius * 0.75, y2 - radius * 0.75);
        g.fillText(words, x2 + radius * 0.75, y2 - radius * 0.75);
      }
    }
    g.restore();
  }

  // weighed marks the cells of the moves that searches weighed: the larger the share, the larger the disc.
  weighed(g) {
    if (!show.moves || !this.moves?.length) return;
    this.moves.forEach((list, seat) => {
      g.fillStyle = g.strokeStyle = palette.edge[colour(seat)];
      g.lineWidth = this.dpr;
      g.setLineDash([]);
      const best = Math.max(...list.map((m) => m.share), 0.01);
      for (const m of list) {
        if (!m.placed || m.share < 0.005) continue;
        g.beginPath();
        g.arc(this.x(m.x + 0.5), this.y(m.y + 0.5), Math.max(this.cell * 0.46 * Math.sqrt(m.share / best), 1.5 * this.dpr), 0, 2 * Math.PI);
        g.globalAlpha = 0.15;
        g.fill();
        g.globalAlpha = 0.8;
        g.stroke();
      }
    });
    g.globalAlpha = 1;
  }

  // marks returns the cells where a person can order what is chosen, and those of a hint, with the width of their lines: in
  // the position to which the orders belong.
  marks() {
    return person.current() ? [[this.cells, 1], [this.hints, 3]].filter(([cells]) => cells?.length) : [];
  }

  // legal marks the cells, and draws what the orders of the turn would do.
  legal(g) {
    for (const [cells, width] of this.marks()) {
      g.setLineDash([]);
      g.lineWidth = width * this.dpr;
      g.strokeStyle = g.fillStyle = palette.mark;
      for (const c of cells) {
        const x = Math.round(this.x(c.x)), y = Math.round(this.yTop(c.y, c.height)), w = Math.round(c.width * this.cell), h = Math.round(c.height * this.cell);
        g.globalAlpha = 0.16;
        if (width === 1) g.fillRect(x, y, w, h);
        g.globalAlpha = 0.9;
        g.strokeRect(x + 1, y + 1, w - 2, h - 2);
      }
      g.globalAlpha = 1;
    }
    if (!this.no && person.draft && person.current()) {
      g.globalAlpha = 0.7;
      for (const e of person.draft.entities) this.entity(g, e, e.x, e.y);
      this.lines(g, person.draft.lines, (l) => [l.x2, l.y2]);
    }
  }

  // rings marks the entities that a person points at or has chosen, and draws their orders up to the end.
  rings(g, part) {
    for (const [e, width] of [[this.pointed, 1.5], [this.chosen, 2.5]]) {
      if (!e) continue;
      this.lines(g, linesOf(this.frame, e).filter((l) => l.end[0] !== l.x2 || l.end[1] !== l.y2), (l) => [l.x2, l.y2]);
      const m = this.movers.find((m) => m.e === e);
      const x = m ? m.x + (e.x - m.x) * part : e.x, y = m ? m.y + (e.y - m.y) * part : e.y;
      g.strokeStyle = palette.mark;
      g.lineWidth = width * this.dpr;
      g.setLineDash([]);
      g.strokeRect(this.x(x) - 2 * this.dpr, this.yTop(y, e.height) - 2 * this.dpr, e.width * this.cell + 4 * this.dpr, e.height * this.cell + 4 * this.dpr);
    }
  }

  // miniBox returns the rectangle of the map in the corner.
  miniBox() {
    const { width, height } = this.film.head;
    const scale = (miniSide * this.dpr) / Math.max(width, height);
    const w = Math.max(8, Math.round(width * scale)), h = Math.max(8, Math.round(height * scale));
    return { x: this.canvas.width - w - 10 * this.dpr, y: this.clip.bottom - h - 10 * this.dpr, w, h, scale };
  }

  mini(g, frame) {
    const box = this.miniBox(), { up, height } = this.film.head;
    if (this.made.mini !== frame.entities) {
      this.made.mini = frame.entities;
      const m = this.layers.mini;
      m.canvas.width = box.w;
      m.canvas.height = box.h;
      m.fillStyle = palette.area[0];
      m.fillRect(0, 0, box.w, box.h);
      const dot = (a, fill, least) => {
        m.fillStyle = fill;
        m.fillRect(a.x * box.scale, (up ? height - a.y - a.height : a.y) * box.scale, Math.max(a.width * box.scale, least), Math.max(a.height * box.scale, least));
      };
      for (const a of frame.areas) if (a) dot(a, a.hidden ? palette.fog : palette.area[colour(a.owner)], 0);
      for (const e of frame.entities) if (e) dot(e, palette.edge[colour(e.owner)], 1.5);
    }
    g.globalAlpha = 0.92;
    g.drawImage(this.layers.mini.canvas, box.x, box.y);
    g.globalAlpha = 1;
    g.setLineDash([]);
    g.strokeStyle = palette.axis;
    g.lineWidth = this.dpr;
    g.strokeRect(box.x, box.y, box.w, box.h);
    const at = (v, from) => Math.min(Math.max((v - from) / this.cell, 0), 1e6);
    const x1 = at(this.clip.left, this.left) * box.scale, y1 = at(0, this.top) * box.scale;
    const x2 = Math.min(at(this.canvas.width, this.left) * box.scale, box.w), y2 = Math.min(at(this.clip.bottom, this.top) * box.scale, box.h);
    g.strokeStyle = palette.mark;
    g.lineWidth = 2 * this.dpr;
    g.strokeRect(box.x + x1, box.y + y1, x2 - x1, y2 - y1);
  }

  // zoomBy changes the zoom and keeps the point (x, y) of the canvas, in points of the page.
  zoomBy(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    if (!this.film?.head.drawn || !this.cell) return;
    const px = x * this.dpr, py = y * this.dpr;
    const bx = (px - this.left) / this.cell, by = (py - this.top) / this.cell;
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), greatestZoom);
    if (this.zoom < 1.02) return this.fit();
    this.place();
    this.midX += bx - (px - this.left) / this.cell;
    this.midY += by - (py - this.top) / this.cell;
    this.place();
  }

  panBy(dx, dy) {
    if (!this.cell || this.zoom === 1) return;
    this.midX -= (dx * this.dpr) / this.cell;
    this.midY -= (dy * this.dpr) / this.cell;
    this.place();
  }

  // jump moves the view to a point of the map in the corner. It reports whether the point is on the map.
  jump(x, y) {
    if (this.zoom === 1 || !this.clip || !this.film) return false;
    const box = this.miniBox();
    const mx = x * this.dpr - box.x, my = y * this.dpr - box.y;
    if (mx < 0 || my < 0 || mx > box.w || my > box.h) return false;
    this.midX = mx / box.scale;
    this.midY = my / box.scale;
    this.place();
    return true;
  }

  // at returns the topmost entity at a point of the canvas, in points of the page.
  at(x, y) {
    if (!this.frame || !this.cell || !this.film.head.drawn) return null;
    const [bx, by] = this.under(x, y);
    for (let i = this.frame.entities.length - 1; i >= 0; i--) {
      const e = this.frame.entities[i];
      if (e && bx >= e.x && by >= e.y && bx < e.x + e.width && by < e.y + e.height) return e;
    }
    return null;
  }

  // pointOf returns the middle of an entity in points of the page.
  pointOf(e) {
    return [(this.x(e.x + e.width / 2)) / this.dpr, (this.yTop(e.y, e.height) + (e.height * this.cell) / 2) / this.dpr];
  }
}

// recentIDs has the entities by id of the last frames that were asked for.
const recentIDs = [];

function idsOf(entities) {
  let known = recentIDs.find((r) => r.entities === entities);
  if (!known) {
    known = { entities, ids: new Map() };
    for (const e of entities) if (e?.id) known.ids.set(e.id, e);
    recentIDs.push(known);
    if (recentIDs.length > 4) recentIDs.shift();
  }
  return known.ids;
}

// linesOf returns the orders of an entity: the arrows from its middle.
function linesOf(frame, e) {
  const x = e.x + e.width / 2, y = e.y + e.height / 2;
  return frame.lines.filter((l) => l && l.arrow && l.owner === e.owner && Math.abs(l.x1 - x) < 0.01 && Math.abs(l.y1 - y) < 0.01);
}

// batched calls draw for each group of the things with the same key.
function batched(things, key, draw) {
  const groups = new Map();
  for (const t of things) {
    if (!t) continue;
    const k = key(t);
    const group = groups.get(k);
    if (group) group.push(t);
    else groups.set(k, [t]);
  }
  groups.forEach(draw);
}

// head adds the head of an arrow to the path.
function head(g, x1, y1, x2, y2, width) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (!(length > 0)) return;
  const dx = (x2 - x1) / length, dy = (y2 - y1) / length, back = 4 * width, side = 2 * width;
  const bx = x2 - dx * back, by = y2 - dy * back;
  g.moveTo(x2, y2);
  g.lineTo(bx - dy * side, by + dx * side);
  g.lineTo(bx + dy * side, by - dx * side);
  g.closePath();
}

// figure formats a number with one decimal at most, below 1 with two.
function figure(v) {
  if (v === null || v === undefined || !Number.isFinite(v) || Math.abs(v) > 1e12) return "–";
  const parts = Math.abs(v) < 1 ? 100 : 10;
  return String(Math.round(v * parts) / parts);
}
