// This file shows the progress of a run that learns, as charts.

most.charts = 200;
most.lines = 16;
most.points = 5000;

// charts.due: the data on the page are older than the run.
const charts = { due: false, asked: 0, all: null };

// The colours of lines, which can be told from both grounds; lines after the eighth are dashed.
const lineColours = ["#0072b2", "#d55e00", "#008a63", "#b5568c", "#a87900", "#2f8fce", "#7a68d8", "#7b7f86"];

// chartsOf checks a charts.json.
function chartsOf(raw) {
  const point = (p) => Array.isArray(p) && Number.isFinite(p[0]) && Number.isFinite(p[1]);
  return {
    points: whole(raw.points, 0, 1e9), x: text(raw.x, 40), last: listOf(raw.last, 300).map((f) => [text(f?.name, 80), number(f?.value)]),
    charts: listOf(raw.charts, most.charts).map((c) => ({
      title: text(c?.title, 80), lines: listOf(c?.lines, most.lines).map((l) => ({ name: text(l?.name, 60), points: listOf(l?.points, most.points).filter(point) })),
    })),
  };
}

// showCharts loads and shows the charts, if the list has some that are not on the page.
async function showCharts() {
  $("charts").hidden = !shelf.info.charts;
  const alone = shelf.info.charts && !shelf.info.total;
  for (const node of [$("filters"), $("games").parentElement, $("page-of").parentElement]) node.hidden = alone;
  if (!shelf.info.charts || !charts.due) return;
  charts.due = false;
  const mine = ++charts.asked;
  try {
    const raw = await load("charts.json");
    if (mine !== charts.asked) return;
    charts.all = sound(() => chartsOf(raw));
    put($("charts-say"), `${charts.all.points} ${charts.all.points === 1 ? "point" : "points"}${shelf.info.live ? "; the page follows the run" : ""}`);
    fillCharts();
  } catch (e) {
    if (mine === charts.asked) put($("charts-say"), "The charts cannot be shown: " + e.message);
  }
}

// rounded returns a number with four digits.
const rounded = (v) => (Number.isFinite(v) ? String(Number(v.toPrecision(4))) : "–");

function fillCharts() {
  const box = $("chart-list"), { all } = charts;
  while (box.children.length > all.charts.length) box.lastElementChild.remove();
  all.charts.forEach((c, i) => {
    let node = box.children[i];
    if (!node) {
      box.append((node = element("figure")));
      const canvas = element("canvas");
      canvas.setAttribute("role", "img");
      node.append(element("figcaption"), canvas, element("ul"));
      new ResizeObserver(drawCharts).observe(canvas);
    }
    put(node.children[0], c.title);
    const named = c.lines.length > 1 || c.lines.some((l) => l.name);
    node.children[2].replaceChildren(...(named ? c.lines : []).map((l, k) => {
      const item = element("li");
      item.append(sampled((g, side, dpr) => {
        beginLine(g, k, dpr);
        g.moveTo(0, side / 2);
        g.lineTo(side, side / 2);
        g.stroke();
      }), `${l.name} ${rounded(l.points.at(-1)?.[1])}`);
      return item;
    }));
    const ends = c.lines.map((l) => [l.name, rounded(l.points.at(-1)?.[1])].filter(Boolean).join(" ")).join(", ");
    node.children[1].setAttribute("aria-label", `${c.title} by ${all.x}; at the end: ${ends}`);
  });
  rows($("chart-last").tBodies[0], all.last.map(([name, value]) => [[name], [rounded(value), "n"]]));
  drawCharts();
}

// beginLine sets the look of line k, and begins it.
function beginLine(g, k, dpr) {
  g.strokeStyle = lineColours[k % lineColours.length];
  g.lineWidth = 1.8 * dpr;
  g.setLineDash(k < lineColours.length ? [] : [5 * dpr, 3 * dpr]);
  g.beginPath();
}

function drawCharts() {
  charts.all?.charts.forEach((c, i) => {
    const canvas = $("chart-list").children[i]?.children[1];
    if (canvas?.clientWidth) drawChart(canvas, c);
  });
}

function drawChart(canvas, chart) {
  const [g, w, h, dpr] = fitted(canvas), all = chart.lines.flatMap((l) => l.points);
  if (!all.length) return;
  const bounds = (k) => all.reduce(([a, b], p) => [Math.min(a, p[k]), Math.max(b, p[k])], [Infinity, -Infinity]);
  let [x0, x1] = bounds(0), [y0, y1] = bounds(1);
  if (x0 === x1) [x0, x1] = [x0 - 1, x1 + 1];
  if (y0 >= 0 && y1 <= 1 && y1 > 0.2) [y0, y1] = [0, 1]; // scores
  if (y0 === y1) [y0, y1] = [y0 - 1, y1 + 1];
  g.font = fontOf(11 * dpr);
  const marks = [y0, y0 / 2 + y1 / 2, y1], left = Math.max(...marks.map((v) => g.measureText(rounded(v)).width)) + 8 * dpr;
  const right = w - 6 * dpr, top = 8 * dpr, bottom = h - 18 * dpr;
  const part = (v, a, b) => (v / 2 - a / 2) / (b / 2 - a / 2); // the halves: a difference may be too large for a number
  const x = (v) => left + (right - left) * part(v, x0, x1), y = (v) => bottom - (bottom - top) * part(v, y0, y1);
  g.fillStyle = palette.axis;
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const v of marks) {
    g.fillText(rounded(v), left - 4 * dpr, y(v));
    g.save();
    g.fillStyle = palette.grid;
    g.fillRect(left, Math.round(y(v)), right - left, dpr);
    g.restore();
  }
  g.textBaseline = "alphabetic";
  g.fillText(`${charts.all.x} ${rounded(x1)}`, right, h - 4 * dpr);
  g.textAlign = "left";
  g.fillText(rounded(x0), left, h - 4 * dpr);
  chart.lines.forEach((l, k) => {
    beginLine(g, k, dpr);
    l.points.forEach((p, n) => g[n ? "lineTo" : "moveTo"](x(p[0]), y(p[1])));
    g.stroke();
    g.fillStyle = g.strokeStyle;
    if (l.points.length < 60) for (const p of l.points) g.fillRect(x(p[0]) - 2 * dpr, y(p[1]) - 2 * dpr, 4 * dpr, 4 * dpr);
  });
}
