// Shows and hides findings; adds no content to the page.
(() => {
const FORM = document.getElementById("filters");
if (!FORM) return;
const COUNT = document.getElementById("count"), FOLD = document.getElementById("fold"), NONE = document.getElementById("none");
const groups = [...document.querySelectorAll("section.source")];
const cards = [...document.querySelectorAll("details.finding")];
const texts = cards.map((card) => card.textContent.toLowerCase());

devfix.filters(FORM, () => {
  const { rule, file, severity, text } = FORM.elements;
  const words = text.value.toLowerCase().split(/\s+/).filter((word) => word);
  let shown = 0;
  cards.forEach((card, at) => {
    const fits = (!rule.value || card.dataset.rule === rule.value)
      && (!file.value || card.dataset.file === file.value)
      && (!severity.value || card.dataset.severity === severity.value)
      && words.every((word) => texts[at].includes(word));
    card.hidden = !fits;
    shown += fits;
  });
  for (const group of groups) group.hidden = !group.querySelector("details.finding:not([hidden])");
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.setAttribute("aria-pressed", String(FORM.elements[button.dataset.filter].value === button.value));
  }
  NONE.hidden = shown > 0;
  COUNT.value = `${shown} of ${cards.length} shown`;
});

const name = () => {
  FOLD.textContent = cards.every((card) => card.open || card.hidden) ? "Close all" : "Open all";
};
FOLD.addEventListener("click", () => {
  const open = FOLD.textContent === "Open all";
  for (const card of cards) if (!card.hidden) card.open = open;
  name();
});
document.addEventListener("toggle", name, true);
name();
})();
