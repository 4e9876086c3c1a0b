// This file shows the list of games. On a page with embedded data it filters and sorts by itself.

const perPage = 50;
const gameList = { info: null, shown: { from: 0, sort: "id", policy: "", against: "", outcome: "" } };

// gameOf checks an item of a games.json.
function gameOf(raw) {
  const status = ["over", "cut", "running"].includes(raw?.status) ? raw.status : "over";
  return {
    id: whole(raw?.id, 0, 2 ** 53), name: text(raw?.name), players: listOf(raw?.players, most.seats).map((p) => text(p)), turns: whole(raw?.turns, 0, 1e9),
    status, winner: whole(raw?.winner, -1, most.seats - 1, -1), scores: listOf(raw?.scores, most.seats).map((s) => text(s, 40)),
  };
}

async function loadList() {
  const raw = await load("list.json");
  gameList.info = {
    title: text(raw.title), total: whole(raw.total, 0, 2 ** 53), policies: listOf(raw.policies, 1000).map((p) => text(p)), live: raw.live === true,
    grows: raw.grows === true, overview: raw.overview === true,
    person: Number.isInteger(raw.person?.seat) ? raw.person.seat : null, held: typeof raw.held === "boolean" ? raw.held : null,
  };
  gameList.info.follows = gameList.info.person !== null || gameList.info.held !== null; // it opens where the game is
  overview.due = gameList.info.overview;
  return gameList.info;
}

// had reports whether a game had an outcome of the filter.
function had(g, outcome) {
  if (g.status === "running") return false;
  if (outcome === "cut") return g.status === "cut";
  return outcome === "draw" ? g.status === "over" && g.winner < 0 : g.winner >= 0 && seatLetter(g.winner) === outcome;
}

// meets reports whether a policy plays against another one at another seat, "" for any.
const meets = (players, policy, against) => !policy || players.some((p, i) => p === policy && (!against || players.some((o, j) => j !== i && o === against)));

// games returns the games of a part of the list: { total, games }.
async function games(list) {
  if (!embedded) {
    const asked = { from: list.from, count: perPage };
    if (list.sort !== "id") asked.sort = list.sort;
    if (list.policy) asked.policy = list.policy;
    if (list.against) asked.against = list.against;
    if (list.outcome) asked.outcome = list.outcome;
    const raw = await load(query("games.json", asked));
    return { total: whole(raw.total, 0, 2 ** 53), games: listOf(raw.games, 1000).map(gameOf) };
  }
  const raw = await load("games.json?from=0&count=50");
  let all = listOf(raw.games, 1e6).map(gameOf);
  all = all.filter((g) => meets(g.players, list.policy, list.against) && (!list.outcome || had(g, list.outcome)));
  if (list.sort === "turns") all.sort((a, b) => a.turns - b.turns || a.id - b.id);
  else if (list.sort === "-turns") all.sort((a, b) => b.turns - a.turns || a.id - b.id);
  else all.sort((a, b) => a.id - b.id);
  return { total: all.length, games: all.slice(list.from, list.from + perPage) };
}

function resultWords(g) {
  if (g.status === "running") return "running";
  if (g.status === "cut") return g.winner < 0 ? "cut at the limit" : `cut, ${seatLetter(g.winner)} ahead`;
  return g.winner < 0 ? "draw" : `${seatLetter(g.winner)} won`;
}

const listHash = (list) => {
  const parts = Object.entries(list).filter(([k, v]) => v && !(k === "sort" && v === "id")).map(([k, v]) => `${k}=${encodeURIComponent(v)}`);
  return "#" + parts.join("&");
};

// showList loads and shows a part of the list.
async function showList(list, asked) {
  const { total, games: found } = await (asked ?? games(list));
  gameList.shown = list;
  for (const id of ["policy", "against"]) {
    const names = gameList.info.policies.includes(list[id]) || !list[id] ? gameList.info.policies : [...gameList.info.policies, list[id]];
    $(id).replaceChildren(new Option("any", ""), ...names.map((p) => new Option(p || "(no name)", p)));
    $(id).value = list[id];
  }
  $("against").disabled = !list.policy;
  $("outcome").value = list.outcome;
  $("sort").value = list.sort;
  const body = $("games").tBodies[0];
  if (body.querySelector("[colspan]")) body.replaceChildren();
  rows(body, found.map((g) => [
    [(cell) => {
      const link = element("a", `${g.id}${g.name ? " " + g.name : ""}`);
      if (offered("film.json?game=" + g.id)) link.href = "#episode=" + g.id;
      cell.append(link);
    }, "", g.id + g.name],
    [(cell) => g.players.forEach((p, i) => {
      const player = element("span", "", "together");
      player.append(chip(i), p);
      cell.append(player, " ");
    }), "players", g.players.join("\n")],
    [String(g.turns), "n"], [resultWords(g)], [g.scores.join(" : ")],
  ]));
  if (!found.length) {
    rows(body, []);
    const cell = body.insertRow().insertCell();
    cell.colSpan = 5;
    cell.className = "soft";
    cell.textContent = gameList.info.total ? "No game matches." : "There are no games.";
  }
  const last = Math.min(list.from + perPage, total);
  put($("page-of"), total ? `${list.from + 1} to ${last} of ${total}` : "");
  $("page-back").disabled = list.from <= 0;
  $("page-on").disabled = last >= total;
  await showOverview();
}

function refilter(changes) {
  if (changes.policy === "") changes.against = "";
  location.hash = listHash({ ...route().list, from: 0, ...changes });
}

$("filters").addEventListener("submit", (e) => e.preventDefault());
for (const id of ["policy", "against", "outcome", "sort"]) $(id).addEventListener("change", () => refilter({ [id]: $(id).value }));
$("page-back").addEventListener("click", () => refilter({ from: Math.max(0, gameList.shown.from - perPage) }));
$("page-on").addEventListener("click", () => refilter({ from: gameList.shown.from + perPage }));
