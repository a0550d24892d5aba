// People's ratings: what share of all samples one is above, by people and by a score.
const ratings = (() => {
  const { by, drawn, element, number, shown } = steps;
  const { data } = report, all = data.people?.ratings ?? [];
  for (const rating of all) rating.values = rating.values.map(list => Float64Array.from(list, v => v === null ? NaN : v));
  by("rating").append(...all.map(({ name }, i) => new Option(name, i)));
  by("of-rating").hidden = !all.length;
  const chosen = () => all[Number(by("rating").value)];

  // Half of those that are equal count as below.
  const shares = (values, places) => {
    const order = [...places].sort((a, b) => values[a] - values[b]), made = new Float64Array(values.length).fill(NaN);
    for (let start = 0, end = 0; start < order.length; start = end) {
      while (end < order.length && values[order[end]] === values[order[start]]) end += 1;
      for (const place of order.slice(start, end)) made[place] = (start + end) / 2 / order.length;
    }
    return made;
  };
  // By people and by the score, of all systems one after the other.
  const known = new Map();
  const above = output => {
    const key = `${by("rating").value} ${data.outputs.indexOf(output)}`;
    if (!known.has(key)) {
      const [rated, scores] = [chosen(), output].map(({ values }) => values.flatMap(list => [...list]));
      const places = [...scores.keys()].filter(i => Number.isFinite(scores[i]) && Number.isFinite(rated[i]));
      known.set(key, [shares(rated, places), shares(output.better === "lower" ? scores.map(v => -v) : scores, places)]);
    }
    return known.get(key);
  };
  // How far apart both are in each sample, by the system for which they are farthest.
  const apart = output => {
    const [theirs, mine] = above(output), farthest = new Float64Array(data.size).fill(NaN);
    theirs.forEach((share, i) => {
      const gap = Math.abs(share - mine[i]), sample = i % data.size;
      if (gap > farthest[sample] || Number.isNaN(farthest[sample])) farthest[sample] = gap;
    });
    return farthest;
  };

  // Both as dots on lines, where samples are sorted by it.
  const lines = (output, sample, system) => {
    if (by("sort").value !== "people") return [];
    const place = system * data.size + sample, [theirs, mine] = above(output).map(list => list[place]);
    if (Number.isNaN(theirs)) return [];
    const line = (label, share, value) => [element("span", "", label),
      drawn("svg", { class: "dumbbell", width: 80, height: 10, "aria-hidden": true },
        drawn("path", { class: "grid", d: "M4,5H76" }), drawn("circle", { cx: 4 + 72 * share, cy: 5, r: 3 })),
      element("b", "", value), element("span", "", `above ${Math.round(share * 100)}%`)];
    return [element("div", "shares", ...line(chosen().name, theirs, shown(chosen().values[system][sample])),
      ...line(output.label, mine, number(output.values[system][sample], output.whole)))];
  };

  return { all, apart, chosen, lines };
})();
