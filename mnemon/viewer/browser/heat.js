// Numbers in shades: steps across, rows down.

class HeatPlot extends TimePlot {
  get rows() {
    return this.page.rowsOf(this.run, this.panel);
  }

  get rowHeight() {
    const rows = this.rows.length;
    return this.panel.names.length ? Math.max(4, Math.min(12, 200 / rows)) : Math.max(3, Math.min(12, 190 / rows));
  }

  get height() {
    return Math.ceil(this.rows.length * this.rowHeight) + 1;
  }

  paint(context) {
    const { array, clock, hue, names } = this.panel;
    const { rows, rowHeight } = this;
    const width = this.page.stepWidth;
    const gap = width >= 7 && rowHeight >= 7 ? 1 : 0; // a line between cells where there is room
    const table = rampTable(hue);
    for (let own = 0; own < clock.steps.length; own++) {
      const left = this.xOfOwn(own);
      rows.forEach((row, place) => {
        const level = array.level(own, row);
        if (level === BLANK) return;
        context.fillStyle = cssColour(table[level]);
        context.fillRect(left, place * rowHeight, width - gap + (gap ? 0 : 0.4), rowHeight - gap + (gap ? 0 : 0.4));
      });
    }
    this.paintFrame(context);
    this.paintWrong(context);
    this.paintRows(context, names.length ? rows.map((row) => names[row]) : rows, rowHeight, this.panel.rows);
  }

  paintFrame(context) {
    context.strokeStyle = ink().line;
    context.lineWidth = 1;
    const { steps } = this.panel.clock;
    if (!steps.length) return;
    const [first, last] = [this.x(steps[0]), this.x(steps.at(-1) + 1)];
    context.strokeRect(first - 0.5, 0.5, last - first, this.height - 1);
  }

  paintWrong(context) {
    const reach = Math.max(2, Math.min(this.page.stepWidth, this.rowHeight) / 2 - 2);
    for (const [own, row] of this.panel.wrong) {
      paintCross(context, this.xOfOwn(own) + this.page.stepWidth / 2, (row + 0.5) * this.rowHeight, reach);
    }
  }

  tell(own, y) {
    const row = this.rows[Math.floor(y / this.rowHeight)];
    if (row === undefined) return [];
    const name = this.panel.names[row] ?? `${this.panel.rows} ${row}`;
    const wrong = this.panel.wrong.some(([step, place]) => step === own && place === row);
    return [`${name}: ${showNumber(this.panel.array.value(own, row))}${wrong ? ", wrong" : ""}`];
  }

  drawLegend() {
    this.legend.append(rampLegend(this.panel.array, this.panel.hue));
  }
}

// A strip of shades with the numbers at its ends.
function rampLegend(array, hue) {
  const canvas = make("canvas", { class: "ramp", "aria-hidden": "true" });
  const context = sizeCanvas(canvas, 60, 9);
  const table = rampTable(hue);
  for (let x = 0; x < 60; x++) {
    context.fillStyle = cssColour(table[Math.round((x / 59) * HIGHEST)]);
    context.fillRect(x, 0, 1.5, 9);
  }
  return make("span", { class: "scale" }, showEnd(array.low), canvas, showEnd(array.high));
}

const showEnd = (value) => (Number.isInteger(value) ? String(value).replace("-", "−") : showNumber(value));
