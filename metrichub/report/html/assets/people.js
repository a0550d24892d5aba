// Scores beside people's ratings: the plot, and the samples on which both part most.
(() => {
  const { by, drawn: shape, element, shown } = steps;
  const { data, number } = samples;
  const { ratings, parted } = data.people;
  const several = data.systems.length > 1;
  const DRAWN = 2000;

  for (const rating of ratings) {
    rating.values = rating.values.map(list => list.map(v => (v === null ? NaN : v)));
  }
  const outputs = data.outputs.filter(({ metric, output }) =>
    parted.some(one => one.metric === metric && one.output === output));
  outputs.forEach((output, i) => by("rated-output").append(new Option(output.label, i)));
  ratings.forEach(({ name }, i) => by("rating").append(new Option(name, i)));

  const named = (sample, system) =>
    `sample ${sample}${data.ids ? ` (${shown(data.ids[sample])})` : ""}${several ? ` of ${data.systems[system]}` : ""}`;

  // Points of one rating lie beside one another, always in the same way.
  const spread = i => ((i * 0.618034) % 1) - 0.5;

  const pointsOf = (output, rating, listed) => {
    const all = [];
    rating.values.forEach((given, system) => given.forEach((x, sample) => {
      const y = output.values[system][sample];
      if (Number.isFinite(x) && Number.isFinite(y)) all.push({ x, y, sample, system });
    }));
    // Of too many an even choice is drawn, and those that are listed below.
    const every = Math.max(1, all.length / DRAWN);
    const kept = new Set(listed.map(([system, sample]) => `${system} ${sample}`));
    let next = 0;
    const drawn = all.filter(({ system, sample }, i) => {
      const turn = i >= next;
      if (turn) next += every;
      return turn || kept.has(`${system} ${sample}`);
    });
    const few = new Set(all.map(({ x }) => x)).size <= 25;
    for (const [i, point] of drawn.entries()) {
      point.kind = point.system;
      point.spread = few ? spread(i) : 0;
      const score = number(point.y, output.whole);
      point.text = `${named(point.sample, point.system)}: ${rating.name} ${shown(point.x)}, ${output.label} ${score}`;
    }
    return { drawn, few, all: all.length };
  };

  const percent = share => `${Math.round(share * 100)}%`;

  const rowOf = (output, rating) => ([system, sample, mine, theirs]) => {
    const button = steps.button(String(sample), () => samples.open(sample, data.outputs.indexOf(output)), "", `show ${named(sample, system)}`);
    return element("tr", "",
      element("td", "", button),
      ...(data.ids ? [element("td", "", shown(data.ids[sample]))] : []),
      ...(several ? [element("td", "", data.systems[system])] : []),
      element("td", "number", number(output.values[system][sample], output.whole)),
      element("td", "number", shown(rating.values[system][sample])),
      element("td", "number", percent(mine)),
      element("td", "number", percent(theirs)));
  };

  const tableOf = (caption, rows, output, rating) => {
    const heads = ["sample", ...(data.ids ? ["id"] : []), ...(several ? ["system"] : [])];
    const numbers = [output.label, rating.name, "above by score", "above by rating"];
    const head = element("tr", "", ...heads.map(text => steps.head("", text)), ...numbers.map(text => steps.head("number", text)));
    const body = element("tbody", "", ...rows.map(rowOf(output, rating)));
    return element("table", "", element("caption", "", caption), element("thead", "", head), body);
  };

  const chosen = () => {
    const output = outputs[Number(by("rated-output").value)];
    const rating = ratings[Number(by("rating").value)];
    const { higher, lower } = parted.find(one =>
      one.metric === output.metric && one.output === output.output && one.rating === rating.name);
    return { output, rating, higher, lower };
  };
  const plot = ({ output, rating, higher, lower }) => {
    const { drawn, few, all } = pointsOf(output, rating, [...higher, ...lower]);
    const say = count => count.toLocaleString("en");
    by("pointed").textContent = "";
    by("drawn").textContent = [
      drawn.length < all ? `${say(drawn.length)} of ${say(all)} rated samples are drawn.` : `${say(all)} rated samples.`,
      ...(few ? ["Samples of one rating are drawn side by side."] : []),
      "A click on a point shows its sample.",
    ].join(" ");
    scatter.plot({
      svg: by("scatter"),
      points: drawn,
      across: rating.name,
      up: output.label,
      name: `Scores by ${output.label} over people's ratings ${rating.name}: arrow keys go from point to point, Enter shows the sample`,
      say: text => { by("pointed").textContent = text; },
      open: point => samples.open(point.sample, data.outputs.indexOf(output)),
    });
  };
  const list = ({ output, rating, higher, lower }) => {
    const none = element("p", "aside", "They agree on every sample.");
    const tables = [[`${output.label} ranks them higher than people do`, higher], [`${output.label} ranks them lower than people do`, lower]]
      .filter(([, rows]) => rows.length)
      .map(([caption, rows]) => tableOf(caption, rows, output, rating));
    by("parted").replaceChildren(...(tables.length ? tables : [none]));
  };
  const show = () => {
    const now = chosen();
    plot(now);
    list(now);
  };

  if (several) {
    by("kinds").replaceChildren(...data.systems.map((name, i) => {
      const kind = i % scatter.SHAPES.length;
      const mark = shape("path", { class: `point of-${kind}`, d: scatter.SHAPES[kind], transform: "translate(6,6)" });
      return element("li", "", shape("svg", { width: 12, height: 12, "aria-hidden": "true" }, mark), ` ${name}`);
    }));
  }
  by("rated-output").addEventListener("change", show);
  by("rating").addEventListener("change", show);
  let width = 0;
  new ResizeObserver(([entry]) => {
    if (Math.abs(entry.contentRect.width - width) < 1) return;
    width = entry.contentRect.width;
    // The tables are the same at any width, and one of their buttons may have the focus.
    plot(chosen());
  }).observe(by("scatter").parentNode);
  by("people-samples").hidden = false;
  show();
})();
