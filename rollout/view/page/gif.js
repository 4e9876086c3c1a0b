// This file writes animations as GIF: one table of at most 255 colours, and of each picture the part that differs from the
// picture before, packed with LZW. It knows nothing of the page.

// Colours counts the colours of pictures and chooses the table. A colour is red + 256 green + 65536 blue.
class Colours {
  constructor() {
    this.counts = new Map();
  }

  // add counts the pixels of an ImageData. Pictures have runs of one colour, which are counted at once.
  add({ data }) {
    for (let i = 0; i < data.length; ) {
      const first = i, c = data[i] | (data[i + 1] << 8) | (data[i + 2] << 16);
      do i += 4;
      while (i < data.length && (data[i] | (data[i + 1] << 8) | (data[i + 2] << 16)) === c);
      const n = this.counts.get(c);
      if (n !== undefined || this.counts.size < 200000) this.counts.set(c, (n ?? 0) + (i - first) / 4);
    }
  }

  // table returns at most 255 colours: all, or the most frequent ones and the means of the others by median cut.
  table() {
    const all = [...this.counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    if (all.length <= 255) return all.map(([c]) => c);
    const kept = all.slice(0, 95).map(([c]) => c);
    return [...kept, ...medianCut(all.slice(95), 160)];
  }
}

const channel = (c, i) => (c >> (8 * i)) & 255;

// boxOf describes a set of colours with their counts: its widest channel, and how badly one colour stands for all.
function boxOf(colours) {
  let count = 0, widest = 0, range = -1;
  for (const [, n] of colours) count += n;
  for (let i = 0; i < 3; i++) {
    let low = 255, high = 0;
    for (const [c] of colours) {
      low = Math.min(low, channel(c, i));
      high = Math.max(high, channel(c, i));
    }
    if (high - low > range) [widest, range] = [i, high - low];
  }
  return { colours, count, widest, badness: count * range * range };
}

// medianCut divides colours into boxes, each at the median of its widest channel, and returns the means of the boxes.
function medianCut(colours, limit) {
  const boxes = [boxOf(colours)];
  while (boxes.length < limit) {
    let worst = 0;
    for (let i = 1; i < boxes.length; i++) if (boxes[i].badness > boxes[worst].badness) worst = i;
    const box = boxes[worst];
    if (box.badness === 0) break;
    box.colours.sort((a, b) => channel(a[0], box.widest) - channel(b[0], box.widest) || a[0] - b[0]);
    let at = 0;
    for (let n = 0; n * 2 < box.count && at < box.colours.length - 1; at++) n += box.colours[at][1];
    at = Math.max(at, 1);
    boxes.splice(worst, 1, boxOf(box.colours.slice(0, at)), boxOf(box.colours.slice(at)));
  }
  return boxes.map((box) => {
    const sums = [0, 0, 0];
    for (const [c, n] of box.colours) for (let i = 0; i < 3; i++) sums[i] += n * channel(c, i);
    const [r, g, b] = sums.map((s) => Math.round(s / box.count));
    return r | (g << 8) | (b << 16);
  });
}

// Bytes collects bytes.
class Bytes {
  constructor() {
    this.blocks = [];
    this.block = new Uint8Array(65536);
    this.used = 0;
  }

  put(...bytes) {
    for (const b of bytes) {
      if (this.used === this.block.length) {
        this.blocks.push(this.block);
        this.block = new Uint8Array(65536);
        this.used = 0;
      }
      this.block[this.used++] = b;
    }
  }

  text(s) {
    for (let i = 0; i < s.length; i++) this.put(s.charCodeAt(i));
  }

  short(v) {
    this.put(v & 255, (v >> 8) & 255);
  }

  blob(type) {
    return new Blob([...this.blocks, this.block.subarray(0, this.used)], { type });
  }
}

// GIF is an animation that repeats for ever. All its pictures have one size.
class GIF {
  constructor(width, height, table) {
    Object.assign(this, { width, height, table, out: new Bytes(), before: null });
    this.known = new Map(table.map((c, i) => [c, i]));
    this.through = table.length; // the index of pixels that stay as they were
    this.bits = 2;
    while (1 << this.bits <= table.length) this.bits++;
    this.codes = new Int32Array(4096 << 8); // by prefix and pixel: the round of the table · 4096 + the code
    this.round = 0;
    const { out } = this;
    out.text("GIF89a");
    out.short(width);
    out.short(height);
    out.put(0xf0 | (this.bits - 1), 0, 0);
    for (let i = 0; i < 1 << this.bits; i++) out.put(...[0, 1, 2].map((k) => channel(table[i] ?? 0, k)));
    out.put(0x21, 0xff, 11);
    out.text("NETSCAPE2.0");
    out.put(3, 1, 0, 0, 0); // for ever
  }

