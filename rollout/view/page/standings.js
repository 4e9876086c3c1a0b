// This file shows the standings, the matrix and the faults of a tournament above the list of its games.

most.ranked = 200;
most.matrix = 40;
most.faults = 100;

// standings.due: the data on the page are older than the list.
const standings = { due: false, asked: 0 };

// standingsOf checks a standings.json.
function standingsOf(raw) {
  const players = listOf(raw.players, most.ranked).map((row) => listOf(row, 20).map((c) => text(c)));
  const ranked = players.slice(0, most.matrix);
  return {
    games: whole(raw.games, 0, 2 ** 53), of: whole(raw.of, players.length, 1e9, players.length), players,
    heads: listOf(raw.heads, 20).map((h) => text(h, 40)), notes: listOf(raw.notes, 10).map((n) => text(n, 600)),
    matrix: listOf(raw.matrix, ranked.length).map((row) => listOf(row, ranked.length).map((m) => ({ games: whole(m?.games, 0, 2 ** 53), score: Math.min(Math.max(number(m?.score), 0), 1) }))),
    faults: listOf(raw.faults, most.faults).map((f) => ({
      game: whole(f?.game, 0, 2 ** 53), turn: whole(f?.turn, -1, 1e9, -1), seat: whole(f?.seat, -1, most.seats - 1, -1), player: text(f?.player), kind: text(f?.kind, 60),
      times: whole(f?.times, 1, 1e9, 1), text: text(f?.text), output: text(f?.output),
    })),
    allFaults: whole(raw.all_faults, 0, 2 ** 53),
  };
}

// showStandings loads and shows the standings, if the list has some that are not on the page.
async function showStandings() {
  if (!shelf.info.standings) $("standings").hidden = true;
  if (!shelf.info.standings || !standings.due) return;
  standings.due = false;
  const mine = ++standings.asked;
  try {
    const raw = await load("standings.json");
    if (mine !== standings.asked) return;
    const s = sound(() => standingsOf(raw));
    fillRanks(s);
    fillMatrix(s);
    fillFaults(s);
    put($("standings-say"), s.games ? "" : "No game has ended yet.");
  } catch (e) {
    if (mine === standings.asked) put($("standings-say"), "The standings cannot be shown: " + e.message);
  }
  $("standings").hidden = false;
}

// leftOut says that a table has only some of what there is.
const leftOut = (what, shown, all) => (shown < all ? `${what} ${shown} of ${all} are shown.` : "");

// linkIn returns the link of a cell, which stays the same element, so that it keeps the focus.
function linkIn(cell, words, to) {
  const link = cell.querySelector("a") ?? element("a");
  if (!link.isConnected) cell.replaceChildren(link);
  put(link, words);
  link.href = to;
  return link;
}

const gamesWith = (policy, against = "") => shelfHash({ policy, against });

function fillRanks(s) {
  const words = s.heads.map((h, i) => i > 0 && h !== "faults");
  heads($("ranks"), [["rank", "n"], ...s.heads.map((h, i) => [h, words[i] ? "n" : ""])]);
  rows($("ranks").tBodies[0], s.players.map((row, rank) => [
    [String(rank + 1), "n"],
    ...row.map((value, i) => (i ? [value, words[i] ? "n" : ""] : [(cell) => linkIn(cell, value || "(no name)", gamesWith(value)), "name", value])),
  ]));
  $("ranks-box").hidden = !s.players.length;
  put($("ranks-say"), leftOut("The best", s.players.length, s.of));
  $("ranks-notes").replaceChildren(...s.notes.map((n) => element("li", n)));
  $("ranks-doc").hidden = !s.notes.length;
}

function fillMatrix(s) {
  const table = $("matrix"), body = table.tBodies[0], n = s.matrix.length;
  heads(table, [["player", ""], ...s.players.slice(0, n).map((row, i) => [String(i + 1), "n"])]);
  s.players.slice(0, n).forEach((row, i) => (table.tHead.rows[0].cells[i + 1].title = row[0]));
  while (body.rows.length > n) body.deleteRow(-1);
  s.matrix.forEach((meetings, i) => {
    const row = body.rows[i] ?? body.insertRow(), me = s.players[i][0];
    if (!row.cells.length) {
      row.append(element("th"));
      row.cells[0].scope = "row";
    }
    put(row.cells[0], `${i + 1} ${me}`);
    while (row.cells.length > n + 1) row.deleteCell(-1);
    for (let k = 0; k < n; k++) {
      const cell = row.cells[k + 1] ?? row.insertCell(), other = s.players[k][0], { games, score } = meetings[k] ?? { games: 0 };
      if (!games) {
        cell.replaceChildren(i === k ? "" : "–");
        cell.className = "n";
        continue;
      }
      const link = linkIn(cell, score.toFixed(2), gamesWith(me, other));
      link.append(element("small", String(games)));
      link.ariaLabel = `${me} against ${other}: score ${score.toFixed(3)} in ${games} games`;
      link.title = link.ariaLabel;
      cell.className = "n heat" + [0.25, 0.45, 0.55, 0.75].filter((least) => score > least).length;
    }
  });
  tabInto(0, 0);
  $("matrix-box").hidden = n < 2;
  put($("matrix-say"), leftOut("The best", n, s.of));
}

// tabInto lets the Tab key reach one cell of the matrix: the one that has the focus, or the first link from a cell on.
function tabInto(row, column) {
  const links = [...$("matrix").querySelectorAll("tbody a")];
  const one = links.find((l) => l === document.activeElement) ?? $("matrix").tBodies[0].rows[row]?.cells[column + 1]?.querySelector("a") ?? links[0];
  for (const l of links) l.tabIndex = l === one ? 0 : -1;
}

function fillFaults(s) {
  rows($("faults").tBodies[0], s.faults.map((f) => [
    [(cell) => linkIn(cell, `${f.game}`, `#episode=${f.game}&turn=${Math.max(f.turn, 0)}`), "", f.game + " " + f.turn],
    [f.turn < 0 ? "–" : String(f.turn), "n"],
    [(cell) => cell.append(chip(f.seat), f.player), "players", f.seat + f.player],
    [f.times > 1 ? `${f.kind} × ${f.times}` : f.kind],
    [(cell) => {
      cell.append(f.text);
      if (f.output) cell.append(element("div", f.output, "soft"));
    }, "said", f.text + "\n" + f.output],
  ]));
  $("faults-box").hidden = !s.faults.length;
  put($("faults-say"), leftOut("The latest", s.faults.length, s.allFaults));
}

// The arrow keys move in the matrix.
$("matrix").addEventListener("keydown", (e) => {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
  const cell = e.target.closest("td");
  if (!step || !cell) return;
  e.preventDefault();
  const all = $("matrix").tBodies[0].rows;
  let row = cell.parentElement.sectionRowIndex, column = cell.cellIndex;
  for (;;) {
    row += step[0];
    column += step[1];
    const next = all[row]?.cells[column];
    if (!next || !column) return;
    const link = next.querySelector("a");
    if (!link) continue;
    link.focus();
    return tabInto(row, column - 1);
  }
});

// A link to a part of the list leads to the list.
for (const id of ["ranks", "matrix"]) {
  $(id).addEventListener("click", (e) => {
    if (e.target.closest("a")) $("filters").scrollIntoView({ block: "start" });
  });
}
