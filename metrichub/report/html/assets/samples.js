"use strict";
// The samples: sorted, filtered and paged from the data in this file; few are ever in the page.
const samples = (() => {
  const { element, shown } = steps;
  const by = id => document.getElementById(id);
  const read = id => JSON.parse(by(id).textContent);
  const data = read("data");
  const several = data.systems.length > 1;
  const order = Int32Array.from({ length: data.size }, (_, i) => i);
  const state = { columns: [], sorted: 0, down: false, page: 0, rows: order.slice() };

  const chunks = new Map();
  const record = sample => {
    const number = Math.floor(sample / data.chunk);
    if (!chunks.has(number)) chunks.set(number, read(`samples-${number}`));
    return chunks.get(number)[sample % data.chunk];
  };

  for (const output of data.outputs) {
    output.label = output.output === "score" ? output.metric : `${output.metric} ${output.output}`;
    output.values = output.values.map(list => Float64Array.from(list, v => v === null ? NaN : Number(v)));
    output.whole = output.values.every(list => list.every(v => Number.isNaN(v) || Number.isInteger(v)));
  }

  const number = (v, whole) => Number.isFinite(v) && !whole ? v.toFixed(4) : shown(v);

  // Columns of numbers: one a metric for one system; for several one a system, and differences.
  const column = (label, output, values) => ({ label, values, better: output.better, whole: output.whole });
  const columnsOf = chosen => {
    if (!several) {
      const main = data.outputs.filter(output => output.output === "score" || output === chosen);
      return main.map(output => ({ ...column(output.label, output, output.values[0]), output }));
    }
    const [first, ...others] = chosen.values;
    return [
      ...chosen.values.map((values, i) => column(data.systems[i], chosen, values)),
      ...others.map((values, i) => {
        const name = `${data.systems[i + 1]} − ${data.systems[0]}`;
        return column(name, chosen, values.map((v, sample) => v - first[sample]));
      }),
    ];
  };

  const details = sampleDetails(data, number);
  data.outputs.forEach((output, i) => by("output").append(new Option(output.label, i)));
  const filters = sampleFilters(data, record);
  const output = () => data.outputs[Number(by("output").value)];

  const filter = () => {
    state.rows = order.filter(filters.test(output(), state.columns[state.sorted]?.values));
    sort();
  };

  // Unscored samples come last, whatever the direction; equal ones keep their order.
  const sort = () => {
    const chosen = state.columns[state.sorted];
    const sign = state.down ? -1 : 1;
    const compare = (a, b) => {
      if (!chosen) return sign * (a - b);
      const [x, y] = [chosen.values[a], chosen.values[b]];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return (x === y ? 0 : sign * (x < y ? -1 : 1)) || a - b;
    };
    state.rows.sort(compare);
    state.page = 0;
    show();
  };

  // The first click shows the worst first, the next one the best.
  const worstDown = index => state.columns[index]?.better === "lower";
  const sortBy = (index, down) => {
    // A range is one of the column that is sorted by.
    if (index !== state.sorted) by("low").value = by("high").value = "";
    state.sorted = index;
    state.down = down;
    [...by("table").tHead.rows[0].cells].forEach(cell => {
      if (cell.dataset.index === undefined) return;
      const mine = Number(cell.dataset.index) === index;
      cell.setAttribute("aria-sort", mine ? (down ? "descending" : "ascending") : "none");
    });
    const chosen = state.columns[index];
    by("range-of").textContent = chosen && several ? `${output().label} of ${chosen.label}` : chosen?.label ?? "Score";
    by("low").disabled = by("high").disabled = !chosen;
    filter();
  };

  const heading = (label, index, className) => {
    const button = element("button", "", label);
    button.type = "button";
    button.addEventListener("click", () =>
      sortBy(index, state.sorted === index ? !state.down : worstDown(index)));
    const cell = element("th", className, button);
    cell.scope = "col";
    cell.dataset.index = index;
    return cell;
  };

  const plain = label => {
    const cell = element("th", "", label);
    cell.scope = "col";
    return cell;
  };

  const choose = () => {
    const chosen = output();
    filters.name(chosen);
    state.columns = columnsOf(chosen);
    by("table").tHead.replaceChildren(element("tr", "",
      heading("sample", -1),
      ...(data.ids ? [plain("id")] : []),
      plain(several ? "outputs" : "text"),
      ...state.columns.map((found, index) => heading(found.label, index, "number"))));
    sortBy(...opening());
  };

  // The worst first; of several systems, where the second loses most.
  const opening = () => {
    const index = several
      ? data.systems.length
      : state.columns.findIndex(found => found.output === output());
    return [index, worstDown(index)];
  };

  // What a user asked and the systems said; where nothing was kept of that, what they were given.
  const short = sample => {
    const found = record(sample);
    if (found === null) return [];
    const shortened = (part, most) => {
      const text = details.first(part);
      return text.length > most ? `${text.slice(0, most)}…` : text;
    };
    const line = (className, ...parts) => {
      const made = element("span", className, ...parts);
      made.dir = "auto";
      return made;
    };
    const messages = data.systems.map((_, system) => details.messagesOf(found, system));
    const asked = messages.filter(Boolean).slice(0, 1)
      .map(own => line("asked", shortened(conversation.asked(own), 160)));
    const answered = found.said.flatMap((prediction, system) => {
      const part = prediction ?? (messages[system] && conversation.answered(messages[system]));
      if (part === null) return [];
      const name = several ? [element("b", "", data.systems[system]), " "] : [];
      return system < 3 ? [line("said", ...name, shortened(part, several ? 110 : 160))] : [];
    });
    return answered.length ? [...asked, ...answered] : [shortened(Object.values(found.shared)[0] ?? "", 160)];
  };

  const button = (text, does) => {
    const made = element("button", "", text);
    made.type = "button";
    made.addEventListener("click", () => does(made));
    return made;
  };

  const opened = new Set();
  const open = (row, toggle, sample, width) => {
    if (row.classList.toggle("opened")) {
      opened.add(sample);
      const found = record(sample);
      const copy = button("Copy as Markdown", made => view.copy(made, details.markdown(sample, found)));
      const cell = element("td", "sample",
        element("div", "", ...details.of(sample, found, output()), element("p", "copy", copy)));
      cell.colSpan = width;
      const made = element("tr", "", cell);
      made.id = `sample-${sample}`;
      row.after(made);
    } else {
      opened.delete(sample);
      row.nextElementSibling.remove();
    }
    toggle.setAttribute("aria-expanded", row.classList.contains("opened"));
    remember();
  };

  const rowOf = sample => {
    const toggle = button(String(sample), () => open(row, toggle, sample, cells.length));
    toggle.setAttribute("aria-expanded", "false");
    toggle.setAttribute("aria-label", `sample ${sample}`);
    toggle.dataset.sample = sample;
    const about = element("td", "short", ...short(sample));
    about.dir = "auto";
    const cells = [
      element("td", "", toggle),
      ...(data.ids ? [element("td", "", String(data.ids[sample]))] : []),
      about,
      ...state.columns.map(({ values, whole }) => element("td", "number", number(values[sample], whole))),
    ];
    const row = element("tr", "", ...cells);
    return row;
  };

  const show = () => {
    const size = Number(by("rows").value);
    const pages = Math.max(1, Math.ceil(state.rows.length / size));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const start = state.page * size;
    const part = state.rows.slice(start, start + size);
    by("table").tBodies[0].replaceChildren(...Array.from(part, rowOf));
    const say = count => count.toLocaleString("en");
    by("page").textContent = `page ${say(state.page + 1)} of ${say(pages)}`;
    const said = filters.said();
    const range = part.length
      ? `${say(start + 1)} to ${say(start + part.length)} of ${say(state.rows.length)} samples`
      : "no samples";
    by("found").textContent = said.length ? `${range} with ${said.join(", ")}` : range;
    by("means").textContent = said.length && part.length ? means() : "";
    by("clear").hidden = !said.length;
    by("first").disabled = by("previous").disabled = state.page === 0;
    by("next").disabled = by("last").disabled = state.page === pages - 1;
    histogram.draw(state.columns[state.sorted], state.rows, [by("low").value, by("high").value]);
    opened.clear();
    remember();
  };

  // Of single samples, so that nobody takes them for the scores above.
  const means = () => {
    const of = values => {
      const known = Array.from(state.rows, sample => values[sample]).filter(Number.isFinite);
      return number(known.reduce((sum, v) => sum + v, 0) / known.length, false);
    };
    const chosen = output();
    const told = chosen.values.map((values, k) => `${several ? `${data.systems[k]} ` : ""}${of(values)}`);
    return `${chosen.label}, mean of the samples in this selection: ${told.join(" · ")}`;
  };

  // The view is the address: filters, order, page and opened samples.
  const remember = () => {
    if (!state.ready) return;
    const params = new URLSearchParams();
    filters.write(params);
    const [start, down] = opening();
    if (state.sorted !== start || state.down !== down) {
      params.set("sort", state.sorted);
      params.set("down", Number(state.down));
    }
    if (state.page) params.set("page", state.page + 1);
    if (opened.size) params.set("open", [...opened].join(" "));
    const said = params.toString();
    const now = location.hash.startsWith("#view?");
    if (said || now) history.replaceState(null, "", said ? `#view?${said}` : "#samples");
  };

  const recall = () => {
    if (!location.hash.startsWith("#view?")) return false;
    const params = new URLSearchParams(location.hash.slice("#view?".length));
    filters.read(params);
    const [low, high] = [by("low").value, by("high").value];
    choose();
    const index = Number(params.get("sort") ?? NaN);
    if (index >= -1 && index < state.columns.length) sortBy(index, params.get("down") === "1");
    [by("low").value, by("high").value] = [low, high];
    filter();
    state.page = Number(params.get("page") ?? 1) - 1 || 0;
    show();
    for (const sample of (params.get("open") ?? "").split(" ").filter(Boolean)) {
      by("table").tBodies[0].querySelector(`button[data-sample="${Number(sample)}"]`)?.click();
    }
    by("samples").scrollIntoView();
    return true;
  };

  // A sample that the filters hide is shown without them.
  const reveal = sample => {
    if (!state.rows.includes(sample)) {
      filters.clear();
      filter();
    }
    state.page = Math.floor(state.rows.indexOf(sample) / Number(by("rows").value));
    show();
    const toggle = by("table").tBodies[0].querySelector(`button[data-sample="${sample}"]`);
    toggle.click();
    toggle.focus({ preventScroll: true });
    toggle.scrollIntoView({ block: "start" });
  };

  const turn = to => () => { state.page = to(state.page); show(); };
  by("first").addEventListener("click", turn(() => 0));
  by("previous").addEventListener("click", turn(page => page - 1));
  by("next").addEventListener("click", turn(page => page + 1));
  by("last").addEventListener("click", turn(() => Infinity));
  by("rows").addEventListener("change", turn(() => 0));
  by("output").addEventListener("change", choose);
  by("controls").addEventListener("submit", event => { event.preventDefault(); filter(); });
  for (const id of ["status", "better", "column", "value"]) by(id).addEventListener("change", filter);
  let waiting;
  for (const id of ["query", "low", "high", "shortest", "longest"]) {
    by(id).addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 200); });
  }
  by("clear").addEventListener("click", () => { filters.clear(); filter(); by("query").focus(); });

  // The chosen samples as a file: what the list shows, with the texts.
  const rowsOf = () => Array.from(state.rows, sample => {
    const found = record(sample);
    const scores = Object.fromEntries(data.outputs.flatMap(one => data.systems.map((system, k) =>
      [several ? `${system}.${one.metric}.${one.output}` : `${one.metric}.${one.output}`, Number.isFinite(one.values[k][sample]) ? one.values[k][sample] : null])));
    const metadata = Object.fromEntries(Object.entries(data.metadata).map(([name, values]) => [name, values[sample]]));
    const said = Object.fromEntries(data.systems.map((system, k) => [several ? `${system}.prediction` : "prediction", found?.said[k] ?? null]));
    const messages = Object.fromEntries((found?.messages ?? []).map((own, k) => [`${data.systems[k]}.messages`, own]));
    return { sample, ...(data.ids ? { id: data.ids[sample] } : {}), ...metadata, ...(found?.shared ?? {}), ...messages, ...said, ...scores };
  });
  view.offer(rowsOf);
  histogram.onPick((low, high) => { by("low").value = low; by("high").value = high; filter(); });

  ngrams.onPick(name => {
    filters.clear();
    by("ngram").value = name;
    filter();
    by("samples-heading").scrollIntoView();
    by("clear").focus({ preventScroll: true });
  });

  for (const id of ["controls", "pages", "legend"]) by(id).hidden = false;
  if (!recall()) choose();
  state.ready = true;
  addEventListener("hashchange", recall);
  return { data, number, open: reveal };
})();
