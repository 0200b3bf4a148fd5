"use strict";
// Charts with a horizontal axis from 0 to 1: zoom and pan, tooltips, and the table rows behind the bars.
(() => {
const range = (text) => text.split(" ").map(Number);
const percent = (value) => `${(value * 100).toFixed(3)}%`;

for (const chart of document.querySelectorAll("[data-chart]")) {
  const stage = chart.querySelector(".stage"), svg = stage.querySelector("svg"), chosen = chart.querySelector(".chosen");
  const ticks = svg.querySelector(".ticks"), axisButton = chart.querySelector("[data-axis]");
  const parts = [...svg.querySelectorAll("[data-o]")].map((node) => {
    const o = range(node.dataset.o);
    return { node, o, t: node.dataset.t ? range(node.dataset.t) : o };
  });
  const cells = parts.filter(({ node }) => node.classList.contains("cell"));
  const labels = parts.filter(({ node }) => node.classList.contains("label"));
  const boxes = [...svg.querySelectorAll(".curve-box")];
  const duration = Number(chart.dataset.duration);
  let view = [0, 1], axis = "o", selected = null;

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  stage.append(tip);
  const titles = new Map(cells.map(({ node }) => {
    const title = node.querySelector("title"), text = title.textContent;
    title.remove(); // the tooltip stands for it
    return [node, text];
  }));

  // ---- drawing

  const drawTicks = () => {
    if (!ticks) return;
    ticks.replaceChildren();
    if (axis !== "t") return;
    const length = view[1] - view[0], count = Math.max(2, Math.floor(stage.clientWidth / 130));
    const rough = (length * duration) / count, power = 10 ** Math.floor(Math.log10(rough));
    const unit = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough);
    for (let number = Math.ceil((view[0] * duration) / unit); number * unit <= view[1] * duration; number += 1) {
      const x = percent((number * unit / duration - view[0]) / length), moment = number * unit;
      const line = document.createElementNS(svg.namespaceURI, "line"), text = document.createElementNS(svg.namespaceURI, "text");
      for (const name of ["x1", "x2"]) line.setAttribute(name, x);
      line.setAttribute("y1", 14);
      line.setAttribute("y2", svg.clientHeight);
      text.setAttribute("x", x);
      text.setAttribute("y", 12);
      const digits = Math.max(0, -Math.floor(Math.log10(unit < 1 ? unit * 1000 : unit)));
      if (chart.querySelector(".failure-mark") && (moment / duration - view[0]) / length > 1 - 140 / stage.clientWidth) text.setAttribute("display", "none"); // the failure's label is there
      text.textContent = unit < 1 ? `${(moment * 1000).toFixed(digits)} ms` : `${moment.toFixed(digits)} s`;
      ticks.append(line, text);
    }
  };
  const draw = () => {
    const length = view[1] - view[0];
    for (const part of parts) {
      const { node } = part, from = (part[axis][0] - view[0]) / length, to = (part[axis][1] - view[0]) / length;
      node.setAttribute("display", to < -.01 || from > 1.01 ? "none" : "inline");
      if (node.tagName === "line") for (const name of ["x1", "x2"]) node.setAttribute(name, percent(from));
      else if (node.classList.contains("cell")) {
        const start = Math.max(from, -.002); // the label of a bar that began before stays visible
        node.setAttribute("x", percent(start));
        node.setAttribute("width", percent(Math.max(Math.min(to, 1.002) - start, .003)));
      } else node.setAttribute("x", percent(from));
    }
    for (const box of boxes) {
      box.setAttribute("viewBox", `${view[0] * 1000} 0 ${length * 1000} 30`);
      const path = box.firstElementChild;
      path.setAttribute("d", path.dataset[`${axis}Path`]);
    }
    let free = -Infinity;
    for (const { node, ...part } of labels) {
      const x = ((part[axis][0] - view[0]) / length) * stage.clientWidth, fits = axis === "o" && x >= free && x < stage.clientWidth - 90;
      node.setAttribute("visibility", fits ? "visible" : "hidden");
      if (fits) free = x + 60;
    }
    drawTicks();
  };
  const show = (from, to) => {
    const length = Math.min(Math.max(to - from, 1e-4), 1), start = Math.min(Math.max(from, 0), 1 - length);
    view = [start, start + length];
    draw();
  };
  const zoom = (factor, at = .5) => {
    const length = (view[1] - view[0]) * factor, fixed = view[0] + at * (view[1] - view[0]);
    show(fixed - at * length, fixed + (1 - at) * length);
  };
  const pan = (by) => show(view[0] + by * (view[1] - view[0]), view[1] + by * (view[1] - view[0]));

  // ---- selection

  const select = (part, scroll = false) => {
    if (selected) selected.node.classList.remove("selected");
    for (const row of document.querySelectorAll(".chosen-row")) row.classList.remove("chosen-row");
    selected = part;
    chosen.replaceChildren();
    if (!part) return;
    const row = document.getElementById(part.node.dataset.row);
    part.node.classList.add("selected");
    chosen.append(titles.get(part.node), " ");
    if (row) {
      row.classList.add("chosen-row");
      const link = document.createElement("a");
      link.href = `#${row.id}`;
      link.textContent = "in the table";
      chosen.append(link);
    }
    const [from, to] = part[axis];
    if (to < view[0] || from > view[1]) show(from - (view[1] - view[0]) / 4, from + ((view[1] - view[0]) * 3) / 4);
    if (scroll) chart.scrollIntoView({ block: "nearest" });
  };
  const zoomTo = (part) => {
    const [from, to] = part[axis], margin = chart.dataset.chart === "nested" ? 0 : (to - from) * .1;
    show(from - margin, to + margin);
  };
  const neighbour = (by) => {
    const ordered = cells.slice().sort((one, other) => one[axis][0] - other[axis][0]);
    const at = selected ? ordered.indexOf(selected) + by : by > 0 ? 0 : ordered.length - 1;
    select(ordered[Math.min(Math.max(at, 0), ordered.length - 1)]);
  };
  const partOf = (target) => {
    const node = target.closest && target.closest(".cell");
    return node && cells.find((each) => each.node === node);
  };
  for (const link of document.querySelectorAll("[data-show]")) {
    const part = cells.find(({ node }) => node.dataset.row === link.dataset.show);
    if (part) link.addEventListener("click", (event) => { event.preventDefault(); zoomTo(part); select(part, true); stage.focus({ preventScroll: true }); });
  }

  // ---- mouse, touch and keys

  let drag = null;
  const share = (event) => (event.clientX - stage.getBoundingClientRect().left) / stage.clientWidth;
  stage.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * .005), share(event));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / stage.clientWidth);
    else return; // the page scrolls
    event.preventDefault();
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => { if (event.button === 0) drag = { x: event.clientX, view: [...view], moved: false }; });
  addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = (event.clientX - drag.x) / stage.clientWidth;
    if (Math.abs(event.clientX - drag.x) > 4) { drag.moved = true; stage.dataset.drag = ""; }
    if (drag.moved) show(drag.view[0] - by * (drag.view[1] - drag.view[0]), drag.view[1] - by * (drag.view[1] - drag.view[0]));
  });
  addEventListener("pointerup", () => { delete stage.dataset.drag; setTimeout(() => { drag = null; }); });
  addEventListener("pointercancel", () => { delete stage.dataset.drag; drag = null; });
  stage.addEventListener("click", ({ target }) => {
    if (drag && drag.moved) return;
    const part = partOf(target) || null;
    select(part);
    if (part && chart.dataset.chart === "nested") zoomTo(part);
  });
  stage.addEventListener("dblclick", ({ target }) => { const part = partOf(target); if (part) zoomTo(part); });
  stage.addEventListener("pointermove", (event) => {
    const part = event.pointerType === "mouse" && !(drag && drag.moved) && partOf(event.target);
    tip.hidden = !part;
    if (!part) return;
    tip.textContent = titles.get(part.node);
    const box = stage.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth - 4))}px`;
    const below = event.clientY - box.top + 16;
    tip.style.top = `${below + tip.offsetHeight > box.height ? Math.max(0, below - tip.offsetHeight - 28) : below}px`;
  });
  stage.addEventListener("pointerleave", () => { tip.hidden = true; });
  const all = () => { show(0, 1); };
  const keys = {
    "+": () => zoom(1 / 1.6), "=": () => zoom(1 / 1.6), "-": () => zoom(1.6), 0: all, Home: all,
    ArrowLeft: () => pan(-.15), ArrowRight: () => pan(.15), ArrowUp: () => neighbour(-1), ArrowDown: () => neighbour(1),
    Enter: () => selected && zoomTo(selected), Escape: () => select(null),
  };
  stage.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  const zooms = { in: () => zoom(1 / 1.6), out: () => zoom(1.6), all };
  for (const button of chart.querySelectorAll("[data-zoom]")) button.addEventListener("click", zooms[button.dataset.zoom]);
  if (axisButton) {
    axisButton.addEventListener("click", () => {
      axis = axis === "o" ? "t" : "o";
      axisButton.setAttribute("aria-pressed", axis === "t");
      chart.querySelector(".scale").textContent = axis === "t" ? "Left to right: time." : "Left to right: the recorded events in their order, each with the same width.";
      show(0, 1);
    });
  }
  addEventListener("beforeprint", all);
  addEventListener("resize", draw);
  draw();
}

// ---- tables that sort by a column

for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => { const cell = row.cells[column]; return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value); };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numbers = body.rows[0] && body.rows[0].cells[column].dataset.value !== undefined;
      const now = head.getAttribute("aria-sort"), down = now ? now === "ascending" : numbers;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = (one, other) => { const [a, b] = [value(one, column), value(other, column)]; return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }); };
      body.append(...[...body.rows].sort((one, other) => (down ? -compare(one, other) : compare(one, other))));
    });
  });
}
})();
