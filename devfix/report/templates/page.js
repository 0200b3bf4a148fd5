"use strict";
// What all pages share: theme, copying, keys, folding, and filters whose state is in the address.
const devfix = (() => {
const ROOT = document.documentElement;
ROOT.dataset.scripted = "";

// ---- theme

const THEMES = { auto: "like the system", light: "light", dark: "dark" };
const themeButton = document.getElementById("theme");
const stored = () => { try { return localStorage.getItem("devfix-theme"); } catch { return null; } };
const setTheme = (name) => {
  if (name === "auto") delete ROOT.dataset.theme; else ROOT.dataset.theme = name;
  themeButton.lastElementChild.textContent = name;
  themeButton.setAttribute("aria-label", `Theme: ${THEMES[name]}`);
  try { localStorage.setItem("devfix-theme", name); } catch { /* the page is shown without storage */ }
};
const nextTheme = () => {
  const names = Object.keys(THEMES);
  setTheme(names[(names.indexOf(ROOT.dataset.theme || "auto") + 1) % names.length]);
};
themeButton.addEventListener("click", nextTheme);
if (stored() in THEMES) setTheme(stored());

// ---- copying

const say = (button, done) => {
  button.dataset.done = "";
  setTimeout(() => delete button.dataset.done, 1500);
  if (!done) delete button.dataset.done;
};
const copyText = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea"); // pages of file: addresses may have no clipboard
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
};
const patchText = (link) => {
  const bytes = Uint8Array.from(atob(link.href.split(",")[1]), (letter) => letter.charCodeAt(0));
  return new TextDecoder().decode(bytes);
};
document.addEventListener("click", async ({ target }) => {
  const button = target.closest && target.closest("[data-copy], [data-copy-patch]");
  if (!button) return;
  const { copy, copyPatch } = button.dataset;
  const text = copy ? document.getElementById(copy).textContent : patchText(document.getElementById(copyPatch));
  say(button, await copyText(text));
});

// ---- folding and printing

const folds = () => [...document.querySelectorAll("main details")].filter((one) => one.checkVisibility());
const foldAll = (open) => folds().forEach((one) => { one.open = open; });
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("main details:not([open])")];
  opened.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
const reveal = (node) => {
  for (let one = node; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
};

// ---- keys

const dialog = document.getElementById("keys");
const actions = new Map();
const onKey = (key, action) => actions.set(key, action);
const sections = () => [...document.querySelectorAll("main [data-section]")].filter((one) => one.checkVisibility());
const step = (by) => {
  const all = sections(), edge = 6 * parseFloat(getComputedStyle(ROOT).fontSize);
  const focused = all.findIndex((one) => one.contains(document.activeElement));
  const now = focused >= 0 ? focused : all.findLastIndex((one) => one.getBoundingClientRect().top < edge);
  const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
  if (!next) return;
  next.scrollIntoView();
  const target = next.querySelector("summary, button, a") || next;
  target.focus({ preventScroll: true });
};
onKey("j", () => step(1));
onKey("k", () => step(-1));
onKey("o", () => foldAll(true));
onKey("c", () => foldAll(false));
onKey("t", nextTheme);
onKey("?", () => (dialog.open ? dialog.close() : dialog.showModal()));
document.getElementById("keys-button").addEventListener("click", () => dialog.showModal());
dialog.querySelector("button").addEventListener("click", () => dialog.close());
document.addEventListener("keydown", (pressed) => {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.defaultPrevented) return;
  if (pressed.target.matches("input, select, textarea") || (dialog.open && pressed.key !== "?")) return;
  const action = actions.get(pressed.key);
  if (!action) return;
  pressed.preventDefault();
  action();
});

// ---- filters

// The state of a form is in the address: #rule=DEV101&severity=error. Other fragments name elements.
const fragment = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };
const isState = (text) => /^[a-z]+=/.test(text);
const readState = (form) => {
  if (!isState(location.hash.slice(1))) return false;
  const state = new URLSearchParams(location.hash.slice(1));
  for (const control of form.elements) {
    if (!control.name) continue;
    const given = state.getAll(control.name);
    if (control.type === "checkbox") control.checked = !state.has(control.name) || given.includes(control.value);
    else control.value = given[0] || "";
    if (control.value === "" && control.tagName === "SELECT") control.selectedIndex = 0;
  }
  return true;
};
const writeState = (form) => {
  const state = new URLSearchParams(), boxes = [...form.elements].filter((one) => one.type === "checkbox");
  const partly = boxes.some((one) => !one.checked);
  for (const control of form.elements) {
    if (!control.name || control.name === "order") continue;
    if (control.type === "checkbox" ? partly && control.checked : control.value) state.append(control.name, control.value);
  }
  const text = state.toString();
  if (text || isState(location.hash.slice(1))) history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
};
// Apply a form now and after each change; ``apply`` shows and hides.
const filters = (form, apply) => {
  const changed = () => { writeState(form); apply(); };
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(changed));
  addEventListener("hashchange", () => { if (readState(form)) apply(); });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest && target.closest("[data-filter]");
    if (!button) return;
    const control = form.elements[button.dataset.filter];
    control.value = control.value === button.value ? "" : button.value;
    changed();
    form.scrollIntoView();
  });
  const text = form.elements.text;
  if (text) onKey("/", () => text.focus());
  readState(form);
  apply();
};

const openTarget = () => {
  const name = fragment(), target = name && !isState(name) && document.getElementById(name);
  if (!target) return;
  reveal(target);
  target.scrollIntoView();
};
addEventListener("hashchange", openTarget);
addEventListener("DOMContentLoaded", openTarget);

return { filters, onKey, readState, writeState };
})();
