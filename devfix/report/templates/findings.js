"use strict";
// Shows and hides findings; adds no content to the page.
(() => {
const FORM = document.getElementById("filters");
if (!FORM) return;
const COUNT = document.getElementById("count");
const FOLD = document.getElementById("fold");
const cards = [...document.querySelectorAll("details.card")];
const texts = cards.map((card) => card.textContent.toLowerCase());

const filter = () => {
  const { rule, severity, text } = FORM.elements;
  const words = text.value.toLowerCase().split(/\s+/).filter((word) => word);
  let shown = 0;
  cards.forEach((card, at) => {
    const fits = (!rule.value || card.dataset.rule === rule.value)
      && (!severity.value || card.dataset.severity === severity.value)
      && words.every((word) => texts[at].includes(word));
    card.hidden = !fits;
    shown += fits;
  });
  COUNT.value = `${shown} of ${cards.length} shown`;
};
const name = () => {
  FOLD.textContent = cards.every((card) => card.open || card.hidden) ? "Close all" : "Open all";
};

FORM.addEventListener("input", filter);
FORM.addEventListener("submit", (event) => event.preventDefault());
FORM.addEventListener("reset", () => setTimeout(filter));
FOLD.addEventListener("click", () => {
  const open = FOLD.textContent === "Open all";
  for (const card of cards) if (!card.hidden) card.open = open;
  name();
});
document.addEventListener("toggle", name, true);
name();
filter();  // browsers restore the filters of a reloaded page
})();
