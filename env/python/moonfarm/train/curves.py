"""Draws the scores of a run against each opponent as SVG."""

from __future__ import annotations

from pathlib import Path

from moonfarm.exporting import whole

COLOURS = ("#06c", "#c60", "#080", "#a0a", "#666", "#c00", "#088")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 50, 110, 24, 50


def draw(minutes: list[float], scores: dict[str, list[float]], file: Path) -> None:
    """Draws shares of games won, one line for each opponent, over the minutes of the run. minutes: of each point, rising."""
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def text(x: float, y: float, what: str, anchor: str, fill: str = "#000") -> str:
        what = what.replace("&", "&amp;").replace("<", "&lt;")
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{fill}">{what}</text>'

    def at(minute: float) -> float:
        return LEFT + across * minute / max(minutes[-1], 1e-9)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="M{LEFT} {TOP}V{TOP + down}H{LEFT + across}" fill="none" stroke="#888"/>',
        f'<path d="M{LEFT} {TOP + down / 2:.0f}H{LEFT + across}" stroke="#888" stroke-dasharray="4"/>',
        *(text(LEFT - 6, TOP + 4 + down * (100 - share) / 100, str(share), "end") for share in (0, 50, 100)),
        *(text(at(minutes[-1] * k / 4), HEIGHT - BOTTOM + 18, f"{minutes[-1] * k / 4:.0f}", "middle") for k in range(5)),
        text(LEFT + across / 2, HEIGHT - 10, "minutes", "middle"),
        text(LEFT, TOP - 8, "% of games", "start"),
    ]
    # Names stand at the ends of their lines, from above, and at least a line apart.
    names, last = sorted(scores, key=lambda name: -scores[name][-1]), float(TOP - 12)
    for name, colour in zip(names, COLOURS * len(names)):
        points = [(at(minute), TOP + down * (1 - score)) for minute, score in zip(minutes, scores[name])]
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        last = max(points[-1][1] + 4, last + 14)
        out += [
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
            text(LEFT + across + 6, last, name, "start", colour),
        ]
    with whole(file) as part:
        part.write_text("\n".join([*out, "</svg>", ""]))
