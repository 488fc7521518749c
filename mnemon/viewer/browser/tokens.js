// A word or a number at each step: across where it fits, upright where it does not, a dot where nothing would.

const TALLEST_WORD = 70;
const MARK_ROOM = 12; // for the × below a wrong answer

class TokensPlot extends TimePlot {
  get layout() {
    const context = this.canvas.getContext("2d");
    context.font = `12px ${FONT}`;
    const room = this.panel.wrong.some(Boolean) ? MARK_ROOM : 0;
    const widest = Math.max(0, ...this.panel.texts.map((text) => context.measureText(text).width));
    if (widest + 3 <= this.page.stepWidth) return { way: "across", height: 22 + room };
    if (this.page.stepWidth >= 10) return { way: "upright", height: Math.min(TALLEST_WORD, widest + 10) + room };
    return { way: "dots", height: 14 + room };
  }

  get height() {
    return Math.ceil(this.layout.height);
  }

  paint(context) {
    const { way, height } = this.layout;
    const words = this.panel.wrong.some(Boolean) ? height - MARK_ROOM : height;
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
      this.paintText(context, way, texts[own], left + width / 2, words);
      if (wrong[own]) paintCross(context, left + width / 2, height - 7, Math.min(4, width / 2));
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

  tell(own) {
    const { texts, wrong } = this.panel;
    return texts[own] ? [`${texts[own]}${wrong[own] ? ", wrong" : ""}`] : [];
  }
}
