// This file has the addresses of the page, the controls, and the start.

// route reads the address: #episode=3&turn=41&frame=20&seat=0&with=7, or a part of the list. A frame is a moment of the
// turn; without one the address names the state before the turn, and without a turn where the film is opened.
function route() {
  const values = new URLSearchParams(location.hash.slice(1));
  const count = (key, otherwise) => (/^\d{1,15}$/.test(values.get(key) ?? "") ? Number(values.get(key)) : otherwise);
  const sort = values.get("sort"), outcome = values.get("outcome");
  return {
    episode: count("episode", -1), with: count("with", -1), turn: count("turn", null), frame: /^-?\d{1,15}$/.test(values.get("frame") ?? "") ? Number(values.get("frame")) : null, seat: Math.min(count("seat", -1), most.seats - 1),
    list: {
      from: Math.floor(count("from", 0) / perPage) * perPage, sort: ["turns", "-turns"].includes(sort) ? sort : "id",
      policy: values.get("policy") ?? "", against: (values.get("policy") && values.get("against")) ?? "", outcome: ["A", "B", "C", "D", "draw", "cut"].includes(outcome) ? outcome : "",
    },
  };
}

function hashOf() {
  const [film, other] = state.films;
  let hash = `#episode=${film.head.id}`;
  if (other) hash += `&with=${other.head.id}`;
  const { no } = boards[0].frame;
  if (no !== null || state.turn < lastTurn() || !gameList.info?.follows) hash += `&turn=${turnNow()}`; // else the newest turn, whichever it is then
  if (no !== null) hash += `&frame=${no}`;
  if (state.seat >= 0) hash += `&seat=${state.seat}`;
  return hash;
}

// keepHash keeps the address up to date. Browsers limit how often it may change. An address that the page has not followed
// yet stays: follow keeps it up to date afterwards.
let hashDue = 0, hashSeen = location.hash;
function keepHash() {
  if (hashDue) return;
  hashDue = setTimeout(() => {
    hashDue = 0;
    if (state.films.length && !following && location.hash === hashSeen) setHash();
  }, 300);
}

function screen(name) {
  const was = ["list", "film"].find((n) => !$(n).hidden);
  for (const n of ["list", "film"]) $(n).hidden = n !== name;
  for (const b of document.querySelectorAll("[data-film]")) b.hidden = name !== "film";
  if (was && was !== name) $(name).focus({ preventScroll: true });
  heading();
}

// heading shows what the page shows.
function heading() {
  const title = gameList.info?.title || "moonfarm";
  $("back").hidden = $("film").hidden || !(gameList.info?.total > 1);
  $("back").href = listHash(gameList.shown);
  if ($("film").hidden) {
    put($("title"), title);
    put($("about"), !gameList.info?.total ? "" : `${gameList.info.total} games`);
    document.title = title;
    return;
  }
  const [{ head }, other] = state.films;
  $("with-box").hidden = !other && gameList.info?.total === 1;
  put($("title"), head.name || `Game ${head.id}`);
  put($("about"), [head.game, head.players.map((p, i) => `${seatLetter(i)} ${p}`).join(", "), other ? `with game ${other.head.id}` : ""].filter(Boolean).join(" · "));
  document.title = `${head.name || "Game " + head.id} – ${title}`;
}

// following counts the addresses that are being opened; the last one wins.
let following = 0, followed = 0;

function setHash() {
  if (location.hash !== hashOf()) history.replaceState(null, "", hashOf());
  hashSeen = location.hash;
}

async function follow() {
  hashSeen = location.hash;
  const mine = ++followed;
  following++;
  stop();
  try {
    await open(route(), () => mine === followed);
    keepHash(); // what was due meanwhile
  } catch (e) {
    if (mine === followed) fail(e);
  }
  following--;
}

