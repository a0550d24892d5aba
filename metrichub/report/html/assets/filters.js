"use strict";
// Filters of the samples, each a field of the form, all of them in the address.
const sampleFilters = (data, recordOf) => {
  const by = id => document.getElementById(id);
  const several = data.systems.length > 1;
  const MOST = 50;
  const FIELDS = ["query", "status", "output", "rows", "better", "column", "value", "low", "high", "shortest", "longest", "ngram"];

  const statuses = new Map();
  for (const problems of data.problems) {
    for (const { reasons, samples } of Object.values(problems)) {
      for (const [sample, reason] of Object.entries(samples)) {
        const found = statuses.get(Number(sample)) ?? new Set();
        statuses.set(Number(sample), found.add(reasons[reason][0]));
      }
    }
  }

  // Columns of few values, each with these in their order.
  const chosen = Object.entries(data.metadata)
    .map(([name, values]) => [name, [...new Set(values.flat().map(String))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }))])
    .filter(([, values]) => values.length > 1 && values.length <= MOST);
  chosen.forEach(([name], i) => by("column").append(new Option(name, i)));
  const fillValues = () => {
    const values = chosen[by("column").value]?.[1] ?? [];
    by("value").replaceChildren(...values.map(value => new Option(value === "null" ? "no value" : value, value)));
    by("value").disabled = !values.length;
  };
  by("column").addEventListener("change", fillValues);

  const pairs = [];
  data.systems.forEach((_, i) => data.systems.forEach((_, j) => {
    if (i !== j) pairs.push({ i, j });
  }));
  data.systems.forEach((_, i) => data.systems.slice(i + 1).forEach((_, k) =>
    pairs.push({ i, j: i + 1 + k, equal: true })));
  pairs.forEach((_, k) => by("better").append(new Option("", k)));

  by("of-better").hidden = !several;
  by("of-column").hidden = by("of-value").hidden = !chosen.length;
  by("of-length").hidden = !data.lengths;
  if (data.lengths) by("length-of").textContent = `Words of the ${data.lengths.of}`;
  fillValues();

  const bound = id => (by(id).value.trim() === "" ? NaN : Number(by(id).value));

  // NaN compares false: a bound that isn't there lets all pass.
  const inside = (found, low, high) =>
    !(Number.isFinite(low) && !(found >= low)) && !(Number.isFinite(high) && !(found <= high));

  const holds = (part, query) => typeof part === "string"
    ? part.toLowerCase().includes(query)
    : part !== null && typeof part === "object" && Object.values(part).some(inner => holds(inner, query));

  const has = (sample, query) => {
    if (!query) return true;
    if (data.ids && String(data.ids[sample]).toLowerCase() === query) return true;
    const found = recordOf(sample);
    return found !== null && [found.said, found.shared, found.messages].some(part => part && holds(part, query));
  };

  const wins = (output, { i, j, equal }) => {
    const sign = output.better === "lower" ? -1 : 1;
    return sample => {
      const lead = sign * (output.values[i][sample] - output.values[j][sample]);
      return equal ? lead === 0 : lead > 0;
    };
  };

  // Whether a sample is shown, by what the form says now; `values` are those of the sorted column.
  const test = (output, values) => {
    const query = by("query").value.trim().toLowerCase();
    const status = by("status").value;
    const pair = pairs[by("better").value];
    const won = pair ? wins(output, pair) : () => true;
    const [column] = chosen[by("column").value] ?? [];
    const wanted = by("value").value;
    const having = ngrams.samples(by("ngram").value);
    const [low, high, shortest, longest] = ["low", "high", "shortest", "longest"].map(bound);
    return sample => {
      const problem = statuses.get(sample);
      if (status === "ok" ? problem : status !== "all" && !problem?.has(status)) return false;
      if (column !== undefined && ![data.metadata[column][sample]].flat().map(String).includes(wanted)) return false;
      if (having && !having.has(sample)) return false;
      if (data.lengths && !inside(data.lengths.values[sample], shortest, longest)) return false;
      return inside(values ? values[sample] : NaN, values ? low : NaN, values ? high : NaN)
        && won(sample) && has(sample, query);
    };
  };

  // Where neither more nor less is better, systems are higher or lower.
  const name = output => {
    const word = output.better === "neither" ? "higher than" : "better than";
    pairs.forEach(({ i, j, equal }, k) => {
      by("better").options[k + 1].text =
        `${data.systems[i]} ${equal ? "equal to" : word} ${data.systems[j]}`;
    });
  };

  const clear = () => {
    for (const name of FIELDS) {
      if (["output", "rows"].includes(name)) continue;
      const field = by(name);
      if (field.tagName === "SELECT") field.selectedIndex = 0;
      else field.value = "";
    }
    fillValues();
  };

  // What of the form differs from its start, as words that a reader of a print sees too.
  const said = () => {
    const found = [];
    const text = id => by(id).selectedOptions[0]?.text;
    if (by("query").value.trim()) found.push(`text “${by("query").value.trim()}”`);
    if (by("status").value !== "all") found.push(text("status"));
    if (by("better").value) found.push(`${text("better")} on ${text("output")}`);
    if (by("column").value) found.push(`${text("column")} ${text("value")}`);
    if (ngrams.said(by("ngram").value)) found.push(ngrams.said(by("ngram").value));
    const range = (low, high, name) => {
      if (Number.isFinite(bound(low))) found.push(`${name} at least ${bound(low)}`);
      if (Number.isFinite(bound(high))) found.push(`${name} at most ${bound(high)}`);
    };
    range("shortest", "longest", `words of the ${data.lengths?.of}`);
    range("low", "high", by("range-of").textContent);
    return found;
  };

  const write = params => {
    for (const name of FIELDS) {
      const field = by(name);
      const start = field.tagName === "SELECT" ? field.options[0]?.value : "";
      if (field.value !== start && !field.disabled) params.set(name, field.value);
    }
  };

  const read = params => {
    clear();
    for (const name of FIELDS) {
      if (!params.has(name)) continue;
      by(name).value = params.get(name);
      if (name === "column") fillValues();
      // What an address of another report names isn't there.
      if (by(name).tagName === "SELECT" && by(name).selectedIndex < 0) by(name).selectedIndex = 0;
    }
  };

  return { name, test, clear, said, write, read };
};
