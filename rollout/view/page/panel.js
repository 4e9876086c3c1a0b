// This file fills the tables and lists beside the board. It inserts text as text, never as
// markup, and changes only what differs, so that selection and focus keep their place.

function put(node, words, looks) {
  if (node.textContent !== words) node.textContent = words;
  if (looks !== undefined && node.className !== looks) node.className = looks;
}

function element(name, words, looks) {
  const node = document.createElement(name);
  if (words) node.textContent = words;
  if (looks) node.className = looks;
  return node;
}

// differs reports whether a node shows something else than the key says, and keeps the key.
function differs(node, key) {
  const is = node.dataset.key !== key;
  node.dataset.key = key;
  return is;
}

// fit gives a node that number of children.
function fit(node, count, make) {
  while (node.children.length > count) node.lastElementChild.remove();
  while (node.children.length < count) node.append(make(node.children.length));
  return node.children;
}

const chip = (seat) => element("span", "", "chip seat" + (seat >= 0 && seat < 4 ? seat : -1));

// rows makes the rows of a table's body. A cell is [text, class] or a function that fills it, and
// is called again only where the cell's key changes: [function, class, key].
function rows(body, list, names = true) {
  while (body.rows.length > list.length) body.deleteRow(-1);
  list.forEach((cells, i) => {
    const row = body.rows[i] ?? body.insertRow();
    while (row.cells.length > cells.length) row.deleteCell(-1);
    cells.forEach(([what, looks, key], j) => {
      let cell = row.cells[j];
      if (!cell) {
        row.append((cell = element(j || !names ? "td" : "th")));
        if (!j && names) cell.scope = "row";
      }
      if (typeof what !== "function") {
        delete cell.dataset.key;
        put(cell, what, looks ?? "");
      } else if (differs(cell, "k" + key)) {
        cell.className = looks ?? "";
        cell.replaceChildren();
        what(cell);
      }
    });
  });
}

function heads(table, list) {
  const row = table.tHead.rows[0];
  const key = JSON.stringify(list.map((h) => [h[0], h[1]]));
  if (!differs(row, key)) return;
  table.dataset.columns = list.length;
  row.replaceChildren(...list.map(([words, looks, seat, named]) => {
    const head = element("th", "", looks);
    head.scope = "col";
    head.title = words;
    if (seat !== undefined) head.append(chip(seat));
    if (named) head.append(seatLetter(seat), " ", element("span", named));
    else head.append(words);
    return head;
  }));
}

// lines makes the items of a list of texts.
function lines(list, items, empty, limit = 200) {
  const shown = items.slice(0, limit);
  if (items.length > limit) shown.push({ words: `and ${items.length - limit} more` });
  if (!shown.length) shown.push({ words: empty, looks: "soft" });
  fit(list, shown.length, () => element("li"));
  shown.forEach(({ words, seat, looks = "" }, i) => {
    const node = list.children[i];
    if (!differs(node, `${seat} ${looks} ${words}`)) return;
    node.className = looks;
    node.replaceChildren(...(seat === undefined ? [] : [chip(seat)]), words);
  });
}

const playerOf = (head, seat) => seatLetter(seat) + (head.players[seat] ? " " + head.players[seat] : "");
const seatsOf = (head) => Array.from({ length: head.seats }, (_, i) => i);
const spaced = (name) => name.replaceAll("_", " ");

function showStats(head, stats) {
  const seats = seatsOf(head);
  if (head.stats.some((s) => s.seat < 0)) seats.push(-1);
  heads($("stats"), [["", ""], ...seats.map((s) => [s < 0 ? "game" : playerOf(head, s), "n", s, head.players[s]])]);
  const names = [...new Set(head.stats.map((s) => s.name))];
  rows($("stats").tBodies[0], names.map((name) => {
    const of = (seat) => head.stats.findIndex((s) => s.name === name && s.seat === seat);
    const unit = head.stats.find((s) => s.name === name).unit;
    const label = unit.includes(name) ? unit : spaced(name) + (unit ? ` (${unit})` : "");
    return [[label], ...seats.map((seat) => [of(seat) < 0 ? "" : figure(stats[of(seat)]), "n"])];
  }));
}

