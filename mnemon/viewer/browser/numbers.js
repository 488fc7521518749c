// The numbers of a run: a byte each, differences from step to step, deflated (mnemon/viewer/packing.py).

const HIGHEST = 254;
const BLANK = 255;

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class NumberArray {
  constructor({ start, frames, cells, every, low, high }, bytes) {
    this.frames = frames;
    this.cells = cells;
    this.every = every; // only so many steps are kept
    this.low = low;
    this.high = high;
    this.levels = bytes.slice(start, start + frames * cells);
    for (let place = cells; place < this.levels.length; place++) {
      this.levels[place] += this.levels[place - cells]; // bytes wrap around, as they did when they were packed
    }
  }

  level(step, cell) {
    return this.levels[Math.min(this.frames - 1, Math.floor(step / this.every)) * this.cells + cell];
  }

  value(step, cell) {
    const level = this.level(step, cell);
    return level === BLANK ? NaN : this.low + (level / HIGHEST) * (this.high - this.low);
  }
}

// When the steps of a panel were: from the steps of the page to its own, or -1.
class Clock {
  constructor(stretches) {
    this.own = new Map();
    for (const [first, count] of stretches) {
      for (let step = first; step < first + count; step++) this.own.set(step, this.own.size);
    }
    this.steps = [...this.own.keys()];
  }

  at(step) {
    return this.own.get(step) ?? -1;
  }

  // The last own step that is not later: what a memory is like while its cell does nothing.
  until(step) {
    let last = -1;
    for (const own of this.steps) if (own <= step) last = this.own.get(own);
    return last;
  }
}

async function unpackRun(run) {
  const bytes = await inflate(run.bytes);
  run.arrays = run.arrays.map((described) => new NumberArray(described, bytes));
  for (const panel of run.panels) {
    panel.clock = new Clock(panel.clock);
    if ("array" in panel) panel.array = run.arrays[panel.array];
    if (panel.kind === "held") {
      panel.digits = run.arrays[panel.digits];
      panel.shares = run.arrays[panel.shares];
    }
  }
  findUsed(run);
}

const VISITED = 0.1; // a slot that no head ever weighs as much is not worth a row

// Of each memory, the slots that some head visits, in their order.
function findUsed(run) {
  run.used = {};
  run.slots = {};
  for (const panel of run.panels) {
    if (panel.kind !== "heat" || !panel.space || !["write", "read"].includes(panel.hue)) continue;
    const used = (run.used[panel.space] ??= new Set());
    run.slots[panel.space] = panel.array.cells;
    for (let step = 0; step < panel.clock.steps.length; step++) {
      for (let slot = 0; slot < panel.array.cells; slot++) {
        if (panel.array.value(step, slot) >= VISITED) used.add(slot);
      }
    }
  }
}

function allRows(count) {
  return Array.from({ length: count }, (_, row) => row);
}
