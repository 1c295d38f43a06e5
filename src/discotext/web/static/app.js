// The page of `discotext serve`: a text, its prediction, its words and their candidates, and attacks on it.

import { countQueries, drawBars, drawCurve, element, find, percent, plural, seconds, show, WordsView } from "./draw.js";
import { ask, listen } from "./net.js";

const state = {
  about: null,
  look: null, // of the text as it is now; null while that is not known
  words: null, // the budget, once the slider was moved
  past: new Map(), // words before they were changed by hand, by number
  before: [], // texts before changes by hand, to undo them
  running: null, // the AbortController of an attack
  changed: null, // the text that an attack has found
  changes: [], // and its changes
  refocus: null, // the word to focus once the text is drawn again, by number
};
const words = new WordsView(find("words"), openCandidates);

// ---- the text, and what the victim says of it

let looking = false;
let timer = 0;
let pause = 0; // milliseconds to wait after a keystroke: as long as the victim takes, so that a slow one is not flooded

function edited() {
  stop();
  clearResult();
  closeCandidates(false);
  state.look = null;
  state.refocus = null;
  document.body.classList.add("stale");
  offer();
  rememberSoon();
  clearTimeout(timer);
  timer = setTimeout(look, pause);
}

async function look() {
  if (looking) return; // the text is looked at again as soon as this is answered
  const text = find("text").value;
  if (!text.trim()) {
    complain("");
    showNothing();
    return;
  }
  looking = true;
  const began = performance.now();
  try {
    const found = await ask("api/look", { text });
    pause = Math.min(Math.max(1000 * found.victim_seconds, 0), 400);
    if (text === find("text").value) {
      showLook(found);
      document.documentElement.dataset.answered = Math.round(performance.now() - began);
    }
  } catch (error) {
    if (text === find("text").value) {
      complain(error.message);
      showNothing();
    }
  } finally {
    looking = false;
    if (text !== find("text").value) look();
  }
}

function showLook(found) {
  state.look = found;
  document.body.classList.remove("stale");
  complain("");
  find("prediction").textContent = `Prediction: ${found.labels[found.predicted]}`;
  const hidden = drawBars(find("bars"), found);
  const notes = [];
  if (hidden) notes.push(`${plural(hidden, "more class", "more classes")}.`);
  if (found.softmax) notes.push("Numbers are the victim's scores; bars are their softmax.");
  if (found.truncated) notes.push("The victim reads only the beginning of this text.");
  find("bars-note").textContent = notes.join(" ");
  const able = countAble();
  find("count").textContent = `${plural(found.words.length, "word")}, of which ${able.toLocaleString("en")} may change.`;
  words.draw(found);
  words.mark([], state.past);
  show("words-section", found.words.length > 0);
  find("words-hint").textContent = able
    ? "Underlined words have candidates: choose one to see them. Arrow keys go from word to word."
    : "None of these words has a candidate.";
  showTargets(found.labels);
  showBudget();
  offer();
  if (state.refocus !== null) (words.buttons.get(state.refocus) ?? find("text")).focus();
  state.refocus = null;
}

function showNothing() {
  state.look = null;
  document.body.classList.remove("stale");
  find("prediction").textContent = "Prediction";
  find("bars").replaceChildren();
  find("bars-note").textContent = "The classes and their scores appear as you type.";
  find("count").textContent = "Nothing is sent anywhere but to the victim.";
  show("words-section", false);
  showBudget();
  offer();
}

function complain(sentence) {
  find("problem").textContent = sentence;
  show("problem", Boolean(sentence));
}

// ---- budget, solver, target

// How many words have candidates: no budget can change more.
const countAble = () => (state.look ? state.look.words.filter((one) => one.candidates.length).length : 0);

function budget() {
  return Math.min(state.words ?? state.look?.allowed ?? 0, countAble());
}

function showBudget() {
  const slider = find("budget");
  const all = state.look ? state.look.words.length : 0;
  const able = countAble();
  const chosen = budget();
  slider.disabled = !able;
  slider.max = Math.max(able, 1);
  slider.value = chosen;
  const text = able ? `${chosen.toLocaleString("en")} of ${able.toLocaleString("en")}` : "–";
  find("budget-text").textContent = text;
  slider.setAttribute("aria-valuetext", able ? `${text} words with candidates` : "no word can change");
  const notes = [];
  if (able) {
    notes.push(`${percent(chosen / all)} of the text.`);
    if (able < all) notes.push(`Only ${able.toLocaleString("en")} of its ${all.toLocaleString("en")} words ${able === 1 ? "has" : "have"} candidates.`);
    const usual = state.look.allowed;
    if (state.words === null && usual > able) notes.push(`The default, 20 %, would be ${plural(usual, "word")}.`);
  } else if (all) notes.push("No word has a candidate, so none can change.");
  find("budget-note").textContent = notes.join(" ");
}

