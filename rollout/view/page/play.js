// This file has the state of the page: the film, the position in it, and the playback.

const boards = [new Board($("board"), 0), new Board($("other"), 1)];
const speeds = [0.25, 0.5, 1, 2, 4, 8, 16, 32];
const state = {
  films: [], // one, or two to compare
  turn: 0, frame: 0, seat: -1,
  frames: 1, // of the position
  asked: 0, // number of the last request for a position
  playing: false, waiting: false, speed: 1,
  clock: 0, // how long the frame has been shown, in milliseconds at speed 1
  then: 0, // time of the last tick
  moving: false,
  differs: -1, // first position in which the films differ
  pointer: null, chosen: null,
};
let firstPicture = 0; // when, in milliseconds since the page was opened

function say(words, bad) {
  put($("say"), words, bad ? "bad" : "");
}

function fail(e) {
  stop();
  say(e?.message || String(e), true);
}

const still = matchMedia("(prefers-reduced-motion: reduce)");
const lastTurn = () => Math.max(0, ...state.films.map((f) => f.head.turns));

// duration is how long a frame of a position of n frames is shown, in milliseconds at speed 1.
const duration = (n) => Math.max(250, 80 * n) / n;

const framesAt = (film, turn) => film.have(Math.min(turn, film.head.turns), state.seat);
const need = (film, turn) => film.need(Math.min(turn, film.head.turns), state.seat);

// go shows a frame of a position, the last one by default: its index, or a function that finds it. It reports whether it
// is shown, and not a later request instead.
async function go(turn, frame = -1) {
  const mine = ++state.asked;
  turn = Math.min(Math.max(Math.round(turn) || 0, 0), lastTurn());
  const waits = state.films.map((f) => need(f, turn)).filter(Boolean);
  if (waits.length) {
    const slow = setTimeout(() => say("Loading …"), 500);
    try {
      await Promise.all(waits);
    } catch (e) {
      if (mine === state.asked) fail(e);
      return false;
    } finally {
      clearTimeout(slow);
    }
    if (mine !== state.asked) return false;
    say("");
  }
  arrive(turn, frame, false);
  return true;
}

// arrive shows a frame that is in memory. moving: things move to it from the frame on the board.
function arrive(turn, frame, moving) {
  state.films.forEach((film, i) => {
    const frames = framesAt(film, turn);
    if (!frames) return;
    const last = frames.length - 1;
    if (i === 0) {
      state.turn = turn;
      state.frames = frames.length;
      const at = typeof frame === "function" ? frame(frames) : frame;
      state.frame = at < 0 || at > last ? last : at;
    }
    const ends = i > 0 && state.frame === state.frames - 1;
    const shown = frames[ends ? last : Math.min(state.frame, last)];
    const before = moving ? boards[i].frame : null;
    const isState = i === 0 ? state.frame === state.frames - 1 : ends;
    boards[i].moves = isState && film.head.moves ? film.moves(Math.min(turn, film.head.turns), state.seat) : [];
    boards[i].drawings = isState ? drawingsAt(film, Math.min(turn, film.head.turns), state.seat) : null;
    boards[i].set(film, shown, before);
  });
  state.moving = moving;
  if (!moving) state.clock = 0;
  point();
  changed();
  keepHash();
}

// after returns the frame after a frame, or null at the end.
function after(turn, frame) {
  const frames = framesAt(state.films[0], turn);
  if (frames && frame + 1 < frames.length) return [turn, frame + 1];
  return turn < lastTurn() ? [turn + 1, 0] : null;
}

async function stepFrame(by) {
  stop();
  if (!state.films.length) return;
  if (by > 0) {
    const next = after(state.turn, state.frame);
    if (next) await go(...next);
  } else if (state.frame > 0) await go(state.turn, state.frame - 1);
  else if (state.turn > 0) await go(state.turn - 1);
  sayPosition();
}

async function stepTurn(by) {
  stop();
  if (state.films.length && (await go(state.turn + by))) sayPosition();
}

function play() {
  if (!state.films.length || state.playing) return;
  if (!after(state.turn, state.frame)) arriveFromStart();
  state.playing = true;
  state.then = 0;
  state.clock = 0;
  state.moving = false;
  say("Playing");
  changed();
}

async function arriveFromStart() {
  state.waiting = true;
  await go(0);
  state.waiting = false;
}

