// Drawing: elements, bars of class scores, the words of a text, and the curve of an attack.
// Text only ever enters the page by textContent, so that it cannot be anything but text.

export const find = (id) => document.getElementById(id);
export const show = (id, visible = true) => { find(id).hidden = !visible; };

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export const percent = (share) => `${Math.round(100 * share)} %`;
export const plural = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
export const countQueries = (number) => plural(number, "query", "queries");
export const seconds = (value) => (value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`);
const short = (value) => (Math.abs(value) >= 1000 ? value.toFixed(0) : value.toPrecision(3)).replace("-", "−");

const SHOWN = 6; // classes

export function drawBars(list, found) {
  const order = found.shares.map((_, number) => number).sort((a, b) => found.shares[b] - found.shares[a]);
  // Two classes stay where they are; of many, the likeliest come first.
  const shown = order.length <= 3 ? order.slice().sort((a, b) => a - b) : order.slice(0, SHOWN);
  const rows = shown.map((number) => {
    const fill = element("span", { class: "fill" });
    const best = number === found.predicted;
    const name = element("span", { class: "name", text: `${best ? "● " : ""}${found.labels[number]}`, title: found.labels[number] });
    const track = element("span", { class: "track", "aria-hidden": "true" }, fill);
    const value = element("span", { class: "number", text: short(found.scores[number]) });
    fill.style.width = `${100 * found.shares[number]}%`;
    return element("li", { class: best ? "best" : "" }, name, track, value);
  });
  list.replaceChildren(...rows);
  return order.length - shown.length;
}

// The words of a text: those with candidates are buttons. One of them can be reached by Tab, the others by arrow keys.
export class WordsView {
  constructor(container, choose) {
    this.container = container;
    this.choose = choose;
    this.buttons = new Map();
    container.addEventListener("keydown", (event) => this.move(event));
  }

  draw(look) {
    this.look = look;
    this.buttons.clear();
    const pieces = [];
    look.words.forEach((one, position) => {
      pieces.push(one.before);
      if (one.candidates.length) {
        const button = element("button", { class: "word", type: "button", tabindex: "-1", "aria-expanded": "false" });
        button.dataset.position = position;
        button.textContent = one.word;
        button.addEventListener("click", () => this.choose(position, button));
        button.addEventListener("focus", () => this.rove(button));
        this.buttons.set(position, button);
        pieces.push(button);
      } else {
        pieces.push(one.word);
      }
    });
    this.container.replaceChildren(...pieces, look.rest);
    const first = this.container.querySelector(".word");
    if (first) first.tabIndex = 0;
  }

  // Marks what is changed, and touches no other word. changes: of a step; past: words that were there before, by number.
  mark(changes, past = new Map()) {
    const wanted = new Map([...past].map(([position, old]) => [position, { old, new: this.look.words[position].word }]));
    for (const one of changes) wanted.set(one.position, one);
    for (const [position, button] of this.buttons) {
      const change = wanted.get(position);
      const now = change ? `${change.old}→${change.new}` : "";
      if ((button.dataset.change ?? "") === now) continue;
      button.dataset.change = now;
      button.classList.remove("changed");
      if (change) {
        button.replaceChildren(element("del", { text: change.old }), element("ins", { text: change.new }));
        void button.offsetWidth; // so that the animation starts again
        button.classList.add("changed");
        button.setAttribute("aria-label", `${change.new}, instead of ${change.old}`);
      } else {
        button.textContent = this.look.words[position].word;
        button.removeAttribute("aria-label");
      }
    }
  }

  rove(button) {
    for (const other of this.buttons.values()) other.tabIndex = other === button ? 0 : -1;
  }

  move(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const all = [...this.buttons.values()];
    const at = all.indexOf(document.activeElement);
    if (at < 0 || (!step && event.key !== "Home" && event.key !== "End")) return;
    event.preventDefault();
    const next = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : (at + step + all.length) % all.length;
    all[next].focus();
  }
}

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// The margin of the best text against queries, as a staircase. points: [queries, margin].
export function drawCurve(plot, points, queries) {
  const [left, right, top, bottom] = [38, 312, 10, 110];
  const margins = points.map((one) => one[1]);
  let low = Math.min(0, ...margins);
  let high = Math.max(0, ...margins);
  const room = (high - low || 1) * 0.12;
  low -= room;
  high += room;
  const most = Math.max(queries, 1);
  const x = (value) => left + ((right - left) * value) / most;
  const y = (value) => bottom - ((bottom - top) * (value - low)) / (high - low);
  let path = "";
  points.forEach(([at, margin], number) => {
    path += number ? `H${x(at).toFixed(1)}V${y(margin).toFixed(1)}` : `M${x(Math.min(at, most)).toFixed(1)} ${y(margin).toFixed(1)}`;
  });
  path += `H${x(most).toFixed(1)}`;
  const last = margins[margins.length - 1];
  plot.replaceChildren(
    shape("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
    shape("path", { class: "zero", d: `M${left} ${y(0).toFixed(1)}H${right}` }),
    shape("path", { class: "line", d: path }),
    shape("circle", { class: "dot", cx: x(most).toFixed(1), cy: y(last).toFixed(1), r: 3 }),
    shape("text", { x: left - 5, y: y(0) + 3, "text-anchor": "end" }, "0"),
    shape("text", { x: left - 5, y: y(margins[0]) + 3, "text-anchor": "end" }, Math.abs(y(margins[0]) - y(0)) < 11 ? "" : short(margins[0])),
    shape("text", { x: left, y: bottom + 14 }, "0"),
    shape("text", { x: right, y: bottom + 14, "text-anchor": "end" }, countQueries(queries)),
  );
  plot.setAttribute("aria-label", `Margin from ${short(margins[0])} to ${short(last)} after ${countQueries(queries)}; above 0 the label is flipped`);
}