let wantedTarget = "";

function showTargets(labels) {
  const select = find("target");
  show("target-field", labels.length > 2);
  if (select.options.length === labels.length + 1) return;
  const options = labels.map((name, number) => element("option", { value: number, text: name }));
  select.replaceChildren(select.options[0], ...options);
  select.value = wantedTarget;
  if (select.selectedIndex < 0) select.value = "";
}

function offer() {
  const ready = Boolean(state.look) && Boolean(state.about);
  for (const id of ["attack", "prove", "compare"]) find(id).disabled = !ready;
  if (state.about) limitCompared(state.about.most_solvers);
  if (!state.running && document.activeElement === find("stop")) find("attack").focus();
  show("stop", Boolean(state.running));
}

// Two solvers at least, and no more than the server takes: what cannot be ticked or clicked says why.
function limitCompared(most) {
  const chosen = compared().length;
  const full = chosen >= most;
  const few = chosen < 2;
  for (const box of find("compared").querySelectorAll("input")) {
    box.disabled = full && !box.checked;
    if (box.disabled) box.setAttribute("aria-describedby", "compared-note");
    else box.removeAttribute("aria-describedby");
  }
  tell("compared-note", full ? `${most} solvers are chosen, the most that can be compared; untick one to choose another.` : "");
  if (few) find("compare").disabled = true;
  tell("compare-note", few ? `To compare, choose 2 to ${most} solvers under Options; ${chosen ? "only 1 is" : "none is"} chosen.` : "");
}

// Only what is new: a status that is written again would be read aloud again.
function tell(id, sentence) {
  if (find(id).textContent !== sentence) find(id).textContent = sentence;
}

const compared = () => [...find("compared").querySelectorAll("input:checked")].map((box) => box.value);

// ---- candidates of a word

let opened = null;

function openCandidates(position, button) {
  if (opened === button) {
    closeCandidates(true);
    return;
  }
  if (!state.look) return; // these words are of a text that has been edited since
  closeCandidates(false);
  opened = button;
  button.setAttribute("aria-expanded", "true");
  const one = state.look.words[position];
  find("candidates-title").textContent = `Candidates for “${one.word}”`;
  find("candidate-list").replaceChildren(
    ...one.candidates.map((candidate) => {
      const chance = element("span", { text: candidate.accept === null ? "" : percent(candidate.accept) });
      const made = element("button", { type: "button" }, candidate.word, chance);
      made.addEventListener("click", () => tryByHand(position, candidate.word));
      return element("li", {}, made);
    }),
  );
  const reasons = new Map();
  for (const refused of one.refused) {
    reasons.set(refused.filter, [...(reasons.get(refused.filter) ?? []), refused.word]);
  }
  const parts = [...reasons].map(([name, list]) => `${name}: ${list.join(", ")}`);
  if (one.more_refused) parts.push(`${one.more_refused} more`);
  find("refused").textContent = parts.length ? `Refused by filters – ${parts.join("; ")}.` : "";
  show("candidates");
  find("candidate-list").querySelector("button").focus();
}

function closeCandidates(focus) {
  if (!opened) return;
  opened.setAttribute("aria-expanded", "false");
  if (focus) opened.focus();
  opened = null;
  show("candidates", false);
}

function tryByHand(position, word) {
  const shown = state.look;
  const old = state.past.get(position) ?? shown.words[position].word;
  const text = shown.words.map((one, number) => one.before + (number === position ? word : one.word)).join("") + shown.rest;
  state.before.push([find("text").value, new Map(state.past)]);
  closeCandidates(false);
  find("text").value = text;
  edited();
  if (word === old) state.past.delete(position);
  else state.past.set(position, old);
  showByHand();
  state.refocus = position;
}

function undo() {
  const [text, past] = state.before.pop();
  state.past = past;
  find("text").value = text;
  edited();
  showByHand();
  if (!state.before.length) find("text").focus();
}

function showByHand() {
  show("by-hand", state.before.length > 0);
  const all = words.look?.words ?? [];
  find("by-hand-text").textContent = state.past.size
    ? `Changed by hand: ${plural(state.past.size, "word")}${all.length ? ` (${percent(state.past.size / all.length)})` : ""}.`
    : "";
}

// ---- attacks