function stop() {
  if (!state.playing) return;
  state.playing = false;
  state.moving = false;
  record();
  sayPosition();
  changed();
}

// advance moves the playback on by a time.
function advance(passed) {
  if (state.waiting) return;
  let [turn, frame, frames] = [state.turn, state.frame, state.frames], steps = 0;
  state.clock += passed * state.speed;
  for (; state.clock >= duration(frames) && steps < 500; steps++) {
    const next = after(turn, frame);
    if (!next) {
      if (steps) arrive(turn, frame, false);
      stop();
      return;
    }
    const waits = state.films.map((f) => need(f, next[0])).filter(Boolean);
    if (waits.length) {
      state.waiting = true;
      state.clock = duration(frames);
      const end = () => (state.waiting = false);
      Promise.all(waits).then(end, (e) => {
        end();
        if (state.playing) fail(e);
      });
      break;
    }
    state.clock -= duration(frames);
    [turn, frame] = next;
    frames = framesAt(state.films[0], turn).length;
  }
  if (steps) {
    const clock = state.clock;
    arrive(turn, frame, !still.matches && duration(frames) / state.speed > 30);
    state.clock = clock;
    ahead();
  }
}

// ahead loads what will be played in the next seconds.
function ahead() {
  for (const film of state.films) {
    const { chunk, turns } = film.head;
    const count = Math.min(1 + Math.ceil((state.speed * 12) / chunk), 8);
    for (let i = 1; i <= count && state.turn + i * chunk - (state.turn % chunk) <= turns; i++) film.need(state.turn + i * chunk - (state.turn % chunk), state.seat);
  }
}

// The next picture. Panels are refreshed less often than the boards while a film plays.
let requested = 0, panelsDue = true, panelsDone = 0;

function changed(panels = true) {
  panelsDue ||= panels;
  if (!requested) requested = requestAnimationFrame(tick);
}

function tick(now) {
  requested = 0;
  if (!state.films.length) return;
  if (state.playing) {
    if (state.then) advance(Math.min(now - state.then, 250));
    state.then = now;
  }
  paths.look();
  const part = state.moving ? Math.min(1, state.clock / duration(state.frames)) : 1;
  if (panelsDue && (!state.playing || now - panelsDone > 150)) { // before the boards, whose size depends on what is beside them
    panelsDue = false;
    panelsDone = now;
    panels();
  }
  if (video) record(part);
  else for (const b of boards.slice(0, state.films.length)) b.draw(part);
  if (!firstPicture && !$("film").hidden) firstPicture = performance.now();
  tip(part);
  if (state.playing) changed(false);
}

// turnNow is the turn of the frame on the first board, as the game counts it.
const turnNow = () => (boards[0].frame.no === null ? state.turn : state.turn - 1);

// positionWords returns the turn of the frame and its place in the turn, in the words of its title.
function positionWords() {
  const { no, title } = boards[0].frame, comma = title.indexOf(", ");
  return `${state.films[0].head.word} ${turnNow()} of ${lastTurn()}${no === null ? "" : comma < 0 ? `, frame ${no}` : title.slice(comma)}`;
}

function sayPosition() {
  if (state.films.length && !$("say").classList.contains("bad")) say(positionWords());
}