async function open(want, current) {
  if (want.episode < 0) {
    const asked = games(want.list);
    asked.catch(() => {});
    if (!gameList.info) await loadList();
    const only = gameList.info.total === 1 ? (await asked).games[0] : null;
    if (!only) {
      const found = await asked;
      if (!current()) return;
      await showList(want.list, found);
      if (!current()) return;
      closeFilms();
      say("");
      screen("list");
      return;
    }
    want.episode = only.id;
  }
  const listed = gameList.info ? null : loadList();
  listed?.catch(() => {}); // a film can be shown without its list
  if (want.turn === null) await listed;
  if (want.turn === null) want.turn = gameList.info.follows ? Infinity : 0;
  if (want.frame !== null) want.turn++; // a moment comes before the next position
  const ids = [want.episode, ...(want.with >= 0 ? [want.with] : [])];
  const isOpen = state.films.length === ids.length && state.films.every((f, i) => f.head.id === ids[i]);
  if (!isOpen) {
    const opened = await openFilms(ids, want);
    if (!current()) return opened.forEach((f) => f.close());
    closeFilms();
    state.films = opened;
  }
  const [{ head }] = state.films;
  state.seat = canChoose(head) && want.seat < head.seats ? want.seat : -1;
  if (!(await go(want.turn, (frames) => frames.findIndex((f) => f.no === want.frame))) || !current()) return;
  await Promise.allSettled([listed]);
  if (!isOpen) await person.show();
  if (!current()) return;
  say("");
  $("seat").value = state.seat;
  if (!isOpen) showFilm();
  if ($("film").hidden) screen("film");
}

const canChoose = (head) => head.fog && head.seats > 1;

// openFilms opens films. The first chunk is asked for at the same time where its number is known.
async function openFilms(ids, want) {
  const raws = ids.map((game) => {
    if (want.turn > 0) return null;
    const raw = load(query("frames.json", { game, seat: want.seat, from: 0 }));
    raw.catch(() => {});
    return raw;
  });
  const opened = await Promise.all(ids.map((id) => Film.open(id)));
  const seat = canChoose(opened[0].head) && want.seat < opened[0].head.seats ? want.seat : -1;
  await Promise.all(opened.map((f, i) => f.need(Math.min(want.turn, f.head.turns), seat, seat === want.seat ? raws[i] : null)));
  return opened;
}

function closeFilms() {
  for (const f of state.films) f.close();
  state.films = [];
  state.chosen = state.pointer = null;
  state.differs = -1;
  for (const b of boards) b.frame = b.film = b.pointed = b.chosen = null;
}

// showFilm prepares the page for the open films.
function showFilm() {
  const [film, other] = state.films, { head } = film;
  screen("film");
  $("second").hidden = !other;
  $("boards").classList.toggle("wide", head.width >= 1.8 * head.height);
  $("seat-row").hidden = !canChoose(head);
  const seats = [-1, ...seatsOf(head)].filter((seat) => seat === state.seat || offered(query("frames.json", { game: head.id, seat, from: 0 })));
  $("seat").replaceChildren(...seats.map((s) => new Option(s < 0 ? "everybody" : playerOf(head, s), s)));
  $("seat").value = state.seat;
  $("with-end").hidden = !other;
  $("with").value = other ? other.head.id : "";
  put($("with-text"), "");
  $("with-go").hidden = true;
  fillPlotted(head);
  showMarks(head, (turn) => {
    stop();
    go(turn).then(sayPosition);
  });
  for (const b of boards) b.changed();
  changed();
  if (other) compare();
  loadStats(film);
}

// loadStats asks for the stats of all turns, which are optional.
async function loadStats(film) {
  try {
    const raw = await load(query("stats.json", { game: film.head.id }));
    film.all = listOf(raw.turns, 1e7).map((values) => listOf(values, most.stats));
    if (state.films[0] === film) changed();
  } catch {
    film.all = null; // the plot has what is loaded
  }
}

// refresh loads everything again after the data have changed, and keeps the place. At the end it
// goes to the new end.
async function refresh() {
  await loadList();
  if (!$("list").hidden) await showList(gameList.shown);
  const old = state.films;
  if (!old.length || gameList.info.grows) return heading();
  const opened = await Promise.all(old.map((f) => Film.open(f.head.id)));
  const atEnd = () => state.turn >= lastTurn(), wanted = () => (atEnd() ? Math.max(...opened.map((f) => f.head.turns)) : state.turn);
  await Promise.all(opened.map((f) => f.need(Math.min(wanted(), f.head.turns), state.seat)));
  if (state.films !== old) return opened.forEach((f) => f.close());
  const turn = wanted(), frame = atEnd() || state.frame === state.frames - 1 ? -1 : state.frame; // a person may have moved on meanwhile
  old.forEach((f, i) => {
    opened[i].dashes = f.dashes;
    opened[i].all = f.all;
    f.close();
  });
  state.films = opened;
  person.show();
  showMarks(opened[0].head, (turn) => go(turn).then(sayPosition));
  await go(turn, frame);
  heading();
  loadStats(opened[0]);
}