// sampled returns a small picture of an entity's look for the legend.
function sampled(draw) {
  const canvas = element("canvas");
  const dpr = Math.min(window.devicePixelRatio || 1, 3);
  canvas.width = canvas.height = Math.round(20 * dpr);
  canvas.setAttribute("aria-hidden", "true");
  draw(canvas.getContext("2d"), canvas.width, dpr);
  return canvas;
}

const themeKey = () => (palette === scheme.dark ? "dark" : "light");

// showKinds shows the kinds on the board with how many each owner has, and what lines and ranges mean.
function showKinds(film, frame) {
  const { head } = film;
  const counts = new Map();
  for (const e of frame.entities) {
    if (!e) continue;
    let of = counts.get(e.look.sample);
    if (!of) counts.set(e.look.sample, (of = { by: new Map() }));
    of.by.set(e.owner, (of.by.get(e.owner) ?? 0) + 1);
  }
  const owners = new Set(seatsOf(head));
  for (const of of counts.values()) for (const o of of.by.keys()) if (owners.size < most.seats) owners.add(o);
  const columns = [...owners].sort((a, b) => (a < 0 ? 1 : b < 0 ? -1 : a - b));
  heads($("kinds"), [["", ""], ...columns.map((o) => [o < 0 ? "–" : seatLetter(o), "n", o])]);
  const sorted = [...counts].sort((a, b) => (a[0].kind < b[0].kind ? -1 : 1)).slice(0, 100);
  rows($("kinds").tBodies[0], sorted.map(([look, of]) => [
    [(cell) => {
      cell.append(sampled((g, side, dpr) => shape(g, look, 0, 0, side, side, dpr)), look.kind);
    }, "", `${look.kind} ${look.letter} ${look.corners} ${look.fill} ${themeKey()}`],
    ...columns.map((o) => [of.by.has(o) ? String(of.by.get(o)) : "", "n"]),
  ]));
  const signs = new Map();
  for (const e of frame.entities) if (e?.flags) for (const [bit, words] of [[1, "unfinished"], [2, "upgraded"], [4, "leaving or out"]]) if (e.flags & bit) signs.set(words, { look: e.look });
  for (const r of frame.ranges) if (r) signs.set(r.kind + " range", { ring: r.kind });
  for (const l of frame.lines) if (l) signs.set(l.kind, { line: l });
  const list = $("legend");
  if (!differs(list, [...signs.keys()].join("\n") + themeKey())) return;
  list.replaceChildren(...[...signs].slice(0, 60).map(([words, sign]) => {
    const item = element("li");
    item.append(sampled((g, side, dpr) => signOf(g, sign, side, dpr, film)), words);
    return item;
  }));
}

function signOf(g, sign, side, dpr, film) {
  if (sign.look) return shape(g, sign.look, 0, 0, side, side, dpr);
  g.strokeStyle = g.fillStyle = palette.edge[0];
  g.lineWidth = 1.5 * dpr * (sign.line?.thick ? 2 : 1);
  g.setLineDash(dashOf(film.dashes, sign.ring ?? sign.line.kind, dpr));
  g.beginPath();
  if (sign.ring !== undefined) g.arc(side / 2, side / 2, side / 2 - dpr, 0, 2 * Math.PI);
  else {
    g.moveTo(0, side / 2);
    g.lineTo(side, side / 2);
  }
  g.stroke();
  g.beginPath();
  if (sign.line?.arrow) head(g, 0, side / 2, side, side / 2, 1.5 * dpr);
  g.fill();
}

// place names the cell of a point.
const place = (head, x, y) => [[x, head.width], [y, head.height]].map(([v, end]) => Math.max(0, Math.floor(Math.min(v, end - 0.5)))).join(", ");

function eventWords(head, v) {
  let words = v.kind || "event";
  if (v.placed) words += v.x1 === v.x2 && v.y1 === v.y2 ? ` at ${place(head, v.x1, v.y1)}` : `, ${place(head, v.x1, v.y1)} → ${place(head, v.x2, v.y2)}`;
  if (v.amount) words += ": " + figure(v.amount);
  return v.note ? `${words} (${v.note})` : words;
}

