"use strict";
// Meanings appear beside their terms. Without this they appear at the bottom of the window, which the style sees to.
(function () {
  const root = document.documentElement;
  const WIDTH = 320, MARGIN = 12;
  function place(term) {
    const box = term.getBoundingClientRect();
    const wide = Math.min(WIDTH, root.clientWidth - 2 * MARGIN);
    const left = Math.max(MARGIN, Math.min(box.left, root.clientWidth - wide - MARGIN));
    // Above the term in the lower half of the window, so that nothing is cut off.
    const above = box.top > innerHeight / 2;
    term.classList.toggle("above", above);
    term.style.setProperty("--wide", wide + "px");
    term.style.setProperty("--left", left + "px");
    term.style.setProperty("--gap", (above ? innerHeight - box.top + 6 : box.bottom + 6) + "px");
    term.classList.add("placed");
    term.classList.remove("dismissed");
  }
  const of = (event) => event.target instanceof Element ? event.target.closest(".term") : null;
  for (const kind of ["pointerover", "focusin"]) {
    addEventListener(kind, (event) => { const term = of(event); if (term) place(term); });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelectorAll(".term.placed").forEach((term) => term.classList.add("dismissed"));
  });
  addEventListener("scroll", () => {
    document.querySelectorAll(".term:hover, .term:focus-visible").forEach(place);
  }, { passive: true });
})();
