// Scores over people's ratings: a plot of the score and the rating that the samples are read by.
(() => {
  const { by, drawn: shape, element, shown } = steps;
  const { data, number, output, open } = samples;
  const several = data.systems.length > 1;
  const DRAWN = 2000;

  const named = (sample, system) =>
    `sample ${sample}${data.ids ? ` (${shown(data.ids[sample])})` : ""}${several ? ` of ${data.systems[system]}` : ""}`;

  // Points of one rating lie beside one another, always in the same way.
  const spread = i => ((i * 0.618034) % 1) - 0.5;

  const pointsOf = (output, rating) => {
    const all = [];
    rating.values.forEach((given, system) => given.forEach((x, sample) => {
      const y = output.values[system][sample];
      if (Number.isFinite(x) && Number.isFinite(y)) all.push({ x, y, sample, system });
    }));
    // Of too many an even choice is drawn.
    const every = Math.max(1, all.length / DRAWN);
    let next = 0;
    const drawn = all.filter((_, i) => i >= next && (next += every));
    const few = new Set(all.map(({ x }) => x)).size <= 25;
    for (const [i, point] of drawn.entries()) {
      point.kind = point.system;
      point.spread = few ? spread(i) : 0;
      const score = number(point.y, output.whole);
      point.text = `${named(point.sample, point.system)}: ${rating.name} ${shown(point.x)}, ${output.label} ${score}`;
    }
    return { drawn, few, all: all.length };
  };

  const plot = (output, rating) => {
    const { drawn, few, all } = pointsOf(output, rating);
    const say = count => count.toLocaleString("en");
    by("pointed").textContent = "";
    by("drawn").textContent = [
      drawn.length < all ? `${say(drawn.length)} of ${say(all)} rated samples are drawn.` : `${say(all)} rated samples.`,
      ...(few ? ["Samples of one rating are drawn side by side."] : []),
      "A click on a point shows its sample.",
    ].join(" ");
    if (!drawn.length) return by("scatter").replaceChildren();
    scatter.plot({
      svg: by("scatter"),
      points: drawn,
      across: rating.name,
      up: output.label,
      name: `Scores by ${output.label} over people's ratings ${rating.name}: arrow keys go from point to point, Enter shows the sample`,
      say: text => { by("pointed").textContent = text; },
      open: point => open(point.sample),
    });
  };

  if (several) {
    by("kinds").replaceChildren(...data.systems.map((name, i) => {
      const kind = i % scatter.SHAPES.length;
      const mark = shape("path", { class: `point of-${kind}`, d: scatter.SHAPES[kind], transform: "translate(6,6)" });
      return element("li", "", shape("svg", { width: 12, height: 12, "aria-hidden": "true" }, mark), ` ${name}`);
    }));
  }
  // It is drawn again for another score, rating or width, and keeps the place of the keys else.
  let drawn = "";
  const show = () => {
    const now = [by("output").value, by("rating").value, by("scatter").parentNode.clientWidth].join(" ");
    if (now !== drawn) plot(output(), ratings.chosen());
    drawn = now;
  };
  document.addEventListener("samples", show);
  by("people-samples").hidden = false;
  new ResizeObserver(show).observe(by("scatter").parentNode);
})();