let version, polling = false;
async function poll() {
  if (polling || embedded || !gameList.info?.live || following) return;
  polling = true;
  try {
    const now = JSON.stringify((await load("version.json")).version);
    if (version === undefined ? gameList.info.grows : now !== version) await refresh(); // a list may have grown before the first look
    version = now;
    if ($("say").textContent.startsWith("Connection lost")) say("");
  } catch (e) {
    say("Connection lost; trying again. " + e.message, true);
  }
  polling = false;
}

// theme: that of the system, until a person chooses.
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
let themeChosen = null;
try {
  themeChosen = localStorage.getItem("moonfarm-theme");
} catch {
  // A page from a file may have no storage.
}

function theme() {
  const dark = themeChosen ? themeChosen === "dark" : darkSystem.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  palette = dark ? scheme.dark : scheme.light;
  put($("theme"), dark ? "Light" : "Dark");
  for (const b of boards) b.changed();
  changed();
  drawCharts();
}

function setSpeed(speed) {
  state.speed = speed;
  $("speed").value = speed;
}

async function copyLink() {
  const link = location.href.split("#")[0] + hashOf();
  setHash();
  try {
    await navigator.clipboard.writeText(link);
    say("Copied the link of this position");
  } catch {
    say("The address of this page is the link of this position: " + hashOf());
  }
}

const zoomed = (change) => () => {
  boards.forEach(change);
  point();
  changed(false);
};
const actions = {
  first: () => stepTurn(-Infinity), last: () => stepTurn(Infinity), "turn-back": () => stepTurn(-1), "turn-on": () => stepTurn(1),
  "frame-back": () => stepFrame(-1), "frame-on": () => stepFrame(1), play: () => (state.playing ? stop() : play()),
  "zoom-in": zoomed((b) => b.zoomBy(1.5)), "zoom-out": zoomed((b) => b.zoomBy(1 / 1.5)), "zoom-fit": zoomed((b) => b.fit()),
  save: savePicture, "save-video": saveVideo, "save-position": savePosition, copy: copyLink, "help-open": () => $("help").showModal(), unpin: () => pin(0, null), "with-go": () => stepTurn(state.differs - state.turn),
  "with-end": () => (location.hash = `#episode=${state.films[0].head.id}&turn=${state.turn}`),
  skip: () => ($("film").hidden ? $("list") : $("board")).focus(),
  theme: () => {
    themeChosen = palette === scheme.dark ? "light" : "dark";
    try {
      localStorage.setItem("moonfarm-theme", themeChosen);
    } catch {
      // It holds until the page is closed.
    }
    theme();
  },
};
for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);

const keys = {
  " ": "play", ArrowLeft: "frame-back", ArrowRight: "frame-on", Home: "first", End: "last", "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", 0: "zoom-fit", Escape: "unpin",
};

document.addEventListener("keydown", (e) => {
  const on = e.target instanceof Element ? e.target : document.body;
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  if (on.closest('select, textarea, input:not([type="range"], [type="checkbox"])')) return;
  if (e.key === "?") {
    $("help").showModal();
    return e.preventDefault();
  }
  if ($("film").hidden || !state.films.length) return;
  if (e.key === " " && on.closest("button, a, input[type=checkbox]")) return;
  const scrolls = on.closest("[data-scrolls]") && ["PageUp", "PageDown", "Home", "End"].includes(e.key);
  if (scrolls) return;
  const at = speeds.indexOf(state.speed);
  if (e.key === "[") setSpeed(speeds[Math.max(0, at - 1)]);
  else if (e.key === "]") setSpeed(speeds[Math.min(speeds.length - 1, at + 1)]);
  else if (e.key === "PageUp") stepTurn(-10);
  else if (e.key === "PageDown") stepTurn(10);
  else if (e.key === "n" || e.key === "N") pinNext(e.shiftKey ? -1 : 1);
  else if (e.shiftKey && e.key === "ArrowLeft") stepTurn(-1);
  else if (e.shiftKey && e.key === "ArrowRight") stepTurn(1);
  else if (Object.hasOwn(keys, e.key)) actions[keys[e.key]]();
  else return;
  e.preventDefault();
});