// showEvents shows the events. Of a kind with many there is one line.
function showEvents(head, events) {
  const list = [];
  batched(events, (v) => [v.kind, v.owner, v.note].join("\n"), (alike) => {
    const [v] = alike, amount = alike.reduce((sum, v) => sum + v.amount, 0);
    const shown = alike.length > 8 ? [{ ...v, kind: `${alike.length} × ${v.kind || "event"}`, placed: false, amount }] : alike;
    list.push(...shown.map((v) => ({ words: eventWords(head, v), seat: v.owner })));
  });
  lines($("events"), list, "none");
}

// bySeat shows a list below the name of each seat. itemsOf returns the items of a seat, or null for nothing.
function bySeat(box, head, seats, itemsOf) {
  if (!differs(box, JSON.stringify(seats))) return;
  box.replaceChildren(...seats.flatMap((of, seat) => {
    const items = itemsOf(of), title = element("h3"), list = element("ul");
    if (!items) return [];
    title.append(chip(seat), playerOf(head, seat));
    lines(list, items, "none", 300);
    return [title, list];
  }));
  if (!box.children.length) box.append(element("p", "none", "soft"));
}

// showInputs shows the orders that led to a frame, and those of the turn that comes next if the frame is a state.
function showInputs(film, frame) {
  const { head } = film, at = Math.min(state.turn, head.turns);
  for (const [id, turn, words] of [["played", at - 1, `Orders of ${head.word} ${at - 1}`], ["inputs", frame.no === null ? at : -1, `Orders of the next ${head.word}, ${at}`]]) {
    const inputs = turn < 0 ? [] : film.inputs(turn, at, state.seat);
    $(id).parentElement.hidden = !inputs.length;
    put($("h-" + id), words);
    bySeat($(id), head, inputs, (orders) => orders.map((words) => ({ words })));
  }
}

// showMoves shows the moves that the seats' searches weighed, those with the largest shares first.
function showMoves(head, moves) {
  $("moves-box").hidden = $("show-moves-label").hidden = !head.moves;
  if (!head.moves) return;
  const words = (m) => `${(100 * m.share).toFixed(m.share < 0.1 ? 1 : 0)} % ${m.text}`;
  bySeat($("moves"), head, moves, (list) => (list.length ? list.slice(0, 8).map((m) => ({ words: words(m) })) : null));
}

// printedOf checks what the seats printed in a turn: for each { lines, left }, left being the number of lines left out.
function printedOf(seats) {
  return listOf(seats, most.seats).map((p) => ({ lines: listOf(p?.lines, 200).map((line) => text(line, 400)), left: whole(p?.left, 0, 1e9) }));
}

// showPrinted shows what the bots printed since the turn before.
function showPrinted(head, turn, seats) {
  $("printed-box").hidden = !head.printed;
  if (!head.printed) return;
  put($("printed-when"), turn ? `Since ${head.word} ${turn - 1}:` : `Before the first ${head.word}:`);
  bySeat($("printed"), head, seats, (p) => {
    const left = p.left ? [{ words: `${p.left} more ${p.left === 1 ? "line is" : "lines are"} left out`, looks: "soft" }] : [];
    return p.lines.length || p.left ? [...p.lines.map((words) => ({ words })), ...left] : null;
  });
}

// factsOf returns what is to be said of an entity, as lines of text.
function factsOf(film, frame, e) {
  const list = [`${e.owner < 0 ? "nobody's" : playerOf(film.head, e.owner) + ":"} ${e.kind}`];
  list.push(`at ${place(film.head, e.x, e.y)}` + (e.width === 1 && e.height === 1 ? "" : `, ${figure(e.width)} × ${figure(e.height)}`));
  if (e.health) list.push(`health ${Math.ceil(e.health * 100)} %`);
  if (e.number) list.push("number " + e.number);
  const signs = ["unfinished", "upgraded", "leaving"].filter((_, i) => e.flags & (1 << i));
  if (signs.length) list.push(signs.join(", "));
  if (e.note) list.push(e.note);
  for (const l of linesOf(frame, e).slice(0, 4)) list.push(`${l.kind} → ${place(film.head, l.x2, l.y2)}${l.note ? " (" + l.note + ")" : ""}`);
  return list;
}

