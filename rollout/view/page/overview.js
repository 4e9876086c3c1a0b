// This file shows the overview above the list of games: texts, tables and plots about a dataset, a tournament, or a run
// that learns. It changes only what differs, so that what is being read keeps its place.

Object.assign(most, { sections: 60, tables: 20, rows: 1000, columns: 100, paragraphs: 200, charts: 200, lines: 16, points: 5000, bars: 1000, parts: 20 });

// overview.due: the data on the page are older than the list.
const overview = { due: false, asked: 0 };
const plotted = new Map(); // the plots of the overview, by canvas

// overviewOf checks an overview.json.
function overviewOf(raw) {
  const point = (p) => Array.isArray(p) && Number.isFinite(p[0]) && Number.isFinite(p[1]);
  const cell = (c) => ({
    text: text(c?.text, 1000), small: text(c?.small), hint: text(c?.hint, 1000), to: typeof c?.to === "string" && c.to[0] === "#" ? c.to : "", heat: Number.isFinite(c?.heat) ? c.heat : null,
    bar: listOf(c?.bar, most.parts).map((p) => ({ share: Math.min(Math.max(number(p?.share), 0), 1), look: ["ahead", "even", "behind"].includes(p?.look) ? p.look : "" })),
  });
  const table = (t) => ({
    caption: text(t?.caption), grid: t?.grid === true, rows: listOf(t?.rows, most.rows).map((row) => listOf(row, most.columns).map(cell)),
    columns: listOf(t?.columns, most.columns).map((c) => ({ name: text(c?.name), hint: text(c?.hint), number: c?.number === true })),
  });
  const chart = (c) => ({
    title: text(c?.title), x: text(c?.x, 80), lines: listOf(c?.lines, most.lines).map((l) => ({ name: text(l?.name, 60), points: listOf(l?.points, most.points).filter(point) })),
    bars: c?.bars ? { min: number(c.bars.min), max: number(c.bars.max), from: number(c.bars.from), width: Math.max(number(c.bars.width), 1e-300), counts: listOf(c.bars.bars, most.bars).map((n) => Math.max(number(n), 0)) } : null,
  });
  return listOf(raw.sections, most.sections).map((s) => ({
    title: text(s?.title), folded: s?.folded === true, text: listOf(s?.text, most.paragraphs).map((t) => text(t, 2000)), code: text(s?.code, 2000),
    charts: listOf(s?.charts, most.charts).map(chart), tables: listOf(s?.tables, most.tables).map(table),
  }));
}

// showOverview loads and shows the overview, if the list has one that is not on the page.
async function showOverview() {
  if (!gameList.info.overview) $("overview").hidden = true;
  const alone = gameList.info.overview && !gameList.info.total;
  for (const node of [$("filters"), $("games").parentElement, $("page-of").parentElement]) node.hidden = alone;
  if (!gameList.info.overview || !overview.due) return;
  overview.due = false;
  const mine = ++overview.asked;
  try {
    const raw = await load("overview.json");
    if (mine !== overview.asked) return;
    fillOverview(sound(() => overviewOf(raw)));
    put($("overview-say"), "");
  } catch (e) {
    if (mine === overview.asked) put($("overview-say"), "The overview cannot be shown: " + e.message);
  }
  $("overview").hidden = false;
}

function fillOverview(sections) {
  const made = fit($("overview-list"), sections.length, (i) => {
    const node = element("details"), summary = element("summary");
    summary.append(element("h2"));
    node.open = !sections[i].folded;
    node.append(summary, element("div"), element("code"), element("div", "", "charts"), element("div"));
    return node;
  });
  sections.forEach((s, i) => {
    const [summary, say, code, charts, tables] = made[i].children;
    put(summary.firstChild, s.title);
    const paragraphs = fit(say, s.text.length, () => element("p", "", "soft"));
    s.text.forEach((words, k) => put(paragraphs[k], words));
    put(code, s.code);
    fit(charts, s.charts.length, plotNode);
    s.charts.forEach((c, k) => fillPlot(charts.children[k], c));
    fit(tables, s.tables.length, tableNode);
    s.tables.forEach((t, k) => fillTable(tables.children[k], t, s));
  });
  for (const canvas of plotted.keys()) if (!canvas.isConnected) plotted.delete(canvas);
}

function tableNode() {
  const node = element("div"), box = element("div", "", "scroll tall"), table = element("table");
  table.createTHead().insertRow();
  table.createTBody();
  Object.assign(box, { tabIndex: 0, role: "region" });
  box.dataset.scrolls = "";
  box.append(table);
  node.append(element("p", "", "soft"), box);
  return node;
}

