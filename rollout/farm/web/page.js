// This script follows /events and shows the events on the page. It inserts text as text, never
// as markup, and changes only what differs, so that selection, focus and screen readers keep their place.
"use strict";

const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const count = (n) => number.format(n ?? 0);
const rate = (n) => (n >= 10 ? count(n) : small.format(n ?? 0));
const short = (id) => (id ?? "").slice(0, 8);

function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let i = 0;
  for (; bytes >= 1000 && i < units.length - 1; i++) bytes /= 1000;
  return small.format(bytes) + " " + units[i];
}

function lasting(seconds) {
  if (!(seconds >= 0)) return "–";
  if (seconds < 120) return count(seconds) + " s";
  if (seconds < 7200) return count(seconds / 60) + " min";
  if (seconds < 172800) return small.format(seconds / 3600) + " h";
  return count(seconds / 86400) + " days";
}

function put(node, text, looks) {
  if (node.textContent !== text) node.textContent = text;
  if (looks !== undefined && node.className !== looks) node.className = looks;
}

// cells are [text, class] or a function that fills the cell; the first cell
// names the row.
function fill(id, items, key, cells, none) {
  const body = $(id).tBodies[0];
  const rows = new Map([...body.rows].map((r) => [r.dataset.key, r]));
  let at = body.firstElementChild;
  for (const item of items) {
    const k = "k" + key(item);
    let row = rows.get(k);
    rows.delete(k);
    const list = cells(item);
    if (!row) {
      row = document.createElement("tr");
      row.dataset.key = k;
      list.forEach((_, i) => {
        const cell = document.createElement(i ? "td" : "th");
        if (!i) cell.scope = "row";
        row.append(cell);
      });
    }
    list.forEach((c, i) => (typeof c === "function" ? c(row.cells[i]) : put(row.cells[i], c[0], c[1] ?? "")));
    if (row === at) at = at.nextElementSibling;
    else body.insertBefore(row, at);
  }
  for (const row of rows.values()) if (row.dataset.key !== "none" || items.length) row.remove();
  if (!items.length && !rows.has("none")) {
    const row = document.createElement("tr");
    row.dataset.key = "none";
    const cell = document.createElement("td");
    cell.colSpan = $(id).tHead.rows[0].cells.length;
    cell.className = "none";
    cell.textContent = none;
    row.append(cell);
    body.append(row);
  }
}

function left(id, n, what) {
  put($("more-" + id), n ? `${count(n)} more ${what}: status.json has all.` : "");
}

function audits(a) {
  const words = [];
  for (const k of ["passed", "failed", "due", "waived"]) if (a[k]) words.push(count(a[k]) + " " + k);
  return words.join(", ") || "–";
}

function progress(r) {
  return (cell) => {
    const done = r.shards ? r.made / r.shards : 0;
    if (!cell.firstElementChild) cell.append(document.createElement("progress"), document.createElement("span"));
    const [bar, text] = cell.children;
    bar.setAttribute("aria-label", "shards of " + r.name + " " + short(r.id));
    bar.value = done;
    put(text, (done === 1 ? 100 : Math.floor(done * 1000) / 10) + " %");
  };
}

const looks = { running: "", finishing: "", done: "good", cancelled: "wait", failed: "bad" };

function showRuns(s, more) {
  fill("runs", s.runs, (r) => r.id, (r) => [
    [r.name + " " + short(r.id)],
    [r.text ? r.state + ": " + r.text : r.state, "wide " + (looks[r.state] ?? "")],
    progress(r),
    [count(r.made) + " of " + count(r.shards), "n"],
    [count(r.held), "n"], [count(r.played) + " of " + count(r.episodes), "n"], [count(r.rows), "n"], [size(r.bytes), "n"],
    [rate(r.row_rate), "n"],
    [r.state === "running" && r.left ? lasting(r.left) : "–", "n"],
    [audits(r.audits), r.audits.failed ? "bad" : ""],
    [r.out, "code"],
  ], "No runs. moonfarm-full farm submit starts one.");
  left("runs", more.runs, "runs");
}

function health(w) {
  if (w.quarantined) return ["quarantined: " + w.quarantined, "wide bad"];
  const state = w.alive ? "alive" : "lost";
  if (w.trouble) return [state + ", in trouble: " + w.trouble, "wide wait"];
  return [state, "wide " + (w.alive ? "good" : "wait")];
}

let workers = { list: [], more: 0, now: 0 };