  // nearest returns the index of the colour of the table that is most like a colour.
  nearest(c) {
    let best = this.known.get(c);
    if (best !== undefined) return best;
    best = 0;
    for (let i = 0, least = Infinity; i < this.table.length; i++) {
      const r = channel(c, 0) - channel(this.table[i], 0), g = channel(c, 1) - channel(this.table[i], 1), b = channel(c, 2) - channel(this.table[i], 2);
      const d = 3 * r * r + 4 * g * g + 2 * b * b;
      if (d < least) [best, least] = [i, d];
    }
    this.known.set(c, best);
    return best;
  }

  // add adds an ImageData, which is shown for a time in hundredths of a second.
  add({ data }, time) {
    const { width, height, before, out } = this, now = new Uint8Array(width * height);
    for (let i = 0, last = -1, index = 0; i < now.length; i++) {
      const c = data[4 * i] | (data[4 * i + 1] << 8) | (data[4 * i + 2] << 16);
      if (c !== last) [last, index] = [c, this.nearest(c)];
      now[i] = index;
    }
    let left = 0, top = 0, right = width - 1, bottom = height - 1;
    if (before) {
      [left, top, right, bottom] = [width, height, -1, -1];
      for (let y = 0, i = 0; y < height; y++) {
        for (let x = 0; x < width; x++, i++) {
          if (now[i] === before[i]) continue;
          left = Math.min(left, x);
          right = Math.max(right, x);
          top = Math.min(top, y);
          bottom = y;
        }
      }
      if (right < 0) left = top = right = bottom = 0; // nothing has changed
    }
    const w = right - left + 1, h = bottom - top + 1, part = new Uint8Array(w * h);
    for (let y = 0, to = 0; y < h; y++) {
      for (let x = 0; x < w; x++, to++) {
        const i = (top + y) * width + left + x;
        part[to] = before && now[i] === before[i] ? this.through : now[i];
      }
    }
    this.before = now;
    out.put(0x21, 0xf9, 4, 0x05); // the picture stays, and the next is drawn over it
    out.short(time);
    out.put(this.through, 0, 0x2c);
    for (const v of [left, top, w, h]) out.short(v);
    out.put(0);
    this.pack(part);
  }

  // pack writes pixels with LZW, in blocks of at most 255 bytes.
  pack(pixels) {
    const { out, codes, bits } = this, clear = 1 << bits;
    const block = new Uint8Array(255);
    let used = 0, word = 0, filled = 0, size = bits + 1, next = clear + 2;
    const flush = () => {
      out.put(used, ...block.subarray(0, used));
      used = 0;
    };
    const emit = (code) => {
      word |= code << filled;
      for (filled += size; filled >= 8; filled -= 8) {
        block[used++] = word & 255;
        word >>>= 8;
        if (used === 255) flush();
      }
    };
    out.put(bits);
    emit(clear);
    this.round++;
    let prefix = pixels[0];
    for (let i = 1; i < pixels.length; i++) {
      const slot = (prefix << 8) | pixels[i], found = codes[slot];
      if (found >> 12 === this.round) {
        prefix = found & 4095;
        continue;
      }
      emit(prefix);
      if (next === 1 << size && size < 12) size++;
      if (next < 4096) codes[slot] = (this.round << 12) | next++;
      else {
        emit(clear);
        this.round++;
        [size, next] = [bits + 1, clear + 2];
      }
      prefix = pixels[i];
    }
    emit(prefix);
    if (next === 1 << size && size < 12) size++;
    emit(clear + 1);
    if (filled > 0) {
      block[used++] = word & 255;
    }
    if (used > 0) flush();
    out.put(0);
    if (this.round > 1e5) { // it must fit into its bits
      codes.fill(0);
      this.round = 0;
    }
  }

  // end returns the file.
  end() {
    this.out.put(0x3b);
    return this.out.blob("image/gif");
  }
}
