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
    // A part of an id finds it, unless it is as short as a number.
    const id = data.ids ? String(data.ids[sample]).toLowerCase() : "";
    if (id === query || (query.length > 3 && id.includes(query))) return true;
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
    if (name.startsWith("group")) {
      fillValues(name);
      show(data.systems.findIndex(own => own && value.endsWith(` on ${own}`)));
    }
  };
  // On a phone one system is shown: the one that the order or a group is about.
  const show = system => {
    if (system in data.systems) by("system").value = system;
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
    show(key.split("-")[0]);
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

// The histogram of the column that the samples are sorted by; a bar chooses its range.
const histogram = (() => {
  const WIDTH = 400, HEIGHT = 60;
  const { by, drawn } = steps;
  const short = v => String(Number(v.toPrecision(4)));

  // `pick` takes the exact bounds of a bar, and null for the bar that was chosen already.
  const draw = (values, whole, rows, chosen, pick) => {
    const place = by("histogram");
    const bins = values && choice.bins(values, whole);
    place.parentElement.hidden = !bins;
    if (!bins) return;
    const { edges, all } = bins, shown = bins.counts(Array.from(rows, sample => values[sample]));
    const most = Math.max(...all), bars = all.length;
    const had = [...place.children].indexOf(document.activeElement);
    place.replaceChildren(...all.map((count, k) => {
      const [low, high, last] = [edges[k], edges[k + 1], k === bars - 1];
      const mine = chosen.low === low && chosen.high === high;
      const text = `${count} sample${count === 1 ? "" : "s"} from ${short(low)} to ${short(high)}`;
      const x = k * WIDTH / bars + 1, width = WIDTH / bars - 2;
      const height = n => n ? Math.max(2, n / most * (HEIGHT - 2)) : 0;
      const made = drawn("g", { role: "button", tabindex: 0, "aria-label": text, "aria-pressed": mine, class: "bar" },
        drawn("title", {}, text),
        drawn("rect", { class: "hit", x, y: 0, width, height: HEIGHT }),
        drawn("rect", { class: "all", x, y: HEIGHT - height(count), width, height: height(count) }),
        drawn("rect", { class: "shown", x, y: HEIGHT - height(shown[k]), width, height: height(shown[k]) }));
      const choose = () => pick(mine ? null : { low, high, below: !last });
      made.addEventListener("click", choose);
      made.addEventListener("keydown", event => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
      });
      return made;
    }));
    place.children[had]?.focus();
    by("ends").textContent = `${short(edges[0])} to ${short(edges[bars])}`;
  };

  return { draw };
})();

// The view as an address: a step of the browser's history for each selection, and links to it.
const viewAddress = ({ write, read }) => {
  const LINK = "#view?";
  // What had the focus when a step was left.
  const left = new Map();
  let step = 0, view = "", typing;

  // Typing on in a field, whose id is `how`, and opening samples change the step that is there.
  const remember = how => {
    const now = write(), stays = how === "open" || (how !== undefined && how === typing);
    if (how !== "open") typing = how;
    if (now === view) return;
    view = now;
    const url = view ? LINK + view : "#samples";
    if (stays) return history.replaceState({ step, view }, "", url);
    left.set(step, document.activeElement);
    step += 1;
    history.pushState({ step, view }, "", url);
  };

  const restore = ({ state }) => {
    ({ step, view } = state);
    typing = undefined;
    read(view, false);
    left.get(step)?.focus({ preventScroll: true });
  };
  const follow = () => {
    typing = undefined;
    if (location.hash.startsWith(LINK)) read(location.hash.slice(LINK.length), true);
    view = write();
    history.replaceState({ step, view }, "");
  };

  // A link, or what somebody writes into the address, makes a step that has no view yet.
  addEventListener("popstate", event => {
    if (event.state) return restore(event);
    step += 1;
    follow();
  });
  // A link to where one is already changes nothing by itself.
  addEventListener("click", event => {
    if (event.target.closest?.(`a[href^='${LINK}']`)?.hash === location.hash) follow();
  });

  const start = () => {
    if (history.state) return restore(history);
    read("", false);
    follow();
  };
  return { remember, start };
};

// What one system says that another doesn't: tables of n-grams, of which each lists its samples.
const ngrams = (() => {
  const { by, element, head } = steps;
  const { data } = report;
  const found = data.ngrams;

  const names = ({ pair }, list) => (list % 2 ? [...pair].reverse() : pair).map(k => data.systems[k]);
  const kind = list => ["as a reference does", "where no reference has it"][Math.floor(list / 2)];

  // An n-gram is named by its pair, its list and its place in it: "0.1.3".
  const entry = name => {
    const [pair, list, place] = name.split(".").map(Number);
    const row = found?.pairs[pair]?.lists[list]?.[place];
    return row && { row, list, names: names(found.pairs[pair], list) };
  };
  const samples = name => {
    const one = entry(name);
    if (!one) return name ? new Set() : null;
    let at = 0;
    return new Set(one.row[5].map(step => (at += step)));
  };
  const text = name => entry(name)?.row[0] ?? "";
  const said = name => {
    const one = entry(name);
    if (!one) return name && `n-gram ${name} (not in this report)`;
    const [text, , , , alone, kept] = one.row;
    const part = kept.length < alone ? `the first ${kept.length} of ${alone} samples where ` : "";
    return `${part}${one.names[0]} saying “${text}” ${kind(one.list)} and ${one.names[1]} not so`;
  };

  const table = (pair, list) => {
    const [one, other] = names(found.pairs[pair], list);
    const rows = found.pairs[pair].lists[list];
    const caption = element("caption", "", `More in ${one}`);
    if (!rows.length) return element("div", "", element("p", "none", caption.textContent), element("p", "aside", "No n-gram stands out."));
    const number = text => element("td", "number", String(text));
    const heads = [head("", "n-gram"), ...[one, other, "z"].map(text => head("number", text))];
    const body = rows.map(([text, mine, theirs, z, alone], place) => {
      const button = steps.button(text, undefined, "", `${text}: show ${alone} samples`);
      button.dir = "auto";
      button.dataset.select = JSON.stringify({ ngram: `${pair}.${list}.${place}` });
      return element("tr", "", element("td", "", button), number(mine), number(theirs), number(z.toFixed(1)));
    });
    return element("table", "", caption, element("thead", "", element("tr", "", ...heads)), element("tbody", "", ...body));
  };

  const show = () => {
    const pair = Number(by("ngram-pair").value);
    for (const [k, id] of ["ngrams-matching", "ngrams-unsupported"].entries()) {
      by(id).replaceChildren(table(pair, 2 * k), table(pair, 2 * k + 1));
    }
  };
  if (!found) return { samples, said, text };
  found.pairs.forEach((one, k) => by("ngram-pair").append(new Option(names(one, 0).join(" and "), k)));
  by("ngram-pair").addEventListener("change", show);
  by("of-ngram-pair").hidden = found.pairs.length < 2;
  by("ngrams").hidden = false;
  show();

  return { samples, said, text };
})();
