// This file lets a person play: it shows what is legal, and sends what is chosen. It also holds a game that
// is being played elsewhere.

// post sends a request that changes something, and returns the answer.
async function post(name, body) {
  let answer;
  try {
    answer = await fetch("./" + name, { method: "POST", body: body === undefined ? "" : JSON.stringify(body) });
  } catch {
    throw new Error("The server does not answer.");
  }
  if (!answer.ok) throw new Error(text(await answer.text(), 200));
  return answer.json();
}

const optionOf = (o) => ({
  head: whole(o?.head, 0, 1e6), choice: whole(o?.choice, -1, 2 ** 31, -1), kind: text(o?.kind, 60), placed: o?.placed === true, x: number(o?.x), y: number(o?.y),
  target: whole(o?.target, 0, 2 ** 32), number: whole(o?.number, 0, 1e6), note: text(o?.note, 100), text: text(o?.text, 200),
});

const moveOf = (m, by) => ({ share: number(m?.share), options: listOf(m?.options, 1000).map(optionOf), by });

const person = {
  offer: null, // what can be chosen now
  options: [], // of the head
  head: 0,
  kind: "",
  picks: new Map(), // of games with many heads: head → option, until the turn ends
  moves: [], // of a hint: { share, options, by }, the best first
  draft: null, // what the orders of this turn would do: { entities, lines, left }
  jobs: Promise.resolve(), // requests follow one another
  waiting: 0, // jobs
  due: false, // a job that shows the offer waits

  get busy() {
    return this.waiting > 0;
  },

  // run does a job after those before it.
  run(job) {
    this.waiting++;
    const done = this.jobs.then(job).catch(fail).finally(() => this.waiting--);
    this.jobs = done;
    return done;
  },

  // current reports whether the board shows the state in which the person orders.
  current() {
    return state.turn === lastTurn() && boards[0].frame?.no === null;
  },

  many() {
    return !!this.offer && (this.offer.heads.length > 1 || this.offer.heads.some((h) => h.entity > 0));
  },

  // show asks what can be chosen now, and shows it.
  async show() {
    const info = gameList.info;
    $("live-box").hidden = info?.held === null || info?.held === undefined;
    $("person-box").hidden = info?.person === null || info?.person === undefined;
    if (!$("live-box").hidden) {
      put($("hold"), info.held ? "Go on" : "Hold");
    }
    if ($("person-box").hidden || this.due) return;
    this.due = true;
    await this.run(() => {
      this.due = false;
      return this.look();
    });
  },

  // look asks what can be chosen now.
  async look() {
    const raw = await load("offer.json?head=-2");
    const before = this.offer;
    this.offer = {
      turn: whole(raw.turn, 0, 1e9), seat: whole(raw.seat, 0, most.seats - 1), step: whole(raw.step, 0, 1e9), over: raw.over === true, sequential: raw.sequential === true, nothing: whole(raw.nothing, 0, 1e9),
      ordering: listOf(raw.ordering, most.seats), undo: raw.undo === true, hint: raw.hint === true, chosen: listOf(raw.chosen, 1000).map(optionOf),
      heads: listOf(raw.heads, 1000).map((h) => ({ head: whole(h?.head, 0, 1e6), entity: whole(h?.entity, 0, 2 ** 32) })),
    };
    if (!before || before.turn !== this.offer.turn || before.seat !== this.offer.seat) {
      this.picks.clear();
      this.moves = raw.analysed ? [moveOf(raw.analysed, "analysis")] : [];
    }
    if (this.many()) await this.head0();
    else await this.ask(-1);
    await this.sketch();
    this.fill();
  },

  // sketch asks what the orders of this turn would do.
  async sketch() {
    const { turn, step, seat, chosen, ordering, over } = this.offer, [film] = state.films;
    const now = film && framesAt(film, film.head.turns)?.at(-1);
    this.draft = null;
    if (over || !now || film.head.turns !== turn || !(chosen.length || this.picks.size || ordering.length > 1)) return;
    const raw = await post("draft", { turn, step, picks: this.choices() });
    const { entities, lines, stats } = sound(() => chunkOf(raw, film.head, 0)).positions[0][0];
    const words = (x) => JSON.stringify(x, (k, v) => (k === "look" ? undefined : v));
    const known = new Set([...now.entities, ...now.lines].map(words)), fresh = (x) => x && ordering.includes(x.owner) && !known.has(words(x));
    const left = film.head.stats.map((s, i) => (s.seat === seat && stats[i] !== null && stats[i] !== now.stats[i] ? `${spaced(s.name)} ${figure(stats[i])}` : "")).filter(Boolean);
    this.draft = { entities: entities.filter(fresh), lines: lines.filter(fresh), left };
  },

  // choices returns the orders that wait for the end of the turn.
  choices() {
    return [...this.picks].map(([head, o]) => ({ head, choice: o.choice }));
  },

  // ask loads the options of a head, −1: of the only one.
  async ask(head) {
    const raw = await load("offer.json?head=" + head);
    const of = listOf(raw.heads, 1000).find((h) => head < 0 || h?.head === head);
    this.head = whole(of?.head, 0, 1e6);
    this.options = listOf(of?.options, 20000).map(optionOf);
    const kinds = this.kinds();
    if (!kinds.includes(this.kind)) this.kind = kinds.find(Boolean) ?? "";
  },

  // head0 loads the options of what is chosen on the board, if it can act.
  async head0() {
    const h = this.offer.heads.find((h) => h.entity && h.entity === state.chosen?.id);
    if (h) await this.ask(h.head);
    else this.options = [];
  },

  kinds() {
    return [...new Set(this.options.filter((o) => o.choice !== this.offer.nothing).map((o) => o.kind))];
  },

  // cellsOf returns the cell of an option: where it is placed, or what it acts on.
  cellOf(o) {
    if (o.placed) return { x: o.x, y: o.y, width: 1, height: 1 };
    const e = o.target && boards[0].frame ? idsOf(boards[0].frame.entities).get(o.target) : null;
    return e ? { x: e.x, y: e.y, width: e.width, height: e.height } : null;
  },

  // fill shows the options of the chosen kind.
  fill() {
    const { offer } = this;
    if (!offer || $("person-box").hidden) return;
    const many = this.many(), kinds = offer.over ? [] : this.kinds();
    put($("person-say"), offer.over ? "The game is over." : many && !this.options.length ? "Choose one of your own on the board." : `${state.films[0] ? playerOf(state.films[0].head, offer.seat) + ", " : ""}${state.films[0]?.head.word ?? "turn"} ${offer.turn}`);
    const box = $("person-kinds");
    while (box.children.length > 1) box.lastElementChild.remove();
    for (const kind of kinds) {
      const b = element("button", kind || "nothing");
      b.type = "button";
      b.setAttribute("aria-pressed", String(kind === this.kind));
      b.addEventListener("click", () => {
        this.kind = kind;
        this.fill();
        for (const other of box.querySelectorAll("button")) if (other.textContent === (kind || "nothing")) other.focus();
      });
      box.append(b);
    }
    box.hidden = $("person-form").hidden = !kinds.length;
    const here = this.options.filter((o) => o.kind === this.kind && o.choice !== offer.nothing);
    const numbers = [...new Set(here.map((o) => o.number))].sort((a, b) => a - b);
    const chosen = $("person-number").value;
    $("person-number").replaceChildren(...numbers.map((n) => new Option(n || 1, n)));
    if (numbers.map(String).includes(chosen)) $("person-number").value = chosen;
    $("person-number").parentElement.hidden = numbers.length < 2;
    this.where();
    $("person-end").disabled = offer.over || !(offer.sequential || many || this.options.some((o) => o.choice === offer.nothing));
    put($("person-end"), offer.sequential || many ? "End turn" : "Do nothing");
    $("person-undo").disabled = !offer.undo && !this.picks.size;
    $("person-hint").disabled = !offer.hint || offer.over;
    lines($("person-list"), [...offer.chosen, ...this.picks.values()].map((o) => ({ words: o.text })), "");
    put($("person-left"), this.draft?.left.length ? `After these orders: ${this.draft.left.join(", ")}.` : "");
    $("person-moves").replaceChildren(...this.moves.map((m) => {
      const item = element("li"), b = element("button", `${m.by}: ${m.share < 1 ? `${figure(100 * m.share)} % ` : ""}${m.options.map((o) => o.text).join(", ") || "nothing"}`);
      b.type = "button";
      b.disabled = !m.options.some((o) => o.choice >= 0);
      b.addEventListener("click", () => this.take(m.options));
      item.append(b);
      return item;
    }));
    boards[0].hints = this.hinted().map((o) => this.cellOf(o)).filter(Boolean);
    changed(false);
  },

  // hinted returns the orders of the best move that are not given yet.
  hinted() {
    const given = new Set([...this.offer.chosen, ...this.picks.values()].map((o) => o.text));
    return (this.moves[0]?.options ?? []).filter((o) => !given.has(o.text));
  },

  // take gives the orders of a hint.
  take(options) {
    const wanted = options.filter((o) => o.choice >= 0);
    if (!this.many()) return this.send(wanted);
    for (const o of wanted) this.picks.set(o.head, o);
    return this.run(() => this.sketch()).then(() => this.fill());
  },

  // now returns the options of the chosen kind and number.
  now() {
    const n = Number($("person-number").value);
    return this.options.filter((o) => o.kind === this.kind && o.number === n && o.choice !== this.offer.nothing);
  },

  where() {
    const now = this.now();
    $("person-where").replaceChildren(...now.slice(0, 2000).map((o) => new Option([o.text, o.note].filter(Boolean).join(" "), o.choice)));
    boards[0].cells = this.offer.over ? [] : now.map((o) => this.cellOf(o)).filter(Boolean);
    changed(false);
  },

  // click orders what is chosen at a point of the board. It reports whether there was something to order.
  click(board, x, y) {
    if ($("person-box").hidden || !this.offer || this.offer.over || board !== boards[0] || !this.current()) return false;
    const [bx, by] = board.under(x, y);
    const inside = (c) => c && bx >= c.x && by >= c.y && bx < c.x + c.width && by < c.y + c.height;
    const e = board.at(x, y);
    if (this.many() && e?.id && this.offer.heads.some((h) => h.entity === e.id)) return false; // choose it
    const hint = this.hinted().find((o) => o.choice >= 0 && inside(this.cellOf(o)));
    const o = hint ?? this.now().find((o) => inside(this.cellOf(o)));
    if (!o) return false;
    if (hint) this.take([hint]);
    else this.order(o);
    return true;
  },

  // order gives an order: at once, or with the other ones at the end of the turn.
  order(o) {
    say(this.many() ? o.text : "");
    return this.take([{ ...o, head: this.head }]);
  },

  // send sends choices, if the turn is still the one in which they were made: one after the other where the form wants it.
  send(picks) {
    const { turn, sequential } = this.offer;
    return this.run(async () => {
      if (this.offer.turn !== turn) throw new Error("The game has gone on meanwhile.");
      let { step } = this.offer, refused = null;
      for (const some of sequential ? picks.map((p) => [p]) : [picks]) {
        try {
          await post("choose", { turn, step, picks: some.map(({ head, choice }) => ({ head, choice })) });
          step++;
        } catch (e) {
          refused = e; // the others may be possible
        }
      }
      version = undefined;
      await refresh();
      await this.look();
      if (refused) throw refused;
      if (this.offer.turn > turn && state.films.length && state.turn === this.offer.turn && state.frames > 1) {
        await go(this.offer.turn, 0); // what happened in the turn
        play();
      }
    });
  },

  end() {
    const { offer } = this;
    if (this.many()) this.send(this.choices());
    else this.send([{ head: this.head, choice: offer.nothing }]);
  },

  undo() {
    return this.run(async () => {
      const last = [...this.picks.keys()].at(-1);
      if (this.picks.delete(last)) {
        await this.sketch();
        return this.fill();
      }
      await post("undo");
      version = undefined;
      await refresh();
      await go(lastTurn());
      await this.look();
    });
  },

  async hint() {
    $("person-hint").disabled = true;
    say("Thinking …");
    await this.run(async () => {
      const raw = await post("hint");
      this.moves = [...listOf(raw.moves, 100).map((m) => moveOf(m, "hint")), ...this.moves.filter((m) => m.by !== "hint")];
      version = undefined;
      await refresh(); // with the value
      say(Number.isFinite(raw.value) ? `The search expects ${rounded(raw.value)}` : "");
    });
    this.fill();
  },
};

$("person-form").addEventListener("submit", (e) => {
  e.preventDefault();
  const o = person.options.find((o) => o.choice === Number($("person-where").value) && o.kind === person.kind);
  if (o) person.order(o);
});
$("person-number").addEventListener("change", () => person.where());
$("person-end").addEventListener("click", () => person.end());
$("person-undo").addEventListener("click", () => person.undo());
$("person-hint").addEventListener("click", () => person.hint());

// control sends hold, go or step, and shows what came of it.
async function control(name) {
  try {
    await post(name);
    version = undefined;
    await refresh();
  } catch (e) {
    fail(e);
  }
  person.show();
}
$("hold").addEventListener("click", () => control(gameList.info?.held ? "go" : "hold"));
$("step").addEventListener("click", () => control("step"));