async function run(request, hear) {
  stop();
  clearResult();
  closeCandidates(false);
  const mine = new AbortController();
  state.running = mine;
  offer();
  show("result");
  say("Running …", "");
  try {
    const target = find("target").value;
    await listen(
      "api/attack",
      { text: find("text").value, words: budget(), target: target === "" ? null : Number(target), ...request },
      mine.signal,
      (event, content) => { if (state.running === mine) hear(event, content); },
    );
  } catch (error) {
    if (state.running !== mine) return;
    if (error.name === "AbortError") say("Stopped.", "");
    else say(error.message, "failed");
  } finally {
    if (state.running === mine) {
      state.running = null;
      offer();
    }
  }
}

function stop() {
  if (!state.running) return;
  state.running.abort();
  state.running = null;
  for (const row of find("rows").querySelectorAll("[data-running]")) row.textContent = "stopped";
  offer();
}

function stopByHand() {
  if (!state.running) return;
  stop();
  say("Stopped.", "");
}

function say(sentence, kind) {
  find("sentence").textContent = sentence;
  find("sentence").className = `sentence ${kind}`;
}

function clearResult() {
  for (const id of ["result", "curve", "after", "keep", "table-wrap"]) show(id, false);
  find("progress").textContent = "";
  find("rows").replaceChildren();
  state.changed = null;
  if (words.look) words.mark([], state.past);
}

function attack(passes) {
  const points = [];
  const began = performance.now();
  delete document.documentElement.dataset.first;
  return run({ solvers: [find("solver").value], passes: passes ?? null }, (event, content) => {
    if (event === "step") {
      if (!points.length || content.margin !== points.at(-1)[1]) points.push([content.queries, content.margin]);
      words.mark(content.changes, state.past);
      show("curve");
      drawCurve(find("plot"), points, content.queries);
      const parts = [countQueries(content.queries), seconds(content.seconds), `${plural(content.changes.length, "word")} changed`];
      find("progress").textContent = parts.join(", ");
      if (content.changes.length && !document.documentElement.dataset.first) {
        document.documentElement.dataset.first = Math.round(performance.now() - began);
      }
    }
    if (event === "outcome") showOutcome(content, points);
  });
}

function showOutcome(found, points) {
  const held = !found.flipped && found.status !== "failed";
  const kind = found.flipped ? "flipped" : held ? "held" : "failed";
  const proved = found.untested ? "" : { robust: "held", broken: "flipped", open: "" }[found.verdict];
  say(found.proof ?? found.sentence, found.proof ? proved ?? "" : kind === "held" && found.status !== "impossible" ? "" : kind);
  words.mark(found.changes, state.past);
  const last = found.margins[1];
  if (points.length && last !== null) {
    if (last !== points.at(-1)[1]) points.push([found.queries, last]);
    drawCurve(find("plot"), points, found.queries);
  }
  const spent = [countQueries(found.queries)];
  if (found.gradients) spent.push(plural(found.gradients, "gradient"));
  if (found.bounds) spent.push(plural(found.bounds, "bound"));
  // The limit of a proof is a number of passes, so what was spent is told in passes, too.
  const parts = found.proof
    ? [`Attack and proof took ${plural(found.passes, "pass", "passes")} (${spent.join(", ")})`]
    : spent;
  if (found.learning_queries) parts.push(`${countQueries(found.learning_queries)} to learn a surrogate`);
  parts.push(seconds(found.seconds), `solver ${found.ran}`);
  find("progress").textContent = `${parts.join(", ")}.`;
  if (found.after && found.changes.length) {
    drawBars(find("after-bars"), found.after);
    show("after");
  }
  state.changed = found.text;
  state.changes = found.changes;
  find("back").setAttribute("aria-pressed", "false");
  show("keep", found.changes.length > 0);
}

function compare() {
  const rows = new Map();
  let flipped = 0;
  let done = 0;
  return run({ solvers: compared() }, (event, content) => {
    if (event === "begin") {
      show("table-wrap");
      const cells = [0, 1, 2, 3].map(() => element("td"));
      cells[0].textContent = "running …";
      cells[0].dataset.running = "";
      const row = element("tr", {}, element("th", { scope: "row", text: content.solver }), ...cells);
      rows.set(content.solver, { row, cells });
      find("rows").append(row);
      return;
    }
    const { row, cells } = rows.get(content.solver);
    const add = (text) => {
      row.className = "has-swaps";
      row.after(element("tr", {}, element("td", { class: "swaps", colspan: "5", text })));
    };
    if (event === "refusal") {
      delete cells[0].dataset.running;
      cells[0].textContent = "refused";
      add(content.message);
      return;
    }
    cells[1].textContent = content.changes.length;
    cells[2].textContent = content.queries.toLocaleString("en");
    cells[3].textContent = seconds(content.seconds);
    words.mark(content.changes, state.past);
    if (event !== "outcome") return;
    delete cells[0].dataset.running;
    cells[0].textContent = content.status === "failed" ? "failed" : content.flipped ? "⇄ yes" : "no";
    if (content.changes.length) add(content.changes.map((one) => `${one.old} → ${one.new}`).join(", "));
    else if (content.status === "failed") add(content.sentence);
    flipped += content.flipped;
    done += 1;
    say(`${flipped} of ${plural(done, "solver")} flipped the label.`, "");
  });
}

