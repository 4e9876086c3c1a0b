// This script asks for status.json every two seconds. It inserts text as text, never as markup, and changes only what
// differs, so that selection and focus keep their place.
"use strict";

const $ = (id) => document.getElementById(id);
const most = 200; // rows of a table
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

function put(node, text, look = "") {
  if (node.textContent !== text) node.textContent = text;
  if (node.className !== look) node.className = look;
}

// fill shows the items in a table. cells returns [text, class] of each cell of a row, and in the third place the done part.
function fill(id, items, cells) {
  const body = $(id).tBodies[0];
  const left = items.length - most;
  const rows = items.slice(0, most).map(cells);
  if (left > 0) rows.push([[`${count(left)} more: status.json has all.`]]);
  rows.forEach((row, i) => {
    const to = body.rows[i] ?? body.insertRow();
    while (to.cells.length > row.length) to.lastChild.remove();
    row.forEach(([text, look, part], j) => {
      const cell = to.cells[j] ?? to.appendChild(document.createElement(j ? "td" : "th"));
      if (!j) cell.scope = "row";
      put(cell, text, look);
      if (part !== undefined) cell.style.setProperty("--part", 100 * part + "%");
    });
  });
  while (body.rows.length > rows.length) body.deleteRow(-1);
  if (!rows.length) body.textContent = ""; // the style then shows the data-none around it
}

function audits(a) {
  const words = ["passed", "failed", "due", "waived"].filter((k) => a[k]).map((k) => count(a[k]) + " " + k);
  return [words.join(", ") || "–", a.failed ? "bad" : ""];
}

function done(r) {
  const part = r.shards ? r.made / r.shards : 0;
  return [(part === 1 ? 100 : Math.floor(part * 1000) / 10) + " %", "n done", part];
}

// health returns how urgent a worker's state is, and its cell.
function health(w) {
  if (w.quarantined) return [0, ["quarantined: " + w.quarantined, "bad"]];
  const state = w.alive ? "alive" : "lost";
  if (w.trouble) return [1, [state + ", in trouble: " + w.trouble, "bad"]];
  return [w.alive ? 2 : 3, [state, w.alive ? "" : "soft"]];
}

function show(s) {
  const now = Date.parse(s.now);
  const ago = (t) => [lasting((now - Date.parse(t)) / 1000) + " ago", "n"];
  const n = (x) => [count(x), "n"];
  const going = s.runs?.filter((r) => r.state === "running" || r.state === "finishing") ?? [];
  const alive = s.workers?.filter((w) => w.alive).length ?? 0;
  const rows = going.reduce((sum, r) => sum + r.row_rate, 0);
  put($("about"), `version ${s.version}, coordinating for ${lasting((now - Date.parse(s.since)) / 1000)}: ${rate(rows)} rows/s, ${count(going.length)} running, ${count(alive)} of ${count(s.workers?.length)} workers alive`);
  fill("runs", s.runs ?? [], (r) => [
    [r.name + " " + short(r.id)], [r.text ? r.state + ": " + r.text : r.state, r.state === "failed" ? "bad" : ""], done(r),
    [count(r.made) + " of " + count(r.shards), "n"], n(r.held), [count(r.played) + " of " + count(r.episodes), "n"], n(r.rows),
    [size(r.bytes), "n"], [rate(r.row_rate), "n"], [r.state === "running" && r.left ? lasting(r.left) : "–", "n"], audits(r.audits), [r.out, "code"],
  ]);
  fill("workers", (s.workers ?? []).toSorted((a, b) => health(a)[0] - health(b)[0]), (w) => [
    [w.name], health(w)[1], [w.version], [w.host], ago(w.beat), [count(w.held) + " of " + count(w.slots), "n"], n(w.shards),
    [rate(w.shard_rate), "n"], [rate(w.row_rate), "n"], n(w.lapsed), audits(w.audits),
  ]);
  fill("failures", s.failures ?? [], (f) => [[f.text], n(f.count), ago(f.last), [short(f.run), "code"], [f.worker ?? ""]]);
  fill("audits", s.audits ?? [], (a) => [
    [a.worker], ago(a.time), [short(a.run), "code"], n(a.shard), [a.row], [a.sum.slice(0, 12), "code"], [a.right.slice(0, 12), "code"], n(a.returned),
  ]);
}

async function look() {
  try {
    const answer = await fetch("status.json", { signal: AbortSignal.timeout(20000) });
    if (answer.ok) {
      const status = await answer.json();
      show(status);
      put($("say"), status.trouble ? "In trouble: " + status.trouble : "Live", status.trouble ? "bad" : "");
    } else {
      put($("say"), answer.status === 503 ? "No status: " + (await answer.json()).error : await answer.text(), "bad");
    }
  } catch {
    put($("say"), "Connection lost; trying again …", "bad");
  }
  setTimeout(look, 2000);
}
look();
