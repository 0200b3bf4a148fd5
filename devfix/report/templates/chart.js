// Reads the losses of a chart at a pass, by pointer and by keys.
devfix.readChart = (figure, { width, names, readings }) => {
  const svg = figure.querySelector("svg"), cursor = svg.querySelector(".cursor");
  const slider = document.createElement("input"), read = document.createElement("output");
  Object.assign(slider, { type: "range", min: 0, max: readings.length - 1, value: readings.length - 1 });
  slider.setAttribute("aria-label", "Backward pass to read the losses of");
  read.className = "read";
  const show = () => {
    const [number, x, ...losses] = readings[slider.value];
    const known = losses.every((loss) => loss !== null);
    const texts = names.map((name, at) => `${name} ${losses[at] ?? "–"}`);
    if (known && losses.length === 2) texts.push(`difference ${Number((losses[1] - losses[0]).toPrecision(3))}`);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    read.textContent = `pass ${number}: ${texts.join(", ")}`;
    slider.setAttribute("aria-valuetext", read.textContent);
  };
  svg.addEventListener("pointermove", (moved) => {
    const box = svg.getBoundingClientRect(), x = (moved.clientX - box.left) / box.width * width;
    let nearest = 0;
    readings.forEach((reading, at) => {
      if (Math.abs(reading[1] - x) < Math.abs(readings[nearest][1] - x)) nearest = at;
    });
    slider.value = nearest;
    show();
  });
  slider.addEventListener("input", show);
  svg.after(slider, read);
  show();
};
for (const figure of document.querySelectorAll("figure[data-chart]")) {
  devfix.readChart(figure, JSON.parse(figure.querySelector("script").textContent));
}
