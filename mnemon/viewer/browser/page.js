// The page: runs beside each other, one cursor for all.

const PLOTS = {
  heat: HeatPlot, lines: LinesPlot, shares: SharesPlot, tokens: TokensPlot, held: HeldPlot, matrix: MatrixPlot, states: StatesPlot,
};
const AT_A_STEP = ["matrix", "states"]; // kinds that show one step, not all
const NOW_WIDTH = 340;
const MANY_SLOTS = 16; // from which on slots that no head visits are hidden at first

// What a newcomer needs to know first.
const LEAD = () => [
  "A model reads one sequence, a step in each column. ", make("b", { class: "write" }, "Orange"), " is where it writes its memory, ",
  make("b", { class: "read" }, "blue"), " where it reads; the bar across all panels is the step that is told in words and shown on its own.",
];

class Page {
  constructor({ title, runs }) {
    this.runs = runs;
    this.steps = Math.max(...runs.map((run) => run.steps));
    this.cursor = new Cursor(this.steps);
    const spaces = runs.flatMap((run) => Object.keys(run.used).map((space) => [run.used[space].size, run.slots[space]]));
    this.canHide = spaces.some(([used, all]) => used < all);
    this.onlyUsed = spaces.some(([used, all]) => used > 0 && used < all && all >= MANY_SLOTS);
    this.columns = runs.map((run) => new Column(run, this));
    this.controls = new Controls(this);
    document.body.append(
      make("header", {}, make("h1", {}, title), make("p", { class: "lead" }, ...LEAD())), this.controls.element,
      make("main", { class: runs.length > 1 ? "pair" : "single" }, ...this.columns.map((column) => column.element)), tooltip);
    this.cursor.follow(() => this.move());
    new ResizeObserver(() => this.fit()).observe(this.columns[0].element);
  }

  // A shorter run stays at its last step.
  stepOf(run) {
    return Math.min(this.cursor.step, run.steps - 1);
  }

  rowsOf(run, panel) {
    const used = this.onlyUsed && run.used[panel.space];
    const count = panel.kind === "held" ? panel.shares.cells : panel.kind === "matrix" ? panel.shape[0] : panel.array.cells;
    const rows = allRows(count);
    return used && used.size ? rows.filter((row) => used.has(row)) : rows;
  }

  showUsed(only) {
    this.onlyUsed = only;
    this.draw();
  }

  // Drawing changes the height; only a new width asks for another drawing.
  fit() {
    const width = this.columns[0].element.clientWidth;
    if (width === this.width) return;
    this.width = width;
    this.draw();
  }

  draw() {
    document.documentElement.style.setProperty("--bar", `${this.controls.element.offsetHeight}px`);
    const room = this.columns[0].time.clientWidth - GUTTER - MARGIN;
    this.stepWidth = Math.max(1, Math.min(WIDEST_STEP, room / this.steps));
    this.nowWidth = Math.min(NOW_WIDTH, this.columns[0].element.clientWidth - 8);
    for (const column of this.columns) column.draw();
    document.body.dataset.drawn = "true";
  }

  move() {
    for (const column of this.columns) column.move();
  }

  phaseStarts() {
    return [...new Set(this.runs.flatMap((run) => phaseStretches(run).map(({ first }) => first)))].sort((a, b) => a - b);
  }

  phaseBefore(step) {
    return this.phaseStarts().filter((first) => first < step).at(-1) ?? 0;
  }

  phaseAfter(step) {
    return this.phaseStarts().find((first) => first > step) ?? this.cursor.last;
  }
}

// One run: what happens over time, and beside it what there is at the step of the cursor.
class Column {
  constructor(run, page) {
    Object.assign(this, { run, page });
    const alone = page.runs.length === 1;
    this.plots = run.panels.map((panel) => new PLOTS[panel.kind](panel, run, page));
    this.band = new PhaseBand(run, page);
    this.line = make("div", { class: "cursor" });
    this.story = new Story(run, page);
    const [now, over] = [true, false].map((wanted) => this.plots.filter(({ panel }) => AT_A_STEP.includes(panel.kind) === wanted));
    this.time = make("div", { class: "time" }, this.band.element, ...underHeadings(over), this.line);
    const heading = now.length ? [make("h3", {}, "At this step")] : [];
    this.now = make("aside", {}, ...(alone ? [this.story.element] : []), ...heading, ...underHeadings(now));
    this.element = make("section", { class: "run", "aria-label": run.title },
      ...(alone ? [] : [make("h2", {}, run.title)]), make("p", { class: "facts" }, run.facts.join(" · ")),
      ...(alone ? [] : [this.story.element]), make("div", { class: "body" }, this.time, this.now));
  }

  draw() {
    this.band.draw();
    for (const plot of this.plots) plot.draw();
    this.move();
  }

  move() {
    const step = this.page.stepOf(this.run);
    this.line.style.left = `${GUTTER + step * this.page.stepWidth}px`;
    this.line.style.width = `${Math.max(2, this.page.stepWidth)}px`;
    this.line.dataset.step = step;
    for (const plot of this.plots) if (AT_A_STEP.includes(plot.panel.kind)) plot.move();
    this.story.move();
  }
}

// The panels of each cell under its name, where a run has several cells.
function underHeadings(plots) {
  let before = "";
  return plots.flatMap(({ panel, element }) => {
    const heading = panel.cell && panel.cell !== before ? [make("h3", {}, panel.cell)] : [];
    before = panel.cell;
    return [...heading, element];
  });
}

const given = JSON.parse(document.getElementById("document").textContent);
await Promise.all(given.runs.map(unpackRun));
window.mnemonPage = new Page(given);
