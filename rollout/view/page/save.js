// This file saves what the page shows: the board as PNG or as video, and the position as JSON.

// saveFile gives a file to the browser to keep.
function saveFile(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  say("Saved " + name);
}

// fileName names a file with what the page shows.
function fileName(end) {
  const { head } = state.films[0], { no } = boards[0].frame;
  return `moonfarm-${head.id}-${head.word}-${turnNow()}${no === null ? "" : `-frame-${no}`}.${end}`;
}

// positionOf returns what the first board shows, as data.
function positionOf() {
  const { film, frame } = boards[0], { head } = film, { turn, no } = frame;
  const flags = (e) => ({ unfinished: (e.flags & 1) !== 0, upgraded: (e.flags & 2) !== 0, leaving: (e.flags & 4) !== 0 });
  const place = (v) => ({ x1: v.placed ? v.x1 : null, y1: v.placed ? v.y1 : null, x2: v.placed ? v.x2 : null, y2: v.placed ? v.y2 : null });
  return {
    format: "moonfarm position", version: 2,
    game: head.game, id: head.id, name: head.name, players: head.players, seat: state.seat, word: head.word, turn, turns: head.turns,
    frame: no, title: frame.title, link: hashOf(),
    board: { width: head.width, height: head.height, up: head.up },
    entities: frame.entities.filter(Boolean).map((e) => ({
      kind: e.kind, owner: e.owner, id: e.id, x: e.x, y: e.y, width: e.width, height: e.height, health: e.health, number: e.number, ...flags(e), note: e.note,
    })),
    ranges: frame.ranges.filter(Boolean), lines: frame.lines.filter(Boolean).map((l) => ({ ...l, end: undefined })), areas: frame.areas.filter(Boolean),
    events: frame.events.map((v) => ({ kind: v.kind, owner: v.owner, ...place(v), amount: v.amount, note: v.note })),
    stats: head.stats.map((s, i) => ({ ...s, value: frame.stats[i] })).filter((s) => s.value !== null),
    orders: film.inputs(turn, Math.min(state.turn, head.turns), state.seat),
  };
}

function savePosition() {
  if (!boards[0].frame) return;
  saveFile(new Blob([JSON.stringify(positionOf(), null, 1) + "\n"], { type: "application/json" }), fileName("json"));
}

function savePicture() {
  if (!boards[0].frame) return;
  picture(layer()).toBlob((blob) => {
    if (!blob) return fail(new Error("The browser cannot make a PNG of this size."));
    saveFile(blob, fileName("png"));
  }, "image/png");
}

// picture draws the boards and what they show on the canvas of g, and returns the canvas. part: as Board.draw has it.
function picture(g, part = 1) {
  const shown = boards.slice(0, state.films.length), [{ canvas, dpr }] = shown, bar = Math.round(28 * dpr);
  const w = shown.reduce((w, b) => w + b.canvas.width, 0), h = canvas.height + bar;
  if (g.canvas.width !== w || g.canvas.height !== h) [g.canvas.width, g.canvas.height] = [w, h];
  g.fillStyle = palette.paper;
  g.fillRect(0, 0, g.canvas.width, g.canvas.height);
  let x = 0;
  for (const b of shown) {
    b.draw(part);
    g.drawImage(b.canvas, x, bar);
    x += b.canvas.width;
  }
  g.font = fontOf(14 * dpr);
  g.fillStyle = palette.dark;
  g.textBaseline = "middle";
  g.fillText(`${$("title").textContent}, ${positionWords()}  ${$("about").textContent}`, 10 * dpr, bar / 2);
  return g.canvas;
}

// video is what is being recorded; null: nothing.
let video = null;

// saveVideo plays the film and records it until the page pauses. The browser packs it.
function saveVideo() {
  if (!boards[0].frame) return;
  if (video) return stop();
  const type = ["video/webm", "video/mp4"].find((t) => window.MediaRecorder?.isTypeSupported(t));
  if (!type) return fail(new Error("This browser records no video. `moonfarm view --gif FILE` writes an animation."));
  const g = element("canvas").getContext("2d", { alpha: false }), name = fileName(type.slice(6)), parts = [];
  picture(g);
  const recorder = new MediaRecorder(g.canvas.captureStream(25), { mimeType: type, videoBitsPerSecond: 5e6 });
  recorder.ondataavailable = (e) => parts.push(e.data);
  recorder.onerror = () => fail(new Error("The browser cannot record this board."));
  recorder.onstop = () => saveFile(new Blob(parts, { type }), name);
  recorder.start();
  video = { g, recorder };
  put($("save-video"), "End video");
  play();
}

// record adds what the boards show to the video, and ends it when the page pauses.
function record(part) {
  if (!video) return;
  picture(video.g, part);
  if (state.playing) return;
  video.recorder.stop();
  video = null;
  put($("save-video"), "Save video");
}