function paragraphs(box, list) {
  if (differs(box, list.join("\n"))) box.replaceChildren(...list.map((words) => element("p", words)));
}

function showMarks(head, go) {
  $("marks-box").hidden = !head.marks.length;
  const list = $("mark-list");
  list.replaceChildren(...head.marks.slice(0, 300).map((m) => {
    const item = element("li"), button = element("button");
    button.type = "button";
    button.append(chip(m.seat), `${head.word} ${m.turn}: ${m.kind}${m.note ? " – " + m.note : ""}`);
    button.addEventListener("click", () => go(m.turn));
    item.append(button);
    return item;
  }));
  if (head.marks.length > 300) list.append(element("li", `and ${head.marks.length - 300} more`));
}

// fitted sets the size of a canvas to that of its box and returns its context.
function fitted(canvas) {
  const dpr = Math.min(window.devicePixelRatio || 1, 3);
  const w = Math.round(canvas.clientWidth * dpr), h = Math.round(canvas.clientHeight * dpr);
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const g = canvas.getContext("2d");
  g.clearRect(0, 0, w, h);
  return [g, w, h, dpr];
}

// Half of the thumb of the seek bar: its ends lie so far inside.
const thumb = 8;

function drawMarks(head, differs) {
  const [g, w, h, dpr] = fitted($("marks"));
  const at = (turn) => thumb * dpr + ((w - 2 * thumb * dpr) * turn) / Math.max(1, head.turns);
  for (const m of head.marks) {
    g.fillStyle = m.kind === "fault" ? (palette === scheme.dark ? "#ff9a92" : "#b3261e") : palette.edge[colour(m.seat)];
    g.fillRect(at(m.turn) - dpr, 0, 2 * dpr, m.kind === "event" ? h * 0.6 : h);
  }
  if (differs >= 0) {
    g.fillStyle = palette.mark;
    g.fillRect(at(differs) - 1.5 * dpr, 0, 3 * dpr, h);
  }
}

// fillPlotted offers the names of the stats, most of them first those that the film names first.
function fillPlotted(head) {
  const names = [...new Set(head.stats.map((s) => s.name))];
  const select = $("plotted"), was = select.value;
  select.replaceChildren(...names.map((n) => new Option(spaced(n), n)));
  if (names.includes(was)) select.value = was;
  $("plot-box").hidden = !names.length;
}

// drawPlot draws a stat over the turns: of all turns, or of those that are loaded.
function drawPlot(film, seat, turn) {
  const { head } = film, name = $("plotted").value, canvas = $("plot");
  if ($("plot-box").hidden) return;
  const series = head.stats.map((s, i) => [s, i]).filter(([s]) => s.name === name);
  const value = (t, i) => (seat < 0 ? film.all?.[t]?.[i] : undefined) ?? film.values.get(`${seat} ${t}`)?.[i];
  const step = Math.max(1, Math.ceil((head.turns + 1) / (3 * canvas.clientWidth))); // at most one point for each pixel
  const turns = Array.from({ length: Math.floor(head.turns / step) + 1 }, (_, i) => i * step);
  const lines = series.map(([s, i]) => ({ colour: palette.edge[colour(s.seat)], points: turns.map((t) => (Number.isFinite(value(t, i)) ? [t, value(t, i)] : null)) }));
  plotArea = drawChart(canvas, { lines, x: head.word, span: [0, Math.max(1, head.turns)], at: turn });
  const now = series.map(([s, i]) => `${seatLetter(s.seat)} ${figure(value(turn, i))}`).join(", ");
  canvas.setAttribute("aria-label", `${spaced(name)} over the ${head.word}s; at ${head.word} ${turn}: ${now}`);
}

let plotArea = { left: 0, right: 1 };
