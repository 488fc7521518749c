// Which input each slot holds: a bar from the step that wrote it to the one that overwrites it.

class HeldPlot extends TimePlot {
  get rows() {
    return this.page.rowsOf(this.run, this.panel);
  }

  get rowHeight() {
    return Math.max(5, Math.min(16, 380 / this.rows.length));
  }

  get height() {
    return Math.ceil(this.rows.length * this.rowHeight) + 1;
  }

  // All stretches in which a slot holds the input of one step.
  bars(slot) {
    const found = [];
    this.panel.clock.steps.forEach((step, own) => {
      const source = heldSource(this.panel, own, slot);
      const last = found.at(-1);
      if (last && last.source === source && last.end === step) last.end = step + 1;
      else if (source >= 0) found.push({ source, first: step, end: step + 1 });
    });
    return found;
  }

  paint(context) {
    const { rows, rowHeight } = this;
    const sources = rows.flatMap((slot) => this.bars(slot).map(({ source }) => source));
    [this.earliest, this.latest] = [Math.min(...sources), Math.max(...sources)];
    this.paintRows(context, rows, rowHeight, "slot");
    context.strokeStyle = ink().line;
    context.textAlign = "left";
    rows.forEach((slot, place) => {
      const top = place * rowHeight;
      context.beginPath();
      context.moveTo(GUTTER, Math.round(top + rowHeight) + 0.5);
      context.lineTo(this.x(this.run.steps), Math.round(top + rowHeight) + 0.5);
      context.stroke();
      for (const bar of this.bars(slot)) this.paintBar(context, bar, top, rowHeight);
    });
  }

  paintBar(context, { source, first, end }, top, rowHeight) {
    const colour = mixRamp(RAMPS[theme.name].time, (source - this.earliest) / Math.max(1, this.latest - this.earliest));
    const width = (end - first) * this.page.stepWidth;
    context.fillStyle = cssColour(colour);
    context.beginPath();
    context.roundRect(this.x(first) + 0.5, top + 1, Math.max(1, width - 1.5), rowHeight - 2, Math.min(3, rowHeight / 3));
    context.fill();
    if (rowHeight < 11) return;
    context.fillStyle = inkOn(colour);
    const text = this.run.texts[source] || `step ${source}`;
    if (width > 24) context.fillText(shorten(context, text, width - 8), this.x(first) + 5, top + rowHeight / 2 + 0.5);
  }

  tell(own, y) {
    const slot = this.rows[Math.floor(y / this.rowHeight)];
    if (slot === undefined) return [];
    const source = heldSource(this.panel, own, slot);
    if (source < 0) return [`slot ${slot}: no clear input`];
    const step = this.panel.clock.steps[own];
    const bar = this.bars(slot).find(({ first, end }) => first <= step && step < end);
    const after = bar.end > this.panel.clock.steps.at(-1) ? "kept to the end" : `until step ${bar.end}`;
    const share = Math.round(100 * this.panel.shares.value(own, slot));
    return [`slot ${slot}: ${sayInput(this.run, source)}`, `${share}% of what it holds, ${after}`];
  }

  drawLegend() {
    const canvas = make("canvas", { class: "ramp", "aria-hidden": "true" });
    const context = sizeCanvas(canvas, 60, 9);
    for (let x = 0; x < 60; x++) {
      context.fillStyle = cssColour(mixRamp(RAMPS[theme.name].time, x / 59));
      context.fillRect(x, 0, 1.5, 9);
    }
    this.legend.append(make("span", { class: "scale" }, "written early", canvas, "late"));
  }
}

// The step whose input a slot holds, or -1 (mnemon/viewer/held.py).
function heldSource(panel, own, slot) {
  const digit = (place) => panel.digits.level(own, 2 * slot + place);
  return digit(0) * (HIGHEST + 1) + digit(1) - 1;
}

function sayInput(run, step) {
  const text = run.texts[step];
  return text ? `“${text}” of step ${step}` : `the input of step ${step}`;
}
