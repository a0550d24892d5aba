// The form above the samples. Each choice is a field of it, and the address has those that differ
// from the start.
const sampleFilters = ({ data, record }) => {
  const { by } = steps;
  const several = data.systems.length > 1;
  const groupings = data.groupings ?? [];
  const RANGE = ["low", "high", "below"];
  const FILTERS = ["query", "status", "better", "group", "value", "group2", "value2", ...RANGE, "ngram"];
  const FIELDS = [...FILTERS, "output", "rating", "sort", "turned", "against", "system", "columns", "pinned", "rows"];

  const statuses = new Map();
  for (const problems of data.problems) {
    for (const { reasons, samples } of Object.values(problems)) {
      for (const [sample, reason] of Object.entries(samples)) {
        const found = statuses.get(Number(sample)) ?? new Set();
        statuses.set(Number(sample), found.add(reasons[reason][0]));
      }
    }
  }

  const fill = (id, options) => by(id).append(...options.map(([value, text]) => new Option(text, value)));
  const each = data.systems.map((name, k) => [String(k), name]);
  const minus = (a, b) => [`${a}-${b}`, `${data.systems[b]} − ${data.systems[a]}`];
  // A second group can narrow the first: the long ones of a language.
  const GROUPS = [["group", "value"], ["group2", "value2"]];
  const grouping = id => groupings.find(one => one.key === by(id).value);
  const fillValues = changed => {
    for (const [group, value] of GROUPS) {
      if (changed && changed !== group) continue;
      const values = grouping(group)?.values ?? [], had = by(value).value;
      by(value).replaceChildren(...values.map(one => new Option(one, one)));
      if (values.includes(had)) by(value).value = had;
      by(value).disabled = !values.length;
      by(`of-${value}`).hidden = !values.length;
    }
    by("of-group2").hidden = groupings.length < 2 || !(by("group").value || by("group2").value);
  };
  const first = Array.from({ length: Math.min(data.chunk, data.size) }, (_, sample) => record(sample)).find(Boolean);
  const compared = first && ["references", "reference_messages"].some(name => name in first.shared);

  fill("output", data.outputs.map((output, k) => [k, output.label]));
  by("output").value = String(data.start);
  for (const [group] of GROUPS) fill(group, groupings.map(({ key, name }) => [key, name]));
  const others = [...data.systems.keys()].filter(k => !data.pair?.includes(k));
  fill("sort", several
    ? [minus(...data.pair), ...each, ...others.map(k => minus(0, k)), ["spread", "range of all systems"]]
    : [["0", "score"]]);
  fill("sort", [["sample", "sample number"], ...(ratings.all.length ? [["people", "largest disagreement"]] : [])]);
  fill("against", [
    ...(compared ? [["references", "the reference"]] : []),
    ...(several ? each : []),
    ["plain", "nothing"],
  ]);
  // Words of references say nothing of a score that reads none, those of others nothing of claims.
  if ((compared && !data.by_references) || claims.about(data.outputs[data.start].metric).length) by("against").value = "plain";
  fill("system", each);
  if (several) by("system").value = "1";
  const pairs = each.flatMap(([i]) => each.filter(([j]) => i !== j).map(([j]) => [i, ">", j]));
  for (const [i] of each) for (const [j] of each) if (Number(i) < Number(j)) pairs.push([i, "=", j]);
  fill("better", pairs.map(pair => [pair.join(""), ""]));
  by("of-status").hidden = !statuses.size;
  by("of-better").hidden = !several;
  by("of-group").hidden = !groupings.length;
  by("of-against").hidden = by("against").length < 2;
  for (const [group] of GROUPS) by(group).addEventListener("change", () => fillValues(group));
  fillValues();
  const output = () => data.outputs[Number(by("output").value)];
  // Of labels one looks for samples in which one is right; the others have no difference.
  const labelled = () => data.labelled.includes(output().metric);
  if (several && labelled()) by("sort").value = "spread";
  if (data.people?.first) by("sort").value = "people";
  const start = Object.fromEntries(FIELDS.map(name => [name, by(name).value]));

  const bound = id => (by(id).value.trim() === "" ? null : Number(by(id).value));
  const range = () => ({ low: bound("low"), high: bound("high"), below: by("below").value === "1" });

  const has = (sample, query) => {
    if (data.ids && String(data.ids[sample]).toLowerCase() === query) return true;
    const found = record(sample);
    if (found === null) return false;
    // What judges said is searched; what other metrics saw repeats the texts.
    const said = found.steps.flatMap(own => Object.entries(own).filter(([name]) => !data.explaining.includes(name)));
    return [found.said, found.shared, found.own, said].some(part => part && choice.holds(part, query));
  };

  // Whether a sample is shown, by what the form says now; `values` are those of the sorted column.
  const test = values => {
    const query = by("query").value.trim().toLowerCase();
    const status = by("status").value, limits = range();
    const better = by("better").value, isPair = pairs.some(pair => pair.join("") === better);
    const won = isPair ? choice.wins(output(), better) : () => !better;
    const groups = GROUPS.filter(([group]) => by(group).value).map(([group, value]) =>
      [grouping(group) ?? { of: [], values: [] }, by(value).value]);
    const having = ngrams.samples(by("ngram").value);
    return sample => {
      const problem = statuses.get(sample);
      if (status === "ok" ? problem : status !== "all" && !problem?.has(status)) return false;
      if (groups.some(([{ of, values }, value]) => values[of[sample]] !== value)) return false;
      if (having && !having.has(sample)) return false;
      if (values && !choice.inside(values[sample], limits)) return false;
      return won(sample) && (!query || has(sample, query));
    };
  };

  // What a range is of: the column that the samples are sorted by.
  const sorted = () => {
    if (by("sort").value === "sample") return "Range";
    if (by("sort").value === "people") return `disagreement on ${ratings.chosen().name}`;
    const [label, of] = ["output", "sort"].map(id => by(id).selectedOptions[0]?.text);
    return several ? `${label} of ${of}` : label;
  };

  // Where neither more nor less is better, systems are higher or lower.
  const name = () => {
    by("range-of").textContent = sorted();
    if (several) by("sort").querySelector("[value=spread]").text = labelled() ? "one is right" : "range of all systems";
    const word = output().better === "neither" ? "higher than" : "better than";
    pairs.forEach(([i, sign, j], k) => {
      by("better").options[k + 1].text = `${data.systems[i]} ${sign === "=" ? "equal to" : word} ${data.systems[j]}`;
    });
  };

  // A filter that isn't there, as in the address of another report, finds nothing until it is
  // removed; of the other choices the first is taken.
  const set = (name, value) => {
    const field = by(name), known = field.tagName !== "SELECT" || [...field.options].some(one => one.value === value);
    if (!known && value && FILTERS.includes(name)) field.append(new Option(`${value} (not in this report)`, value));
    else if (!known) value = start[name] || field.value;
    field.value = value;
    if (name.startsWith("group")) fillValues(name);
  };
  const clear = (names = FILTERS) => names.forEach(name => set(name, start[name]));

  // A pair that the list of orders lacks, as a chart may choose one, is added.
  const sortBy = key => {
    const [a, b] = key.split("-").map(Number);
    if (b in data.systems && a in data.systems && ![...by("sort").options].some(one => one.value === key)) {
      fill("sort", [minus(a, b)]);
    }
    set("sort", key);
    set("turned", "");
  };
  // A range is one of the column that is sorted by.
  const limit = ({ low = "", high = "", below = false } = {}) => {
    by("low").value = low;
    by("high").value = high;
    by("below").value = below ? "1" : "";
  };

  // The bounds of bars have all their digits, which nobody reads.
  const short = bound => Number(bound.toPrecision(4));

  // The filters that are set: each in words that a reader of a print sees too, and its fields.
  const said = () => {
    const found = [];
    const text = id => by(id).selectedOptions[0]?.text;
    const { low, high, below } = range();
    const tell = (words, ...fields) => found.push({ words, fields });
    if (by("query").value.trim()) tell(`text “${by("query").value.trim()}”`, "query");
    if (by("status").value !== "all") tell(text("status"), "status");
    if (by("better").value) tell(`${text("better")} on ${text("output")}`, "better");
    for (const [group, value] of GROUPS) if (by(group).value) tell(grouping(group) ? `${text(group)} ${text(value)}` : text(group), group, value);
    if (ngrams.said(by("ngram").value)) tell(ngrams.said(by("ngram").value), "ngram");
    const ends = [
      ...(low === null ? [] : [`at least ${short(low)}`]),
      ...(high === null ? [] : [`${below ? "below" : "at most"} ${short(high)}`]),
    ];
    if (by("sort").value !== "sample" && ends.length) tell(`${sorted()} ${ends.join(" and ")}`, ...RANGE);
    return found;
  };

  const write = params => {
    for (const name of FIELDS) {
      if (by(name).value !== start[name] && !by(name).disabled) params.set(name, by(name).value);
    }
  };
  const read = params => {
    if (params.has("sort")) sortBy(params.get("sort"));
    for (const name of FIELDS) set(name, params.get(name) ?? start[name]);
  };

  return { clear, limit, name, output, range, read, said, set, sortBy, test, write };
};
