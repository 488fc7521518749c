// A matrix as it is at the step of the cursor.

const BAR = 26; // room for the weights of heads beside the rows
const LARGEST_CELL = 15;

class MatrixPlot extends Panel {
  constructor(panel, run, page) {
    super(panel, run, page);
    const heads = (hue) => run.panels.filter((other) => other.kind === "heat" && other.space === panel.space && other.hue === hue);
    const beside = panel.rows === "slot" && !panel.columnsAreSlots;
    this.writers = beside ? heads("write") : [];
    this.readers = beside ? heads("read") : [];
  }

  get rows() {
    return this.page.rowsOf(this.run, this.panel);
  }

  get columns() {
    return this.panel.columnsAreSlots ? this.rows : allRows(this.panel.shape[1]);
  }

  draw() {
    const { rows, columns } = this;
    const bars = this.writers.length || this.readers.length ? BAR : 0;
    this.left = 44 + bars;
    const room = this.page.nowWidth - this.left - bars - 6;
    this.cellWidth = Math.max(2, Math.min(LARGEST_CELL, room / columns.length));
    this.cellHeight = Math.max(2.5, Math.min(LARGEST_CELL, (this.panel.columnsAreSlots ? 200 : 310) / rows.length));
    if (this.panel.columnsAreSlots) this.cellHeight = this.cellWidth = Math.min(this.cellWidth, this.cellHeight);
    this.context = sizeCanvas(this.canvas, this.page.nowWidth, rows.length * this.cellHeight + 20);
    this.legend.replaceChildren(rampLegend(this.panel.array, this.panel.hue));
    this.move();
  }

  move() {
    const { context } = this;
    context.clearRect(0, 0, this.page.nowWidth, this.rows.length * this.cellHeight + 20);
    const own = this.panel.clock.until(this.page.stepOf(this.run));
    if (own >= 0) this.paintCells(context, own);
    this.paintAxes(context);
    this.paintBars(context);
  }

  paintCells(context, own) {
    const { array, hue, shape } = this.panel;
    const table = rampTable(hue);
    const gap = Math.min(this.cellWidth, this.cellHeight) >= 8 ? 1 : -0.4;
    this.rows.forEach((row, down) => {
      this.columns.forEach((column, across) => {
        const level = array.level(own, row * shape[1] + column);
        if (level === BLANK) return;
        context.fillStyle = cssColour(table[level]);
        context.fillRect(this.left + across * this.cellWidth, down * this.cellHeight, this.cellWidth - gap, this.cellHeight - gap);
      });
    });
    context.strokeStyle = ink().line;
    context.strokeRect(this.left - 0.5, 0.5, this.columns.length * this.cellWidth, this.rows.length * this.cellHeight);
  }

  paintAxes(context) {
    context.font = `11px ${FONT}`;
    context.fillStyle = ink().faint;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.ceil(12 / this.cellHeight);
    const edge = this.left - (this.writers.length ? BAR : 0) - 4;
    for (let place = 0; place < this.rows.length; place += every) {
      context.fillText(String(this.rows[place]), edge, (place + 0.5) * this.cellHeight);
    }
    context.textAlign = "left";
    context.fillText(`${this.panel.columns} →`, this.left, this.rows.length * this.cellHeight + 11);
    context.textAlign = "right";
    context.fillText(`${this.panel.rows} ↑`, edge, this.rows.length * this.cellHeight + 11);
  }

  paintBars(context) {
    const right = this.left + this.columns.length * this.cellWidth + 3;
    const step = this.page.stepOf(this.run);
    const weigh = (heads, slot) => Math.max(0, ...heads.map((head) => {
      const own = head.clock.at(step);
      return own < 0 ? 0 : head.array.value(own, slot) || 0;
    }));
    this.rows.forEach((slot, place) => {
      const [top, height] = [place * this.cellHeight, Math.max(1, this.cellHeight - 1)];
      const written = weigh(this.writers, slot) * (BAR - 4);
      context.fillStyle = cssColour(rampTable("write")[170]);
      context.fillRect(this.left - 3 - written, top, written, height);
      context.fillStyle = cssColour(rampTable("read")[170]);
      context.fillRect(right, top, weigh(this.readers, slot) * (BAR - 4), height);
    });
  }

  point(event) {
    const row = this.rows[Math.floor(event.offsetY / this.cellHeight)];
    const column = this.columns[Math.floor((event.offsetX - this.left) / this.cellWidth)];
    const own = this.panel.clock.until(this.page.stepOf(this.run));
    if (row === undefined || column === undefined || own < 0) return hideTooltip();
    const value = showNumber(this.panel.array.value(own, row * this.panel.shape[1] + column));
    const thinned = this.panel.array.every > 1 ? [`kept every ${this.panel.array.every} steps`] : [];
    showTooltip(event, [`${this.panel.rows} ${row}, ${this.panel.columns} ${column}: ${value}`, ...thinned]);
  }
}
