// The controller's states on two principal components: phases differ in their marks as well as in their colours.

const SIDE = 210;

class StatesPlot extends Panel {
  place(own) {
    const [first, second] = [0, 1].map((axis) => this.panel.array.value(own, axis));
    return [24 + (first + 1) * 0.5 * (this.width - 36), 8 + (1 - (second + 1) / 2) * (SIDE - 36)];
  }

  phase(own) {
    return this.run.phases.steps[this.panel.clock.steps[own]];
  }

  draw() {
    this.width = Math.min(this.page.nowWidth, 330);
    this.context = sizeCanvas(this.canvas, this.width, SIDE);
    this.legend.replaceChildren();
    const present = new Set(this.panel.clock.steps.map((_, own) => this.phase(own)));
    for (const phase of present) {
      const canvas = make("canvas", { "aria-hidden": "true" });
      paintMark(sizeCanvas(canvas, 12, 12), phase, 6, 6, 4);
      this.legend.append(make("span", { class: "key" }, canvas, this.run.phases.names[phase]));
    }
    this.move();
  }

  move() {
    const { context } = this;
    context.clearRect(0, 0, this.width, SIDE);
    this.paintAxes(context);
    const now = this.panel.clock.until(this.page.stepOf(this.run));
    const count = this.panel.clock.steps.length;
    context.lineWidth = 1;
    context.strokeStyle = ink().frame;
    context.beginPath();
    for (let own = 0; own < count; own++) context[own ? "lineTo" : "moveTo"](...this.place(own));
    context.stroke();
    for (let own = 0; own < count; own++) {
      context.globalAlpha = own <= now ? 1 : 0.3; // what is still to come is faint
      paintMark(context, this.phase(own), ...this.place(own), 3.4);
    }
    context.globalAlpha = 1;
    if (now >= 0) {
      context.strokeStyle = ink().text;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(...this.place(now), 8, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  paintAxes(context) {
    context.strokeStyle = ink().line;
    context.strokeRect(20.5, 2.5, this.width - 24, SIDE - 24);
    context.fillStyle = ink().faint;
    context.font = `11px ${FONT}`;
    context.textBaseline = "middle";
    context.textAlign = "center";
    const [first, second] = this.panel.shares.map((share) => `${Math.round(100 * share)}% of the variance`);
    context.fillText(`component 1, ${first}`, 20 + (this.width - 24) / 2, SIDE - 10);
    context.save();
    context.translate(9, (SIDE - 24) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(`component 2, ${second}`, 0, 0);
    context.restore();
  }

  nearest(event) {
    let [best, distance] = [-1, 15];
    this.panel.clock.steps.forEach((_, own) => {
      const [x, y] = this.place(own);
      const away = Math.hypot(x - event.offsetX, y - event.offsetY);
      if (away < distance) [best, distance] = [own, away];
    });
    return best;
  }

  point(event) {
    const own = this.nearest(event);
    if (own < 0) return hideTooltip();
    const step = this.panel.clock.steps[own];
    const text = this.run.texts[step] ? [`shown “${this.run.texts[step]}”`] : [];
    showTooltip(event, [`step ${step}, ${this.run.phases.names[this.phase(own)]}`, ...text]);
  }

  grab(event) {
    const own = this.nearest(event);
    if (own >= 0) this.page.cursor.moveTo(this.panel.clock.steps[own]);
  }
}

const MARKS = [
  (context, x, y, size) => context.arc(x, y, size, 0, 2 * Math.PI),
  (context, x, y, size) => polygon(context, [[x, y - size * 1.3], [x + size * 1.2, y + size], [x - size * 1.2, y + size]]),
  (context, x, y, size) => context.rect(x - size, y - size, 2 * size, 2 * size),
  (context, x, y, size) => polygon(context, [[x, y - size * 1.4], [x + size * 1.4, y], [x, y + size * 1.4], [x - size * 1.4, y]]),
  (context, x, y, size) => polygon(context, [[x, y + size * 1.3], [x + size * 1.2, y - size], [x - size * 1.2, y - size]]),
];

function polygon(context, corners) {
  corners.forEach(([x, y], number) => context[number ? "lineTo" : "moveTo"](x, y));
  context.closePath();
}

function paintMark(context, phase, x, y, size) {
  context.fillStyle = seriesColour(phase);
  context.beginPath();
  MARKS[phase % MARKS.length](context, x, y, size);
  context.fill();
}
