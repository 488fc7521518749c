// Making elements. What comes from the document only ever becomes text, never markup.

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// A canvas that is sharp on any screen, its context measuring in CSS pixels.
function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function showNumber(value) {
  if (Number.isNaN(value)) return "nothing";
  const size = Math.abs(value);
  if (size !== 0 && size < 0.005) return value.toExponential(0).replace("-", "−");
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace("-", "−");
}

// One small box for numbers under the pointer.
const tooltip = make("div", { id: "tooltip", role: "tooltip", hidden: true });

function showTooltip(event, lines) {
  tooltip.replaceChildren(...lines.map((line) => make("div", {}, line)));
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - width - 8);
  const below = event.clientY + 18;
  const top = below + height > window.innerHeight ? event.clientY - height - 10 : below;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
}

function hideTooltip() {
  tooltip.hidden = true;
}
