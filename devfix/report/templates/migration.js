// Inserts all content as text (append, textContent), never as markup.
(() => {
const [NAME, OUTCOME, FINDINGS, REMAINING, RULES, SEVERITY, VERDICT, SECONDS, PAIRS, REASON, PLACE] = Array(11).keys();
const BLOCK = 100, ROWS = 200; // as in page.py
const PAGE = document.getElementById("repositories");
const BODY = PAGE.tBodies[0];
const FORM = document.getElementById("filters");
const PAGES = document.getElementById("pages");
const HEADS = [...PAGE.tHead.rows[0].cells];
const LABELS = JSON.parse(document.getElementById("labels").textContent);
const COLLATOR = new Intl.Collator("en", { numeric: true });
const byRow = new Map();
let repositories = []; // all, in the order of the page
let order = []; // all, sorted
let matching = []; // those that pass the filters
let first = 0; // of the rows on this page

const unpack = async (source) => {
  const bytes = Uint8Array.from(atob(source.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};
const SOURCES = [...document.querySelectorAll("script.block")];
const blocks = new Map(); // number → promise; the few that were used last
const block = (number) => {
  const found = blocks.get(number) ?? unpack(SOURCES[number]);
  blocks.delete(number);
  blocks.set(number, found);
  if (blocks.size > 20) blocks.delete(blocks.keys().next().value);
  return found;
};

const element = (tag, classes, ...children) => {
  const node = document.createElement(tag);
  if (classes) node.className = classes;
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
};
const svgElement = (tag, attributes, text = "") => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
};
const section = (title, ...children) => [element("h2", "", title), ...children];
const foldable = (title, open, ...children) => {
  const node = element("details", "", element("summary", "", title), ...children);
  node.open = open;
  return node;
};
const scrollable = (node, label) => {
  node.tabIndex = 0;
  node.setAttribute("role", "region");
  node.setAttribute("aria-label", label);
  return node;
};

// ---- the details of one repository

const properties = (found) => {
  const list = element("dl", "facts");
  for (const [name, text] of found.facts) {
    let value = text;
    if (name === "repository" && found.web) {
      value = element("a", "", text);
      value.href = found.web;
      value.rel = "noopener noreferrer";
    }
    list.append(element("dt", "", name), element("dd", "", value));
  }
  return list;
};

const reasonBox = ([title, text]) => {
  const node = element("p", "sentence not-fixed", element("span", "", element("b", "", title + ": "), text));
  return node;
};

const event = ([kind, where, source, note]) =>
  element("li", "", element("b", "", kind), " ", where, "  ", element("code", "", source), note ? element("span", "soft", " " + note) : "");

const finding = (found, open) => {
  const node = element("div", "finding",
    element("p", "", element("b", "", found.code), " ", found.name, " ",
      element("span", "tag " + found.severity, found.severity), " ", element("span", "tag " + found.status, found.status)),
    element("p", "", found.message),
    element("p", "soft", element("code", "", found.where), found.fix ? ": " + found.fix : ""));
  if (found.reason) node.append(element("p", "", element("b", "", "Not fixed: "), found.reason));
  for (const note of found.notes) node.append(element("p", "soft", note));
  if (found.events.length) {
    const path = element("ol", "path", ...found.events.map(event));
    node.append(open ? path : foldable(`path of ${found.events.length} events`, false, path));
  }
  return node;
};

const diffLine = ([mark, ...pieces], numbers) => {
  const code = element("code", "");
  for (let at = 0; at < pieces.length; at += 2) {
    code.append(pieces[at] ? element("span", pieces[at], pieces[at + 1]) : pieces[at + 1]);
  }
  const line = element("div", "line " + ({ "+": "added", "-": "removed", "\\": "note" }[mark] || ""));
  for (const [side, marks] of ["- ", "+ "].entries()) {
    const number = element("span", "no");
    number.dataset.no = marks.includes(mark) ? numbers[side]++ : "";
    line.append(number);
  }
  line.append(element("span", "mark", mark), code);
  return line;
};

const diffFile = (file) => {
  const code = element("div", "code");
  const heading = (text) => element("div", "line hunk", element("span", "no"), element("span", "no"), element("span", "mark"), element("code", "", text));
  code.append(...file.remarks.map(heading));
  for (const [old, fresh, about, lines] of file.hunks) {
    const numbers = [old, fresh];
    code.append(heading(`@@ line ${fresh} ${about}`), ...lines.map((line) => diffLine(line, numbers)));
  }
  const title = element("span", "", element("span", "path", file.path), " ", element("span", "count added", `+${file.added}`), " ", element("span", "count removed", `−${file.removed}`));
  const node = foldable(title, true, code);
  node.className = "diff file";
  return node;
};

const runs = (rows) => {
  const titles = ["run", "outcome", "steps", "first loss", "last loss", "largest difference"];
  const head = element("tr", "", ...titles.map((title, at) => {
    const cell = element("th", at > 1 ? "number" : "", title);
    cell.scope = "col";
    return cell;
  }));
  const body = rows.map((row) => element("tr", "", ...row.map((text, at) => {
    const cell = element(at ? "td" : "th", at > 1 ? "number" : "", text);
    if (!at) cell.scope = "row";
    if (at) cell.dataset.name = titles[at];
    return cell;
  })));
  const table = element("table", "stack", element("thead", "", head), element("tbody", "", ...body));
  return table;
};

const drawChart = (chart) => {
  const [width, height] = chart.size, [left, right] = chart.edges, [loss, difference] = chart.panels, bottom = difference[1];
  const label = `Losses of ${chart.names.join(" and ")} by backward pass, and their difference: ${chart.summary}`;
  const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const [, , levels] of chart.panels) {
    for (const [y, text] of levels) {
      svg.append(svgElement("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }));
      svg.append(svgElement("text", { class: "level", x: left - 8, y: y + 4, "text-anchor": "end" }, text));
    }
  }
  svg.append(svgElement("text", { class: "name", x: right, y: loss[0] + 14, "text-anchor": "end" }, "loss"));
  svg.append(svgElement("text", { class: "name", x: right, y: difference[0] - 8, "text-anchor": "end" }, "patched − reference"));
  chart.numbers.forEach(([x, number], at) => {
    const anchor = x > right - 20 ? "end" : "middle";
    svg.append(svgElement("line", { class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 5 }));
    svg.append(svgElement("text", { class: at % 2 ? "between" : "", x, y: bottom + 22, "text-anchor": anchor }, number));
  });
  chart.lines.forEach((points, at) => {
    const patched = at === chart.lines.length - 1;
    svg.append(svgElement("polyline", { class: `curve ${patched ? "patched" : "reference"}`, points }));
    if (!patched || !chart.marked) return;
    for (const point of points.split(" ")) {
      const [x, y] = point.split(",");
      svg.append(svgElement("circle", { class: "mark", cx: x, cy: y, r: 3 }));
    }
  });
  svg.append(svgElement("polyline", { class: "curve difference", points: chart.difference }));
  svg.append(svgElement("line", { class: "cursor", y1: loss[0], y2: bottom, x1: -9, x2: -9 }));
  return svg;
};

const curves = (chart) => {
  const keys = chart.names.map((name, at) =>
    element("span", "", " ", element("span", "key " + (at === chart.names.length - 1 ? "patched" : "reference")), " " + name));
  const caption = element("figcaption", "", "by backward pass:", ...keys, `; below, their difference: ${chart.summary}`);
  const figure = element("figure", "chart", drawChart(chart), caption);
  devfix.readChart(figure, { width: chart.size[0], names: chart.names, readings: chart.readings });
  return figure;
};

const verdict = (found) => {
  const parts = [
    element("p", "sentence " + found.status, element("span", "", found.sentence)),
    element("p", "soft", element("code", "", found.command), found.where ? " on " + found.where : ""),
    ...found.notes.map((note) => element("p", "soft", note)),
  ];
  if (found.rows.length) parts.push(runs(found.rows));
  if (found.chart) parts.push(curves(found.chart));
  for (const [title, text] of found.tails) parts.push(foldable(title, false, scrollable(element("pre", "log", text), title)));
  return parts;
};

const problems = (found) => element("ul", "", ...found.map(([where, message, hint]) =>
  element("li", "", element("code", "", where), ": " + message, hint ? element("span", "soft", ` (${hint})`) : "")));

const contents = (found) => {
  const open = found.findings.length <= 5, parts = [];
  if (found.why.length) parts.push(reasonBox(found.why));
  if (found.findings.length) {
    parts.push(...section(`Findings (${found.findings.length + found.more_findings})`, ...found.findings.map((one) => finding(one, open))));
  }
  if (found.more_findings) parts.push(element("p", "soft", `${found.more_findings} more findings are in the record.`));
  if (found.diff.length) parts.push(...section("Patch", ...found.diff.map(diffFile)));
  if (found.more_lines) parts.push(element("p", "soft", `${found.more_lines} more lines are in the patch file.`));
  if (found.verdict) parts.push(...section("Verification", ...verdict(found.verdict)));
  if (found.problems.length) parts.push(...section("Problems", problems(found.problems)));
  if (found.notes.length) parts.push(...section("Notes", problems(found.notes)));
  if (found.log) parts.push(...section("End of log", scrollable(element("pre", "log", found.log), "End of log")));
  return [...parts, ...section("About", properties(found))];
};

const detailsOf = async ({ values }) => (await block(Math.floor(values[PLACE] / BLOCK)))[values[PLACE] % BLOCK];
const opener = (repository) => repository.row.querySelector("button.open");

const cell = (text, classes, name) => {
  const node = element("td", classes, String(text));
  if (name) node.dataset.name = name;
  return node;
};
const rowOf = (repository) => {
  if (repository.row) return repository.row;
  const { values } = repository, outcome = LABELS.outcomes[values[OUTCOME]];
  const button = element("button", "open", values[NAME]);
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  const head = element("th", "", button, values[REASON] ? element("span", "reason soft", values[REASON]) : "");
  head.scope = "row";
  repository.row = element("tr", "", head, cell(outcome, outcome),
    cell(values[FINDINGS] || "", "number", "findings"), cell(values[REMAINING] || "", "number", "remaining"),
    cell(values[RULES], "", "rules"), cell(LABELS.severities[values[SEVERITY]], "", "severity"),
    cell(values[VERDICT], values[VERDICT], "verdict"), cell(values[SECONDS].toFixed(1), "number", "seconds"));
  byRow.set(repository.row, repository);
  return repository.row;
};

const toggle = async (repository, open) => {
  opener(repository).setAttribute("aria-expanded", String(open));
  if (open && !repository.panel) {
    const found = await detailsOf(repository);
    if (repository.panel || !isOpen(repository)) return; // meanwhile opened by another click, or closed
    const inside = element("td", "", ...contents(found));
    inside.colSpan = HEADS.length;
    repository.panel = element("tr", "details", inside);
    repository.panel.id = "details-" + repository.at;
    opener(repository).setAttribute("aria-controls", repository.panel.id);
    if (repository.row.isConnected) repository.row.after(repository.panel);
  }
  if (repository.panel) repository.panel.hidden = !open;
};
const isOpen = (repository) => opener(repository).getAttribute("aria-expanded") === "true";

// ---- filters and order

const pieceText = (pieces) => pieces.filter((_, at) => at && at % 2 === 0).join("");
const textOf = (repository, found) => {
  const said = found.verdict;
  const lines = found.diff.flatMap((file) => [file.path, ...file.hunks.flatMap((hunk) => hunk[3].map(pieceText))]);
  const findings = found.findings.flatMap((one) => [one.code, one.name, one.message, one.where, one.reason, ...one.notes, ...one.events.flat()]);
  const proof = said ? [said.sentence, said.command, ...said.rows.flat(), ...said.tails.flat()] : [];
  return [repository.values[NAME], ...found.facts.flat(), ...found.why, ...findings, ...lines, ...proof,
    ...found.problems.flat(), ...found.notes.flat(), found.log].join("\n").toLowerCase();
};

// Show the rows of the current page.
const show = () => {
  const pages = Math.max(1, Math.ceil(matching.length / ROWS));
  first = Math.min(Math.max(0, first), (pages - 1) * ROWS);
  BODY.replaceChildren(...matching.slice(first, first + ROWS).flatMap((repository) => {
    const row = rowOf(repository);
    return repository.panel ? [row, repository.panel] : [row];
  }));
  const [back, forward] = PAGES.querySelectorAll("button"), number = PAGES.querySelector("input");
  PAGES.hidden = pages === 1;
  number.max = pages;
  number.value = first / ROWS + 1;
  PAGES.querySelector("output").textContent = pages.toLocaleString("en");
  back.disabled = first === 0;
  forward.disabled = first + ROWS >= matching.length;
  document.getElementById("count").textContent = `${matching.length.toLocaleString("en")} of ${repositories.length.toLocaleString("en")} shown`;
  document.getElementById("none").hidden = matching.length > 0;
};

let asked = 0; // the number of the last filter; an earlier one that is still searching ends
const filter = async () => {
  const mine = ++asked;
  const outcomes = new Set([...FORM.querySelectorAll("[name=outcome]:checked")].map((box) => Number(box.value)));
  const rule = FORM.elements.rule.value, severity = FORM.elements.severity.value;
  const words = FORM.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = order.filter(({ values }) => outcomes.has(values[OUTCOME])
    && ((!rule && !severity) || values[PAIRS].some(([code, level]) => (!rule || code === rule) && (!severity || level === severity))));
  if (words.length) {
    const wanted = new Set();
    for (const [number, members] of grouped(found)) {
      const details = await block(number);
      if (mine !== asked) return;
      for (const repository of members) {
        const text = textOf(repository, details[repository.values[PLACE] % BLOCK]);
        if (words.every((word) => text.includes(word))) wanted.add(repository);
      }
    }
    found = found.filter((repository) => wanted.has(repository));
  }
  matching = found;
  first = 0;
  show();
};
const inBlock = ({ values }) => Math.floor(values[PLACE] / BLOCK);
const grouped = (found) => {
  const groups = new Map();
  for (const repository of found) {
    if (!groups.has(inBlock(repository))) groups.set(inBlock(repository), []);
    groups.get(inBlock(repository)).push(repository);
  }
  return groups;
};

const compare = (a, b) => (typeof a === "number" ? a - b : COLLATOR.compare(a, b));
const sort = (column, down) => {
  const empty = (value) => value === "";
  order = repositories.slice().sort((one, other) => {
    const a = one.values[column], b = other.values[column];
    if (empty(a) !== empty(b)) return empty(a) - empty(b); // empty values come last
    return (down ? -compare(a, b) : compare(a, b)) || one.at - other.at;
  });
  const kept = new Set(matching);
  matching = order.filter((repository) => kept.has(repository));
  first = 0;
  show();
  HEADS.forEach((head, at) => (at === column ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
  FORM.elements.order.value = `${column} ${down ? "down" : "up"}`;
};

HEADS.forEach((head, column) => {
  const name = head.textContent, numbers = head.dataset.kind === "number";
  head.firstElementChild.addEventListener("click", () => {
    const now = head.getAttribute("aria-sort");
    sort(column, now ? now === "ascending" : numbers); // numbers sort descending first
  });
  const orders = { text: [["up", "A to Z"], ["down", "Z to A"]], number: [["down", "most first"], ["up", "least first"]], rank: [["up", "worst first"], ["down", "best first"]] };
  for (const [direction, label] of orders[head.dataset.kind]) FORM.elements.order.append(new Option(`${name}: ${label}`, `${column} ${direction}`));
});
FORM.elements.order.value = `${OUTCOME} up`;

let waiting = 0;
FORM.addEventListener("input", (changed) => {
  if (changed.target.name === "order") {
    const [column, direction] = changed.target.value.split(" ");
    sort(Number(column), direction === "down");
    return;
  }
  devfix.writeState(FORM);
  clearTimeout(waiting);
  waiting = setTimeout(filter, changed.target.name === "text" ? 80 : 0);
});
FORM.addEventListener("reset", () => setTimeout(() => { devfix.writeState(FORM); sort(OUTCOME, false); filter(); }));
addEventListener("hashchange", () => { if (devfix.readState(FORM)) filter(); });
devfix.onKey("/", () => FORM.elements.text.focus());
PAGES.addEventListener("click", ({ target }) => {
  if (!target.matches("button")) return;
  first += Number(target.value) * ROWS;
  show();
  PAGE.scrollIntoView();
});
PAGES.addEventListener("change", ({ target }) => {
  first = (Math.round(Number(target.value) || 1) - 1) * ROWS;
  show();
});
FORM.addEventListener("submit", (sent) => sent.preventDefault());

// ---- keys and links

BODY.addEventListener("click", (clicked) => {
  const repository = byRow.get(clicked.target.closest("tr"));
  const selects = clicked.detail > 1 || !getSelection().isCollapsed; // selecting text ends with a click
  if (!repository || (selects && !clicked.target.matches("button"))) return;
  toggle(repository, !isOpen(repository));
  if (isOpen(repository)) history.replaceState(null, "", "#" + encodeURIComponent(repository.values[NAME]));
});
BODY.addEventListener("keydown", (pressed) => {
  const repository = pressed.target.closest("tr") && byRow.get(pressed.target.closest("tr"));
  if (pressed.key === "Escape") {
    const inside = repository || repositories.find(({ panel }) => panel && panel.contains(pressed.target));
    if (inside && isOpen(inside)) { toggle(inside, false); opener(inside).focus(); }
    return;
  }
  if (!repository || !pressed.target.matches("button.open")) return;
  const shown = matching.slice(first, first + ROWS), at = shown.indexOf(repository);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[pressed.key];
  if (next === undefined || !shown[next]) return;
  pressed.preventDefault();
  opener(shown[next]).focus();
});

const openNamed = async () => {
  let name = "";
  try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const at = name ? matching.findIndex(({ values }) => values[NAME] === name) : -1;
  if (at < 0) return;
  first = at - at % ROWS;
  show();
  await toggle(matching[at], true);
  matching[at].row.scrollIntoView();
  opener(matching[at]).focus({ preventScroll: true });
};
unpack(document.getElementById("index")).then(async (rows) => {
  repositories = rows.map((values, at) => ({ at, values, row: null, panel: null }));
  [...BODY.rows].forEach((row, at) => { // the first page is in the document
    repositories[at].row = row;
    byRow.set(row, repositories[at]);
  });
  matching = order = repositories.slice();
  show();
  if (devfix.readState(FORM)) await filter();
  addEventListener("hashchange", openNamed);
  await openNamed();
  document.documentElement.dataset.ready = "";
});
})();
