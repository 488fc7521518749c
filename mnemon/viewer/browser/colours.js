// Colours for light and dark. Shades differ in lightness first, so that they need no sense of colour; writing is orange
// and reading blue, which all kinds of colour-blindness tell apart.

const RAMPS = {
  light: {
    plain: ["#ffffff", "#9aa0a8", "#16181d"],
    write: ["#ffffff", "#fdbe85", "#e6550d", "#7f2704"],
    read: ["#ffffff", "#9ecae1", "#3182bd", "#08306b"],
    use: ["#ffffff", "#bcbddc", "#756bb1", "#3f007d"],
    signed: ["#053061", "#2b7bba", "#a6cde3", "#ffffff", "#fdc38d", "#e6700d", "#7f2704"],
    time: ["#00306f", "#41577b", "#7d7c78", "#b9a768", "#f5d742"],
  },
  dark: {
    plain: ["#1d2129", "#7a828e", "#f4f6f8"],
    write: ["#1d2129", "#8a3f08", "#e87f1e", "#ffc27a"],
    read: ["#1d2129", "#1d5a96", "#4da3ea", "#9fd4ff"],
    use: ["#1d2129", "#59489c", "#9b85e3", "#cfc0ff"],
    signed: ["#d6ecff", "#5fb0f0", "#1d5a96", "#1d2129", "#9a4a0c", "#f28e2b", "#ffe3c2"],
    time: ["#3f6fd0", "#7389b8", "#a09f98", "#cdbb77", "#ffe95c"],
  },
};

const SERIES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#3a9bd9", "#5b5b5b", "#7a3db8"],
  dark: ["#56b4e9", "#ff9249", "#2fd6a3", "#ea9fcb", "#f0c04a", "#a5dcff", "#c4c8ce", "#c39bf2"],
};
const DASHES = [[], [7, 3], [2, 2.5], [8, 3, 2, 3], [12, 3], [4, 4], [1, 4], [10, 2, 2, 2, 2, 2]];

const INK = {
  light: { text: "#20242b", faint: "#6b7280", line: "#d5d9df", frame: "#b9bfc8", ground: "#ffffff", mark: "#c2410c" },
  dark: { text: "#e8eaee", faint: "#9aa3b0", line: "#333a46", frame: "#4a5362", ground: "#1d2129", mark: "#ffb86b" },
};

const theme = { name: window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light" };
const ink = () => INK[theme.name];
const seriesColour = (number) => SERIES[theme.name][number % SERIES[theme.name].length];
const dashOf = (number) => DASHES[number % DASHES.length];

const parseColour = (hex) => [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));

function mixRamp(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const first = Math.min(Math.floor(place), stops.length - 2);
  const [from, to] = [parseColour(stops[first]), parseColour(stops[first + 1])];
  return from.map((part, channel) => Math.round(part + (to[channel] - part) * (place - first)));
}

const tables = new Map();

// The colour of each level, as [red, green, blue].
function rampTable(hue) {
  const key = `${theme.name} ${hue}`;
  if (!tables.has(key)) {
    const stops = RAMPS[theme.name][hue];
    tables.set(key, allRows(HIGHEST + 1).map((level) => mixRamp(stops, level / HIGHEST)));
  }
  return tables.get(key);
}

const cssColour = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

// Black or white, whichever is legible on a colour.
function inkOn([red, green, blue]) {
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#14171c" : "#ffffff";
}
