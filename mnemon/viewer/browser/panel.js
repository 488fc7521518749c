// What all panels share: a figure with its title, note and legend around a canvas, and what the pointer does there.

class Panel {
  constructor(panel, run, page) {
    Object.assign(this, { panel, run, page });
    this.canvas = make("canvas", {
      role: "img",
      "aria-label": `${panel.title}. ${panel.note}`,
      pointerdown: (event) => this.grab(event),
      pointermove: (event) => this.point(event),
      pointerleave: hideTooltip,
    });
    this.legend = make("span", { class: "legend" });
    this.element = make("figure", { class: `panel ${panel.kind}`, "data-title": panel.title },
      make("figcaption", {}, make("h4", {}, panel.title), make("span", { class: "note" }, panel.note), this.legend),
      this.canvas);
  }

  // Nothing to take hold of, where a subclass does not say otherwise.
  grab(_event) {}
}