function fillTable(node, t, { title, tables }) {
  const [say, box] = node.children, table = box.firstChild;
  put(say, tables.length > 1 ? t.caption : "");
  box.ariaLabel = t.caption || title;
  table.className = t.grid ? "grid" : "";
  heads(table, t.columns.map((c) => [c.name, c.number ? "n" : ""]));
  t.columns.forEach((c, k) => (table.tHead.rows[0].cells[k].title = c.hint || c.name));
  const made = fit(table.tBodies[0], t.rows.length, () => element("tr"));
  t.rows.forEach((cells, i) => {
    const row = fit(made[i], cells.length, (k) => Object.assign(element(k ? "td" : "th"), k ? {} : { scope: "row" }));
    cells.forEach((c, k) => fillCell(row[k], c, t.columns[k]?.number));
  });
  if (t.grid) tabInto(table, 0, 0);
}

// fillCell shows a cell. Its link stays the same element, so that it keeps the focus.
function fillCell(cell, c, isNumber) {
  if (!differs(cell, JSON.stringify([c, isNumber]))) return;
  cell.className = [isNumber && "n", c.heat !== null && "heat" + [0.25, 0.45, 0.55, 0.75].filter((least) => c.heat > least).length].filter(Boolean).join(" ");
  let inner = cell;
  if (c.to) {
    inner = cell.querySelector("a") ?? element("a");
    if (!inner.isConnected) cell.replaceChildren(inner);
    inner.href = c.to;
    inner.ariaLabel = c.hint || null;
  }
  inner.title = c.hint;
  inner.replaceChildren(c.text || (c.to ? "(no name)" : ""));
  if (c.small) inner.append(element("small", c.small));
  if (!c.bar.length) return;
  const bar = element("span", "", "bar");
  bar.append(...c.bar.map((p) => Object.assign(element("span", "", p.look), { style: `width:${100 * p.share}%` })));
  inner.append(bar);
}

// tabInto lets the Tab key reach one cell of a grid: the one that has the focus, or the first link from a cell on.
function tabInto(table, row, column) {
  const links = [...table.querySelectorAll("tbody a")];
  const one = links.find((l) => l === document.activeElement) ?? table.tBodies[0].rows[row]?.cells[column]?.querySelector("a") ?? links[0];
  for (const l of links) l.tabIndex = l === one ? 0 : -1;
}

// The arrow keys move in a grid.
$("overview").addEventListener("keydown", (e) => {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key], cell = e.target.closest(".grid td");
  if (!step || !cell) return;
  e.preventDefault();
  const table = cell.closest("table"), all = table.tBodies[0].rows;
  let row = cell.parentElement.sectionRowIndex, column = cell.cellIndex;
  for (;;) {
    row += step[0];
    column += step[1];
    const next = all[row]?.cells[column];
    if (!next || !column) return;
    const link = next.querySelector("a");
    if (!link) continue;
    link.focus();
    return tabInto(table, row, column);
  }
});

// A link to a part of the list leads to the list.
$("overview").addEventListener("click", (e) => {
  if (e.target.closest("a")) $("filters").scrollIntoView({ block: "start" });
});

function plotNode() {
  const node = element("figure"), canvas = element("canvas");
  canvas.setAttribute("role", "img");
  node.append(element("figcaption"), canvas, element("ul"));
  new ResizeObserver(drawCharts).observe(canvas);
  return node;
}

function fillPlot(node, c) {
  const [title, canvas, legend] = node.children;
  put(title, c.title);
  const named = c.lines.length > 1 || c.lines.some((l) => l.name);
  legend.replaceChildren(...(named ? c.lines : []).map((l, k) => {
    const item = element("li");
    item.append(sampled((g, side, dpr) => {
      beginLine(g, c.lines[k], k, dpr);
      g.moveTo(0, side / 2);
      g.lineTo(side, side / 2);
      g.stroke();
    }), `${l.name} ${rounded(l.points.at(-1)?.[1])}`);
    return item;
  }));
  const ends = c.lines.map((l) => [l.name, rounded(l.points.at(-1)?.[1])].filter(Boolean).join(" ")).join(", ");
  const highest = c.bars?.counts.indexOf(Math.max(...c.bars.counts));
  canvas.ariaLabel = `${c.title} by ${c.x}; ${c.bars ? `the highest bar, ${c.bars.counts[highest]}, begins at ${rounded(c.bars.from + highest * c.bars.width)}` : "at the end: " + ends}`;
  plotted.set(canvas, c);
  drawCharts();
}

function drawCharts() {
  for (const [canvas, c] of plotted) if (canvas.clientWidth) drawChart(canvas, c);
}