function showWorkers() {
  const want = $("filter").value.toLowerCase();
  const has = (w) => [w.name, w.host, w.version, w.trouble, w.quarantined].some((t) => (t ?? "").toLowerCase().includes(want));
  const list = want ? workers.list.filter(has) : workers.list;
  fill("workers", list, (w) => w.name, (w) => [
    [w.name],
    health(w),
    [w.version, "name"], [w.host, "name"],
    [lasting((workers.now - Date.parse(w.beat)) / 1000) + " ago", "n"],
    [count(w.held) + " of " + count(w.slots), "n"], [count(w.shards), "n"], [rate(w.shard_rate), "n"], [rate(w.row_rate), "n"],
    [count(w.lapsed), "n"],
    [audits(w.audits), w.audits.failed ? "bad" : ""],
  ], want ? "No worker matches." : "No workers. moonfarm-full farm worker --connect URL starts one.");
  left("workers", workers.more, "workers");
}

function showNotes(s, more, now) {
  const ago = (t) => lasting((now - Date.parse(t)) / 1000) + " ago";
  fill("failures", s.failures, (f) => [f.run, f.worker, f.text].join("\n"), (f) => [
    [f.text, "wide"], [count(f.count), "n"], [ago(f.last), "n"], [short(f.run), "code"], [f.worker ?? ""],
  ], "No failures.");
  left("failures", more.failures, "failures");
  fill("audits", s.audits, (a) => [a.time, a.run, a.shard, a.worker].join("\n"), (a) => [
    [a.worker], [ago(a.time), "n"], [short(a.run), "code"], [count(a.shard), "n"], [a.row, "wide"],
    [a.sum.slice(0, 12), "code"], [a.right.slice(0, 12), "code"], [count(a.returned), "n"],
  ], "No audit has failed.");
  left("audits", more.audits, "entries");
}

const span = 600; // seconds in the chart
let points = [];
let described = 0;

function draw() {
  const end = points.length ? points[points.length - 1][0] : 0;
  points = points.filter((p) => p[0] > end - span);
  const from = points.length ? points[0][0] : 0;
  const width = Math.max(60, end - from);
  const top = Math.max(1, ...points.map((p) => p[1]));
  const at = (p) => (600 * (1 - (end - p[0]) / width)).toFixed(1) + " " + (118 - (114 * p[1]) / top).toFixed(1);
  const path = points.length ? "M" + points.map(at).join("L") : "";
  $("line").setAttribute("d", path);
  $("area").setAttribute("d", path && path + "L600 120L" + (600 * (1 - (end - from) / width)).toFixed(1) + " 120Z");
  put($("top"), points.length ? count(top) + " rows/s" : "");
  put($("from"), lasting(width) + " ago");
  if (points.length && end - described > 15) {
    described = end;
    $("chart").setAttribute("aria-label", `now ${rate(points[points.length - 1][1])} rows per second, at most ${rate(top)}`);
  }
}

function show(e) {
  points.push(...e.chart.filter((p) => !points.length || p[0] > points[points.length - 1][0]));
  draw();
  say(e.trouble ? "No status: " + e.trouble : "Live", e.trouble ? "bad" : "good");
  const s = e.status;
  if (!s) return;
  const now = Date.parse(s.now);
  const going = s.runs.filter((r) => r.state === "running" || r.state === "finishing");
  const sum = (list, of) => list.reduce((n, x) => n + of(x), 0);
  put($("about"), `version ${s.version}, coordinating for ${lasting((now - Date.parse(s.since)) / 1000)}`);
  put($("sum-rows"), rate(sum(going, (r) => r.row_rate)));
  put($("sum-shards"), rate(sum(going, (r) => r.shard_rate)));
  put($("sum-workers"), count(s.workers.filter((w) => w.alive).length) + (e.more.workers ? "+" : ""));
  put($("sum-runs"), count(going.length));
  put($("sum-audits"), count(sum(s.runs, (r) => r.audits.failed)));
  workers = { list: s.workers, more: e.more.workers, now };
  showRuns(s, e.more);
  showWorkers();
  showNotes(s, e.more, now);
}

function say(text, looks) {
  put($("link"), text, looks);
}

// The browser reconnects when a connection ends, but not after an answer that
// is not a stream, and not when a connection is silent.
let source, again, heard;
let paused = false;

function connect() {
  clearTimeout(again);
  source?.close();
  if (paused) return;
  heard = Date.now();
  source = new EventSource("events");
  source.onmessage = (m) => {
    heard = Date.now();
    show(JSON.parse(m.data));
  };
  source.onerror = () => {
    say("Connection lost; reconnecting …", "bad");
    if (source.readyState !== EventSource.CLOSED) return;
    again = setTimeout(connect, 2000 + 2000 * Math.random());
    refusal();
  };
}

// refusal shows why the server no longer knows this page, such as after a restart with another secret.
async function refusal() {
  try {
    const answer = await fetch("page.css");
    if (answer.status === 401) say(await answer.text(), "bad");
  } catch {
    // It does not answer.
  }
}

setInterval(() => {
  if (!paused && Date.now() - heard > 20000) connect();
}, 5000);

$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
  if (paused) say("Paused", "wait");
  connect();
});
$("filter").addEventListener("input", showWorkers);
connect();