// panels shows everything beside the boards.
function panels() {
  const [film] = state.films, frame = boards[0].frame;
  if (!frame) return;
  const words = positionWords();
  const seek = $("seek");
  seek.max = lastTurn();
  seek.value = state.turn;
  seek.setAttribute("aria-valuetext", words);
  put($("position"), words);
  const button = $("play");
  button.querySelector("path").setAttribute("d", state.playing ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l10 6-10 6z");
  button.setAttribute("aria-label", state.playing ? "Pause" : "Play");
  state.films.forEach((f, i) => {
    const name = state.films.length > 1 ? `Game ${f.head.id}` : "";
    const over = state.turn > f.head.turns ? `ended at ${f.head.word} ${f.head.turns}` : boards[i].frame?.title;
    const differs = state.differs < 0 || state.turn < state.differs ? "" : state.turn === state.differs ? "first difference" : "after the first difference";
    put($(i ? "other-name" : "board-name"), [name, over, differs].filter(Boolean).join(" · "), differs ? "bad" : "");
    boards[i].canvas.setAttribute("aria-label", `Board of game ${f.head.id}, ${over || words}: ${boards[i].frame?.entities.length ?? 0} things`);
  });
  showStats(film.head, frame.stats);
  drawPlot(film, state.seat, frame.turn);
  drawMarks(film.head, state.differs);
  showEvents(film.head, frame.events);
  showMoves(film.head, boards[0].moves ?? []);
  showInputs(film, frame);
  showDrawings(film);
  showPrinted(film.head, Math.min(state.turn, film.head.turns), film.printed(Math.min(state.turn, film.head.turns), state.seat));
  showKinds(film, frame);
  choose();
}

// The entity that a person points at, and the chosen one, which is followed from frame to frame.
function point() {
  const p = state.pointer;
  boards.forEach((b, i) => (b.pointed = p?.board === i ? b.at(p.x, p.y) : null));
  const c = state.chosen;
  boards.forEach((b, i) => (b.chosen = c && c.board === i && b.frame ? find(b.frame, c) : null));
}

function find(frame, c) {
  if (c.id) return idsOf(frame.entities).get(c.id) ?? null;
  return frame.entities.find((e) => e && e.kind === c.kind && e.owner === c.owner && e.x === c.x && e.y === c.y) ?? null;
}

function pin(board, e) {
  state.chosen = e ? { board, id: e.id, kind: e.kind, owner: e.owner, x: e.x, y: e.y } : null;
  if (e) say(factsOf(boards[board].film, boards[board].frame, e).join(", "));
  point();
  changed();
  if (person.many()) person.show();
}

function pinNext(by) {
  const b = boards[0];
  const list = b.frame?.entities.filter(Boolean) ?? [];
  if (!list.length) return;
  const at = list.indexOf(b.chosen);
  pin(0, list[(at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by + list.length) % list.length]);
}

function choose() {
  const c = state.chosen;
  $("chosen-box").hidden = !c;
  if (!c) return;
  const b = boards[c.board];
  paragraphs($("chosen"), b.chosen ? factsOf(b.film, b.frame, b.chosen) : [`${c.kind}: not on the board now`]);
}

// tip shows the facts of the entity that a person points at, beside it.
function tip() {
  const box = $("tip"), p = state.pointer, b = p && boards[p.board];
  box.hidden = !b?.pointed;
  if (box.hidden) return;
  paragraphs(box, factsOf(b.film, b.frame, b.pointed));
  const outer = $("boards").getBoundingClientRect(), inner = b.canvas.getBoundingClientRect();
  const [x, y] = [state.pointer.x + inner.left - outer.left, state.pointer.y + inner.top - outer.top];
  const left = x + 16 + box.offsetWidth > outer.width ? x - 12 - box.offsetWidth : x + 16;
  box.style.left = Math.max(4, left) + "px";
  box.style.top = Math.max(4, Math.min(y + 14, outer.height - box.offsetHeight - 4)) + "px";
}

// same reports whether two frames show the same entities and stats.
function same(a, b) {
  const equal = (e, f) => e === f || (e && f && ["look", "x", "y", "health", "number"].every((p) => e[p] === f[p]));
  return a.entities.length === b.entities.length && a.entities.every((e, i) => equal(e, b.entities[i])) &&
    a.stats.length === b.stats.length && a.stats.every((v, i) => v === b.stats[i]);
}

// compare finds the first position in which the two films differ.
async function compare() {
  const [a, b] = state.films, { seat } = state, { word } = a.head;
  state.differs = -1;
  $("with-go").hidden = true;
  put($("with-text"), "Comparing …");
  const end = Math.min(a.head.turns, b.head.turns);
  let found = a.head.turns === b.head.turns ? -1 : end + 1;
  for (let turn = 0; turn <= end; turn++) {
    const waits = [a.need(turn, seat), b.need(turn, seat)].filter(Boolean);
    try {
      if (waits.length) await Promise.all(waits);
    } catch (e) {
      put($("with-text"), e.message);
      return;
    }
    if (state.films[1] !== b || state.seat !== seat) return;
    const last = [a, b].map((f) => f.have(turn, seat)?.at(-1));
    if (!last[0] || !last[1] || !same(...last)) {
      found = turn;
      break;
    }
  }
  state.differs = found;
  put($("with-text"), found < 0 ? `Both games have the same ${word}s.` : `The first difference is at ${word} ${found}.`);
  $("with-go").hidden = found < 0;
  changed();
}
