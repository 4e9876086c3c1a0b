// This file shows what the bots printed.

// printedOf checks what the seats printed in a turn: for each { lines, left }, left being the number of lines left out.
function printedOf(seats) {
  return listOf(seats, most.seats).map((p) => ({ lines: listOf(p?.lines, 200).map((line) => text(line, 400)), left: whole(p?.left, 0, 1e9) }));
}

// showPrinted shows what the bots printed since the turn before, by seat.
function showPrinted(head, turn, seats) {
  $("printed-box").hidden = !head.printed;
  if (!head.printed) return;
  put($("printed-when"), turn ? `Since ${head.word} ${turn - 1}:` : `Before the first ${head.word}:`);
  const box = $("printed"), key = JSON.stringify(seats);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren();
  seats.forEach((p, seat) => {
    if (!p.lines.length && !p.left) return;
    const title = element("h3"), list = element("ul");
    title.append(chip(seat), playerOf(head, seat));
    list.append(...p.lines.map((line) => element("li", line)));
    if (p.left) list.append(element("li", `${p.left} more ${p.left === 1 ? "line is" : "lines are"} left out`, "soft"));
    box.append(title, list);
  });
  if (!box.children.length) box.append(element("p", "none", "soft"));
}
