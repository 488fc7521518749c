// Series over time, as lines or stacked as parts of one.

class LinesPlot extends TimePlot {
  get height() { return 84; }

  y(value) {
    const { low, high } = this.panel.array;
    return 6 + (1 - (value - low) / (high - low || 1)) * (this.height - 12);
  }

  paint(context) {
    const { array, clock, names } = this.panel;
    this.paintScale(context);
    const half = this.page.stepWidth / 2;
    names.forEach((_, series) => {
      context.strokeStyle = context.fillStyle = seriesColour(series);
      context.lineWidth = 1.8;
      context.setLineDash(dashOf(series));
      context.beginPath();
      let before = null; // the step of the last point, so that gaps stay gaps
      clock.steps.forEach((step, own) => {
        const value = array.value(own, series);
        if (Number.isNaN(value)) return;
        const [x, y] = [this.x(step) + half, this.y(value)];
        if (before === step - 1) context.lineTo(x, y);
        else context.moveTo(x, y);
        before = step;
      });
      context.stroke();
      context.setLineDash([]);
      this.paintLonely(context, series);
    });
  }

  // A point without neighbours would have no line at all.
  paintLonely(context, series) {
    const { array, clock } = this.panel;
    const there = (own) => own >= 0 && own < clock.steps.length && !Number.isNaN(array.value(own, series));
    clock.steps.forEach((step, own) => {
      if (!there(own) || there(own - 1) || there(own + 1)) return;
      context.beginPath();
      context.arc(this.x(step) + this.page.stepWidth / 2, this.y(array.value(own, series)), 2.6, 0, 2 * Math.PI);
      context.fill();
    });
  }

  paintScale(context) {
    const { low, high } = this.panel.array;
    const right = this.x(this.run.steps);
    context.textAlign = "right";
    for (const value of [low, (low + high) / 2, high]) {
      context.strokeStyle = ink().line;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(GUTTER, Math.round(this.y(value)) + 0.5);
      context.lineTo(right, Math.round(this.y(value)) + 0.5);
      context.stroke();
      context.fillStyle = ink().faint;
      context.fillText(showEnd(value), GUTTER - 6, this.y(value));
    }
  }

  tell(own) {
    return this.panel.names.map((name, series) => `${name}: ${showNumber(this.panel.array.value(own, series))}`);
  }

  drawLegend() {
    this.panel.names.forEach((name, series) => {
      const canvas = make("canvas", { "aria-hidden": "true" });
      const context = sizeCanvas(canvas, 26, 8);
      context.strokeStyle = seriesColour(series);
      context.lineWidth = 2;
      context.setLineDash(dashOf(series));
      context.beginPath();
      context.moveTo(0, 4);
      context.lineTo(26, 4);
      context.stroke();
      this.legend.append(make("span", { class: "key" }, canvas, name));
    });
  }
}

class SharesPlot extends TimePlot {
  get height() { return 62; }

  paint(context) {
    const { array, clock, names } = this.panel;
    const gap = this.page.stepWidth >= 7 ? 1 : -0.4;
    context.textAlign = "right";
    context.fillStyle = ink().faint;
    context.fillText("100%", GUTTER - 6, 7);
    context.fillText("0", GUTTER - 6, this.height - 7);
    for (let own = 0; own < clock.steps.length; own++) {
      let bottom = this.height - 1;
      names.forEach((_, series) => {
        const height = (array.value(own, series) || 0) * (this.height - 2);
        context.fillStyle = seriesColour(series);
        context.fillRect(this.xOfOwn(own), bottom - height, this.page.stepWidth - gap, height);
        bottom -= height;
      });
    }
    this.paintSeams(context);
  }

  // Between two parts a thin line of the ground, for those who do not see the colours.
  paintSeams(context) {
    const { array, clock, names } = this.panel;
    context.fillStyle = ink().ground;
    for (let own = 0; own < clock.steps.length; own++) {
      let bottom = this.height - 1;
      for (let series = 0; series < names.length - 1; series++) {
        bottom -= (array.value(own, series) || 0) * (this.height - 2);
        context.fillRect(this.xOfOwn(own), bottom - 0.5, this.page.stepWidth, 1);
      }
    }
  }

  tell(own) {
    if (Number.isNaN(this.panel.array.value(own, 0))) return ["no write"];
    const lines = this.panel.names.map((name, series) => `${name}: ${Math.round(100 * this.panel.array.value(own, series))}%`);
    return lines.reverse(); // as they are stacked
  }

  drawLegend() {
    this.panel.names.forEach((name, series) => {
      const patch = make("i", { class: "patch" });
      patch.style.background = seriesColour(series);
      this.legend.append(make("span", { class: "key" }, patch, name));
    });
  }
}
