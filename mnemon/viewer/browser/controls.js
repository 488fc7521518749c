// The bar on top: play, a slider, what to show, and the keys that do the same.

const LEAP = 10; // steps, with Shift

class Controls {
  constructor(page) {
    this.page = page;
    const { cursor } = page;
    this.play = make("button", { type: "button", class: "play", click: () => cursor.toggle() }, "▶");
    this.slider = make("input", {
      type: "range", min: 0, max: cursor.last, value: 0, "aria-label": "step",
      input: () => { cursor.pause(); cursor.moveTo(Number(this.slider.value)); },
    });
    this.counter = make("output", { class: "counter" });
    this.themes = make("button", { type: "button", class: "theme", click: () => this.changeTheme() });
    this.used = make("input", { type: "checkbox", checked: page.onlyUsed, change: () => page.showUsed(this.used.checked) });
    const choice = make("label", {}, this.used, "only slots in use");
    this.element = make("nav", { "aria-label": "steps" },
      this.play, this.slider, this.counter, ...(page.canHide ? [choice] : []), this.themes,
      make("span", { class: "help" },
        ...keyHelp([["←", "→"], "step", ["Shift"], "by ten", ["Home", "End"], "ends", ["space"], "play", ["PgUp", "PgDn"], "phases"]),
        "click or drag to go to a step, point for numbers"));
    this.nameTheme();
    document.addEventListener("keydown", (event) => this.press(event));
    cursor.follow(() => this.move());
    this.move();
  }

  move() {
    const { cursor } = this.page;
    this.slider.value = cursor.step;
    this.counter.value = `step ${cursor.step} of 0–${cursor.last}`;
    this.play.textContent = cursor.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", cursor.playing ? "pause" : "play");
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest("button, input[type=checkbox]")) return; // which space presses
    const { cursor } = this.page;
    const by = event.shiftKey ? LEAP : 1;
    const keys = {
      ArrowLeft: () => cursor.moveTo(cursor.step - by),
      ArrowRight: () => cursor.moveTo(cursor.step + by),
      Home: () => cursor.moveTo(0),
      End: () => cursor.moveTo(cursor.last),
      PageUp: () => cursor.moveTo(this.page.phaseBefore(cursor.step)),
      PageDown: () => cursor.moveTo(this.page.phaseAfter(cursor.step)),
      " ": () => cursor.toggle(),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    if (event.key !== " ") cursor.pause();
    keys[event.key]();
  }

  changeTheme() {
    theme.name = theme.name === "dark" ? "light" : "dark";
    this.nameTheme();
    this.page.draw();
  }

  nameTheme() {
    document.documentElement.dataset.theme = theme.name;
    this.themes.textContent = theme.name === "dark" ? "light" : "dark";
    this.themes.setAttribute("aria-label", `change to ${this.themes.textContent} colours`);
  }
}

function keyHelp(parts) {
  return parts.flatMap((part) => (Array.isArray(part) ? part.map((key) => make("kbd", {}, key)) : [` ${part}  `]));
}
