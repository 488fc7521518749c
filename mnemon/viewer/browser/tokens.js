// A word or a number at each step: across where it fits, upright where it does not, a dot where nothing would.

const TALLEST_WORD = 70;

class TokensPlot extends TimePlot {
  get layout() {
    const context = this.canvas.getContext("2d");
    context.font = `12px ${FONT}`;
    const widest = Math.max(0, ...this.panel.texts.map((text) => context.measureText(text).width));
    if (widest + 3 <= this.page.stepWidth) return { way: "across", height: 24 };
    if (this.page.stepWidth >= 10) return { way: "upright", height: Math.min(TALLEST_WORD, widest + 10) };
    return { way: "dots", height: 16 };
  }

  get height() {
    return Math.ceil(this.layout.height);
  }

  paint(context) {
    const { way, height } = this.layout;
    const { clock, texts, wrong } = this.panel;
    const width = this.page.stepWidth;
    context.font = `12px ${FONT}`;
    context.textAlign = "center";
    clock.steps.forEach((_, own) => {
      if (!texts[own]) return;
      const left = this.xOfOwn(own);
      context.fillStyle = wrong[own] ? ink().mark : ink().line;
      context.globalAlpha = wrong[own] ? 0.3 : 0.55;
      context.fillRect(left + 0.5, 1, Math.max(1, width - 1), height - 2);
      context.globalAlpha = 1;
      context.fillStyle = wrong[own] ? ink().mark : ink().text;
      this.paintText(context, way, wrong[own] && way === "dots" ? "×" : texts[own], left + width / 2, height);
      if (wrong[own] && way !== "dots") this.strike(context, left, width, height);
    });
  }

  paintText(context, way, text, x, height) {
    if (way === "across") context.fillText(text, x, height / 2);
    else if (way === "dots") context.fillRect(x - 1, height / 2 - 2, 2, 4);
    else {
      context.save();
      context.translate(x, height / 2);
      context.rotate(-Math.PI / 2);
      context.fillText(shorten(context, text, height - 4), 0, 0);
      context.restore();
    }
  }

  // Wrong answers differ in more than colour.
  strike(context, left, width, height) {
    context.strokeStyle = ink().mark;
    context.lineWidth = 1.4;
    context.strokeRect(left + 1.5, 1.5, Math.max(1, width - 3), height - 3);
    context.beginPath();
    context.moveTo(left + 2, height - 2);
    context.lineTo(left + width - 2, 2);
    context.stroke();
  }

  tell(own) {
    const { texts, wrong } = this.panel;
    return texts[own] ? [`${texts[own]}${wrong[own] ? ", wrong" : ""}`] : [];
  }
}