// A drag over the seek bar does not load what it passes.
let seeking = 0;
$("seek").addEventListener("input", () => {
  const turn = Number($("seek").value);
  stop();
  clearTimeout(seeking);
  if (framesAt(state.films[0], turn)) go(turn);
  else seeking = setTimeout(() => go(turn), 80);
});
$("speed").replaceChildren(...speeds.map((s) => new Option("×" + s, s)));
$("speed").addEventListener("change", () => setSpeed(Number($("speed").value)));
$("seat").addEventListener("change", async () => {
  const was = state.seat, seat = (state.seat = Number($("seat").value));
  if (!(await go(state.turn, state.frame)) && state.seat === seat) $("seat").value = state.seat = was;
  else if (state.films[1]) compare();
});
for (const [id, key] of [["show-ranges", "ranges"], ["show-orders", "orders"], ["show-grid", "grid"], ["show-moves", "moves"]]) {
  $(id).addEventListener("change", () => {
    show[key] = $(id).checked;
    changed(false);
  });
}
$("plotted").addEventListener("change", () => changed());
$("plot").addEventListener("click", (e) => {
  stop();
  const at = (e.offsetX - plotArea.left) / (plotArea.right - plotArea.left);
  go(Math.round(at * state.films[0].head.turns)).then(sayPosition);
});
$("with-form").addEventListener("submit", (e) => {
  e.preventDefault();
  const id = $("with").valueAsNumber;
  if (Number.isInteger(id) && id >= 0) location.hash = `#episode=${state.films[0].head.id}&with=${id}&turn=${state.turn}`;
});

// The pointers on a board: one pans, or points and chooses; two zoom.
boards.forEach((b, i) => {
  const down = new Map();
  let moved = 0, onMap = false, apart = 0;
  const at = (e) => {
    const box = b.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const both = (change) => boards.forEach((o) => o.film && change(o));
  b.canvas.addEventListener("pointerdown", (e) => {
    if (e.button) return;
    const [x, y] = at(e);
    if (!down.size) {
      moved = 0;
      onMap = b.jump(x, y);
    }
    down.set(e.pointerId, [x, y]);
    apart = 0;
    b.canvas.setPointerCapture(e.pointerId);
    changed(false);
  });
  b.canvas.addEventListener("pointermove", (e) => {
    const [x, y] = at(e), was = down.get(e.pointerId);
    if (was) {
      moved += Math.hypot(x - was[0], y - was[1]);
      down.set(e.pointerId, [x, y]);
      if (down.size === 2) {
        const [p, q] = [...down.values()];
        const now = Math.hypot(p[0] - q[0], p[1] - q[1]);
        if (apart > 0 && now > 0) both((o) => o.zoomBy(now / apart, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2));
        apart = now;
      } else if (onMap) b.jump(x, y);
      else if (moved > 4) both((o) => o.panBy(x - was[0], y - was[1]));
    }
    state.pointer = { board: i, x, y };
    point();
    changed(false);
  });
  b.canvas.addEventListener("pointerup", (e) => {
    const [x, y] = at(e);
    if (down.delete(e.pointerId) && moved <= 4 && !onMap && b.frame && !person.click(b, x, y)) {
      paths.click(b, x, y);
      pin(i, b.at(x, y));
    }
    state.pointer = moved <= 4 || e.pointerType === "mouse" ? { board: i, x, y } : null;
    point();
    changed(false);
  });
  const leave = (e) => {
    const known = down.delete(e.pointerId);
    if (e.pointerType === "touch" && !known) return; // a tap leaves its facts on the page
    state.pointer = null;
    point();
    changed(false);
  };
  b.canvas.addEventListener("pointercancel", leave);
  b.canvas.addEventListener("pointerleave", leave);
  b.canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const [x, y] = at(e);
    both((o) => o.zoomBy(Math.exp(-Math.min(Math.max(e.deltaY, -200), 200) / 400), x, y));
    point();
    changed(false);
  }, { passive: false });
  new ResizeObserver(() => changed()).observe(b.canvas);
});

addEventListener("hashchange", follow);
addEventListener("resize", () => changed());
addEventListener("error", (e) => say("This page has an error: " + e.message, true));
addEventListener("unhandledrejection", (e) => say("This page has an error: " + (e.reason?.message ?? e.reason), true));
darkSystem.addEventListener("change", theme);
setInterval(poll, 1000);
setSpeed(1);
theme();
for (const b of document.querySelectorAll("[data-film]")) b.hidden = true;
follow();
