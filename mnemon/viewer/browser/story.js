// What happens at a step, in a sentence or two.

const NOTABLE = 0.1; // a weight below is not worth a word

class Story {
  constructor(run, page) {
    Object.assign(this, { run, page });
    this.element = make("p", { class: "story", "aria-live": "polite" });
  }

  move() {
    const step = this.page.stepOf(this.run);
    const phase = this.run.phases.names[this.run.phases.steps[step]];
    const parts = [[make("b", {}, `Step ${step}`), `, ${phase}.`]];
    const shown = this.run.texts[step];
    if (shown) parts.push(["Shown: ", make("code", {}, shown), "."]);
    parts.push(...this.answers(step), ...this.writes(step), ...this.reads(step));
    this.element.replaceChildren(...parts.flatMap((part) => [...part, " "]));
  }

  answers(step) {
    const answer = this.run.answers.find((each) => each.step === step);
    if (!answer || !answer.said) return [];
    const instead = answer.wrong ? [", not ", make("code", {}, answer.right), ": ", make("b", { class: "wrong" }, "wrong"), "."] : ["."];
    return [["Answers ", make("code", {}, answer.said), ...instead]];
  }

  // The slot that a head weighs most at a step.
  strongest(panel, step) {
    const own = panel.clock.at(step);
    if (own < 0) return null;
    let best = { slot: -1, weight: NOTABLE };
    for (let slot = 0; slot < panel.array.cells; slot++) {
      const weight = panel.array.value(own, slot);
      if (weight > best.weight) best = { slot, weight };
    }
    return best.slot < 0 ? null : best;
  }

  heads(hue) {
    return this.run.panels.filter((panel) => panel.kind === "heat" && panel.space && panel.hue === hue);
  }

  writes(step) {
    return this.heads("write").flatMap((panel) => {
      const found = this.strongest(panel, step);
      if (!found) return [];
      const before = this.holds(panel.space, step - 1, found.slot);
      const lost = before >= 0 && this.holds(panel.space, step, found.slot) !== before;
      const gone = lost ? `, over ${sayInput(this.run, before)}` : "";
      return [[`${whose(panel)}rites to `, make("b", { class: "write" }, `slot ${found.slot}`), ` (${showNumber(found.weight)})${gone}.`]];
    });
  }

  reads(step) {
    return this.heads("read").flatMap((panel) => {
      const found = this.strongest(panel, step);
      if (!found) return panel.clock.at(step) < 0 ? [] : [[`${whose(panel, "R")}eads a little of many slots.`]];
      const source = this.holds(panel.space, step, found.slot);
      const what = source >= 0 ? `, which holds ${sayInput(this.run, source)}` : "";
      return [[`${whose(panel, "R")}eads `, make("b", { class: "read" }, `slot ${found.slot}`), ` (${showNumber(found.weight)})${what}.`]];
    });
  }

  holds(space, step, slot) {
    const panel = this.run.panels.find((other) => other.kind === "held" && other.space === space);
    const own = panel ? panel.clock.until(step) : -1;
    return own < 0 ? -1 : heldSource(panel, own, slot);
  }
}

// "W" or "R", or which head it is where there are several.
function whose(panel, letter = "W") {
  const head = panel.title.match(/head \d+.*$/);
  return head ? `${head[0][0].toUpperCase()}${head[0].slice(1)} ${letter.toLowerCase()}` : letter;
}
