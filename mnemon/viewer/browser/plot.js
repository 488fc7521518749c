// What all panels over time share: steps across, in the same places everywhere, so that one cursor goes through all.

const GUTTER = 92; // for the names of rows
const WIDEST_STEP = 72;
const MARGIN = 14; // to the right, for the last number of the axis
const FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif";

class TimePlot extends Panel {
  // What subclasses say: their height, how they are painted, and what there is at a step and a height.
  get height() { return 60; }
  paint(_context) {}
  tell(_step, _y) { return []; }
  drawLegend() {}

  x(step) {
    return GUTTER + step * this.page.stepWidth;
  }

  // Where a step of this panel is on the page.
  xOfOwn(own) {
    return this.x(this.panel.clock.steps[own]);
  }

  draw() {
    const height = this.height;
    const context = sizeCanvas(this.canvas, GUTTER + this.page.stepWidth * this.page.steps + MARGIN, height);
    context.textBaseline = "middle";
    context.font = `11px ${FONT}`;
    this.paint(context);
    this.paintBorders(context, height);
    this.legend.replaceChildren();
    this.drawLegend();
  }

  paintBorders(context, height) {
    context.strokeStyle = ink().faint;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    for (const { first } of phaseStretches(this.run).slice(1)) {
      context.beginPath();
      context.moveTo(Math.round(this.x(first)) + 0.5, 0);
      context.lineTo(Math.round(this.x(first)) + 0.5, height);
      context.stroke();
    }
    context.setLineDash([]);
  }

  // Row names beside the plot, as many as there is room for.
  paintRows(context, rows, rowHeight, label) {
    const every = Math.ceil(12 / rowHeight);
    context.fillStyle = ink().faint;
    context.textAlign = "right";
    for (let place = 0; place < rows.length; place += every) {
      const y = Math.max(6, (place + 0.5) * rowHeight);
      context.fillText(shorten(context, String(rows[place]), GUTTER - 26), GUTTER - 6, y);
    }
    context.save();
    context.translate(9, Math.min(rows.length * rowHeight, this.height) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    if (rows.length * rowHeight > 34) context.fillText(label, 0, 0);
    context.restore();
  }

  stepAt(event) {
    return Math.floor((event.offsetX - GUTTER) / this.page.stepWidth);
  }

  grab(event) {
    if (this.stepAt(event) < 0) return;
    this.page.cursor.pause();
    this.canvas.setPointerCapture(event.pointerId);
    this.page.cursor.moveTo(this.stepAt(event));
  }

  point(event) {
    const step = this.stepAt(event);
    if (step < 0 || step >= this.run.steps) return hideTooltip();
    if (event.buttons & 1) this.page.cursor.moveTo(step);
    const own = this.panel.clock.at(step);
    const lines = own < 0 ? [] : this.tell(own, event.offsetY);
    showTooltip(event, [`step ${step}`, ...lines]);
  }
}

// What marks a wrong answer: it differs in more than colour.
function paintCross(context, x, y, reach) {
  context.strokeStyle = ink().mark;
  context.lineWidth = 1.7;
  context.beginPath();
  context.moveTo(x - reach, y - reach);
  context.lineTo(x + reach, y + reach);
  context.moveTo(x + reach, y - reach);
  context.lineTo(x - reach, y + reach);
  context.stroke();
}

function shorten(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let kept = text;
  while (kept && context.measureText(`${kept}…`).width > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}

// The phases one after the other: which, from where, and for how many steps.
function phaseStretches(run) {
  const found = [];
  run.phases.steps.forEach((phase, step) => {
    if (found.length && found.at(-1).phase === phase) found.at(-1).count += 1;
    else found.push({ phase, first: step, count: 1 });
  });
  return found;
}

// The band on top that names the phases.
class PhaseBand extends TimePlot {
  constructor(run, page) {
    super({ kind: "phases", title: "Phases", note: "", clock: new Clock([[0, run.steps]]) }, run, page);
    this.element.querySelector("figcaption").remove();
  }

  get height() { return 36; }

  paint(context) {
    context.fillStyle = ink().faint;
    context.textAlign = "right";
    context.fillText("phase", GUTTER - 6, 9);
    context.fillText("step", GUTTER - 6, 28);
    context.textAlign = "center";
    for (const { phase, first, count } of phaseStretches(this.run)) {
      const width = count * this.page.stepWidth;
      context.fillStyle = seriesColour(phase);
      context.globalAlpha = 0.22;
      context.fillRect(this.x(first), 1, width - 1, 16);
      context.globalAlpha = 1;
      context.fillRect(this.x(first), 1, 3, 16);
      context.fillStyle = ink().text;
      const name = this.run.phases.names[phase];
      if (context.measureText(name).width < width - 8) context.fillText(name, this.x(first) + width / 2, 9);
    }
    const every = niceStep(26 / this.page.stepWidth);
    context.fillStyle = ink().faint;
    for (let step = 0; step < this.run.steps; step += every) {
      context.fillText(String(step), this.x(step) + this.page.stepWidth / 2, 28);
    }
  }

  tell(own) {
    return [this.run.phases.names[this.run.phases.steps[own]]];
  }
}

// The smallest of 1, 2, 5, 10, 20, … that is no smaller.
function niceStep(least) {
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) if (digit * power >= least) return digit * power;
  }
}