// ---- the link that brings this state back

let remembering = 0;

// Now and then while a text is typed: browsers refuse a change of address at every keystroke.
function rememberSoon() {
  clearTimeout(remembering);
  remembering = setTimeout(remember, 250);
}

function remember() {
  clearTimeout(remembering);
  const kept = new URLSearchParams();
  const text = find("text").value;
  if (text) kept.set("text", text);
  if (state.words !== null) kept.set("words", state.words);
  if (find("solver").value && find("solver").value !== "auto") kept.set("solver", find("solver").value);
  if (find("target").value) kept.set("target", find("target").value);
  const fragment = kept.toString();
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname);
}

function recall() {
  clearTimeout(remembering);
  const kept = new URLSearchParams(location.hash.slice(1));
  const count = Number.parseInt(kept.get("words") ?? "", 10);
  state.words = Number.isInteger(count) && count >= 0 ? count : null;
  const solver = kept.get("solver") ?? "auto";
  find("solver").value = solver;
  if (find("solver").selectedIndex < 0) find("solver").value = "auto";
  wantedTarget = kept.get("target") ?? "";
  find("target").value = wantedTarget;
  if (find("target").selectedIndex < 0) find("target").value = "";
  state.past.clear();
  state.before = [];
  showByHand();
  stop();
  clearResult();
  find("text").value = kept.get("text") ?? "";
  state.look = null;
  look();
}

async function copyLink() {
  remember();
  let copied = true;
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {
    copied = false;
  }
  find("copy").textContent = copied ? "Link copied" : "Copy it from the address bar";
  setTimeout(() => { find("copy").textContent = "Copy link"; }, 2000);
}

// ---- the beginning

function listenToUser() {
  find("text").addEventListener("input", () => {
    state.past.clear();
    state.before = [];
    showByHand();
    edited();
  });
  find("budget").addEventListener("input", () => {
    state.words = Number(find("budget").value);
    showBudget();
    rememberSoon();
  });
  for (const id of ["solver", "target"]) find(id).addEventListener("change", remember);
  find("attack").addEventListener("click", () => attack());
  find("prove").addEventListener("click", () => attack(Number(find("passes").value)));
  find("compare").addEventListener("click", () => compare());
  find("stop").addEventListener("click", stopByHand);
  find("close").addEventListener("click", () => closeCandidates(true));
  find("undo").addEventListener("click", undo);
  find("copy").addEventListener("click", copyLink);
  find("compared").addEventListener("change", offer);
  find("use").addEventListener("click", () => {
    find("text").value = state.changed;
    state.past.clear();
    state.before = [];
    showByHand();
    edited();
    find("text").focus();
  });
  find("back").addEventListener("click", () => {
    const original = find("back").getAttribute("aria-pressed") !== "true";
    find("back").setAttribute("aria-pressed", original);
    words.mark(original ? [] : state.changes, state.past);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (opened) closeCandidates(true);
      else stopByHand();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !find("attack").disabled) attack();
  });
  addEventListener("hashchange", recall);
}

async function begin() {
  listenToUser();
  try {
    state.about = await ask("api/about");
  } catch (error) {
    complain(error.message);
    return;
  }
  const { victim, bounds, solvers, compared: chosen } = state.about;
  find("victim").textContent = victim;
  find("bounds").textContent = `How it is proved: ${bounds}.`;
  document.title = `${victim} – discotext`;
  find("solver").replaceChildren(...solvers.map((name) => element("option", { value: name, text: name })));
  find("compared").replaceChildren(
    ...solvers.slice(1).map((name) => {
      const box = element("input", { type: "checkbox", value: name });
      box.checked = chosen.includes(name);
      return element("label", {}, box, name);
    }),
  );
  recall();
  find("text").focus();
  document.documentElement.dataset.ready = "yes";
}

begin();
