"use strict";
// Texts reach the page through textContent alone, so none of them can become markup.
(function () {
  const root = document.documentElement;
  addEventListener("error", (event) => { root.dataset.error = event.message; });
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("controls");
  const field = form.elements;
  const cards = document.getElementById("cards");
  const more = document.getElementById("more");
  const STEP = 20;
  const TEXT = 0, SOLVER = 1, BUDGET = 2, OUTCOME = 3, SAID = 4, BEFORE = 5, AFTER = 6, SCORE = 7, NEW_SCORE = 8,
    CHANGED = 9, MARKS = 10, OTHER = 11;
  let chosen = [];
  let shown = 0;

  function fill(name, keys, texts, all, first) {
    const select = field[name];
    if (keys.length > 1) select.append(new Option(all, "all"));
    keys.forEach((key, place) => select.append(new Option(texts[place], key)));
    select.value = first === undefined ? (keys.length > 1 ? "all" : keys[0]) : keys[first];
  }
  fill("solver", data.solvers, data.solvers, "all solvers", data.chosen[0]);
  fill("budget", data.budgetKeys, data.short, "all budgets", data.chosen[1]);
  fill("outcome", data.keys, data.outcomes, "all outcomes");
  fill("class", data.labels, data.labels, "all classes");
  const usual = new Map([...form.querySelectorAll("select, input")].map((one) => [one.name, one.value]));

  function fromHash() {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return false;
    const given = new URLSearchParams(hash);
    if (["light", "dark"].includes(given.get("theme"))) root.dataset.theme = given.get("theme");
    usual.forEach((value, name) => {
      const wanted = given.has(name) ? given.get(name) : value;
      const known = field[name].type === "search" || [...field[name].options].some((one) => one.value === wanted);
      field[name].value = known ? wanted : value;
    });
    return true;
  }
  function toHash() {
    const now = new URLSearchParams();
    usual.forEach((value, name) => { if (field[name].value !== value) now.set(name, field[name].value); });
    if (root.dataset.theme) now.set("theme", root.dataset.theme);
    try { history.replaceState(null, "", now.size || String(now) ? "#" + now : "#texts"); } catch (refused) { /* some hosts forbid it */ }
  }

  const fold = (text) => text.toLowerCase();
  const places = (value) => value === null ? "–" : value.toFixed(2).replace("-", "−");
  const last = (value, sign) => value === null ? Infinity : sign * value;
  const orders = {
    flipped: (a, b) => a[OUTCOME] - b[OUTCOME],
    order: () => 0,
    fewest: (a, b) => a[CHANGED] - b[CHANGED],
    most: (a, b) => b[CHANGED] - a[CHANGED],
    high: (a, b) => last(a[NEW_SCORE], -1) - last(b[NEW_SCORE], -1) || 0,
    low: (a, b) => last(a[NEW_SCORE], 1) - last(b[NEW_SCORE], 1) || 0,
    short: (a, b) => data.texts[a[TEXT]][3] - data.texts[b[TEXT]][3],
    long: (a, b) => data.texts[b[TEXT]][3] - data.texts[a[TEXT]][3],
  };
  const inOrder = (a, b) => a[TEXT] - b[TEXT] || a[BUDGET] - b[BUDGET] || a[SOLVER] - b[SOLVER];
  const folded = data.texts.map((text) => fold(text[1]));

  function select() {
    const is = (name, value) => field[name].value === "all" || field[name].value === value;
    const wanted = fold(field.search.value.trim());
    const has = (row) => !wanted || folded[row[TEXT]].includes(wanted) ||
      row[MARKS].some((mark) => fold(mark[2]).includes(wanted)) || (row[OTHER] !== null && fold(row[OTHER]).includes(wanted));
    const order = orders[field.sort.value];
    chosen = data.rows.filter((row) => is("solver", data.solvers[row[SOLVER]]) && is("budget", data.budgetKeys[row[BUDGET]]) &&
      is("outcome", data.keys[row[OUTCOME]]) && is("class", data.texts[row[TEXT]][2]) && has(row));
    chosen.sort((a, b) => order(a, b) || inOrder(a, b));
    cards.replaceChildren();
    shown = 0;
    const kinds = data.outcomes.map((name, number) => [chosen.filter((row) => row[OUTCOME] === number).length, name])
      .filter(([count]) => count).map(([count, name]) => `${count} ${name}`).join(", ");
    const sorted = field.sort.selectedOptions[0].textContent;
    field.count.textContent = `${chosen.length} of ${data.rows.length} records` + (kinds && `: ${kinds}; ${sorted}`);
    root.dataset.count = chosen.length;
    grow();
  }
  function grow() {
    const next = chosen.slice(shown, shown + STEP);
    cards.append(...next.map(card));
    shown += next.length;
    more.hidden = shown >= chosen.length;
  }

  function make(tag, kind, ...content) {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.append(...content);
    return made;
  }
  function side(name, pieces) {
    const text = make("p", "text", ...pieces);
    text.dir = "auto";
    return make("div", "", make("h3", "", name), text);
  }
  function card(row) {
    const [id, text, label] = data.texts[row[TEXT]];
    const before = [], after = [];
    let at = 0;
    for (const [start, end, word] of row[MARKS]) {
      const gap = text.slice(at, start);
      before.push(gap, make("del", "", text.slice(start, end)));
      after.push(gap, make("ins", "", word));
      at = end;
    }
    before.push(text.slice(at));
    after.push(text.slice(at));
    const sides = [side("original", before)];
    if (row[OTHER] !== null) sides.push(side("adversarial", [row[OTHER]]));
    else if (row[CHANGED]) sides.push(side("adversarial", after));
    const facts = `text ${id} · ${data.solvers[row[SOLVER]]} · at most ${data.budgets[row[BUDGET]]} · label ${label}`;
    const flow = `${row[BEFORE]} → ${row[AFTER]} · score ${places(row[SCORE])} → ${places(row[NEW_SCORE])}`;
    return make("article", "card " + data.keys[row[OUTCOME]],
      make("header", "", make("p", "facts", facts), make("p", "flow", flow)),
      make("p", "verdict", row[SAID]), make("div", "sides", ...sides));
  }

  // How much wider the page is than the window: nothing, or something is wrong.
  const measure = () => { root.dataset.overflow = root.scrollWidth - root.clientWidth; };
  fromHash();
  form.hidden = false;
  select();
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { toHash(); select(); });
  addEventListener("hashchange", () => { if (fromHash()) select(); });
  addEventListener("resize", measure);
  more.addEventListener("click", grow);
  // The button does it for everyone; the observer spares most readers the click.
  if ("IntersectionObserver" in window) {
    new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting) && !more.hidden) grow(); },
      { rootMargin: "1200px" }).observe(more);
  }
  measure();
  root.dataset.ready = "yes";
})();
