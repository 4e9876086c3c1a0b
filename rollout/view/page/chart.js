// This file draws a plot of lines, or a histogram.

// The colours of lines, which can be told from both grounds; lines after the eighth are dashed.
const lineColours = ["#0072b2", "#d55e00", "#008a63", "#b5568c", "#a87900", "#2f8fce", "#7a68d8", "#7b7f86"];

// rounded returns a number with four digits.
const rounded = (v) => (Number.isFinite(v) ? String(Number(v.toPrecision(4))) : "–");

// beginLine sets the look of line k, and begins it.
function beginLine(g, line, k, dpr) {
  g.strokeStyle = line.colour ?? lineColours[k % lineColours.length];
  g.lineWidth = 1.8 * dpr;
  g.setLineDash(k < lineColours.length ? [] : [5 * dpr, 3 * dpr]);
  g.beginPath();
}

// drawChart draws lines, whose points may be null where they have a gap, or bars. x: what the horizontal axis counts; span: its
// bounds, if not those of the points; at: where it has a mark. It returns where the plot begins and ends.
function drawChart(canvas, { lines, bars, x: name, span, at }) {
  const [g, w, h, dpr] = fitted(canvas);
  const all = bars ? [[bars.from, 0], ...bars.counts.map((n, i) => [bars.from + (i + 1) * bars.width, n])] : lines.flatMap((l) => l.points.filter(Boolean));
  if (!all.length) return { left: 0, right: 1 };
  const bounds = (k) => all.reduce(([a, b], p) => [Math.min(a, p[k]), Math.max(b, p[k])], [Infinity, -Infinity]);
  let [x0, x1] = span ?? bounds(0), [y0, y1] = bounds(1);
  if (x0 === x1) [x0, x1] = [x0 - 1, x1 + 1];
  if (y0 > 0 && y0 < y1 / 2) y0 = 0;
  if (y0 >= 0 && y1 <= 1 && y1 > 0.2) [y0, y1] = [0, 1]; // scores
  if (y0 === y1) [y0, y1] = [y0 - 1, y1 + 1];
  g.font = fontOf(11 * dpr);
  const marks = [y0, y0 / 2 + y1 / 2, y1], left = Math.max(...marks.map((v) => g.measureText(rounded(v)).width)) + 8 * dpr;
  const right = w - 6 * dpr, top = 8 * dpr, bottom = h - 18 * dpr;
  const part = (v, a, b) => (v / 2 - a / 2) / (b / 2 - a / 2); // the halves: a difference may be too large for a number
  const x = (v) => left + (right - left) * part(v, x0, x1), y = (v) => bottom - (bottom - top) * part(v, y0, y1);
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const v of marks) {
    g.fillStyle = palette.axis;
    g.fillText(rounded(v), left - 4 * dpr, y(v));
    g.fillStyle = palette.grid;
    g.fillRect(left, Math.round(y(v)), right - left, dpr);
  }
  g.fillStyle = palette.axis;
  g.textBaseline = "alphabetic";
  g.fillText(`${name} ${rounded(bars ? bars.max : x1)}`, right, h - 4 * dpr);
  g.textAlign = "left";
  g.fillText(rounded(bars ? bars.min : x0), left, h - 4 * dpr);
  g.fillStyle = lineColours[0];
  bars?.counts.forEach((n, i) => {
    const from = Math.round(x(bars.from + i * bars.width)), to = Math.round(x(bars.from + (i + 1) * bars.width));
    g.fillRect(from, y(n), Math.max(1, to - from - dpr), bottom - y(n));
  });
  lines.forEach((l, k) => {
    beginLine(g, l, k, dpr);
    l.points.forEach((p, n) => p && g[n && l.points[n - 1] ? "lineTo" : "moveTo"](x(p[0]), y(p[1])));
    g.stroke();
    g.fillStyle = g.strokeStyle;
    l.points.forEach((p, n) => {
      const side = l.points.length < 60 ? 4 * dpr : p && !l.points[n - 1] && !l.points[n + 1] ? 2 * dpr : 0; // a point alone would not be seen
      if (p && side) g.fillRect(x(p[0]) - side / 2, y(p[1]) - side / 2, side, side);
    });
  });
  g.fillStyle = palette.mark;
  if (at !== undefined) g.fillRect(x(at) - dpr / 2, top, dpr, bottom - top);
  return { left: left / dpr, right: right / dpr };
}
