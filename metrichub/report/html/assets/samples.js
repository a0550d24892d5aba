"use strict";
// The samples: sorted, filtered and paged from the data in this file; few are ever in the page.
const samples = (() => {
  const { element, own, shown, value } = steps;
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

  const statuses = new Map();
  for (const problems of data.problems) {
    for (const { reasons, samples } of Object.values(problems)) {
      for (const [sample, reason] of Object.entries(samples)) {
        const found = statuses.get(Number(sample)) ?? new Set();
        statuses.set(Number(sample), found.add(reasons[reason][0]));
      }
    }
  }
  const fits = sample => {
    const wanted = by("status").value;
    const found = statuses.get(sample);
    return wanted === "all" || (wanted === "ok" ? !found : Boolean(found?.has(wanted)));
  };

  const holds = (part, query) => typeof part === "string"
    ? part.toLowerCase().includes(query)
    : part !== null && typeof part === "object" && Object.values(part).some(inner => holds(inner, query));
  const matches = (sample, query) => {
    if (!query) return true;
    if (data.ids && String(data.ids[sample]).toLowerCase() === query) return true;
    const found = record(sample);
    return found !== null && (holds(found.said, query) || holds(found.shared, query));
  };

  const filter = () => {
    const query = by("query").value.trim().toLowerCase();
    state.rows = order.filter(sample => fits(sample) && matches(sample, query));
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
    state.sorted = index;
    state.down = down;
    [...by("table").tHead.rows[0].cells].forEach(cell => {
      if (cell.dataset.index === undefined) return;
      const mine = Number(cell.dataset.index) === index;
      cell.setAttribute("aria-sort", mine ? (down ? "descending" : "ascending") : "none");
    });
    sort();
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
    const chosen = data.outputs[Number(by("output").value)];
    state.columns = columnsOf(chosen);
    by("table").tHead.replaceChildren(element("tr", "",
      heading("sample", -1),
      ...(data.ids ? [plain("id")] : []),
      plain("text"),
      ...state.columns.map((found, index) => heading(found.label, index, "number"))));
    const index = several
      ? data.systems.length
      : state.columns.findIndex(found => found.output === chosen);
    sortBy(index, worstDown(index));
  };

  const first = part => Array.isArray(part) ? first(part[0]) : part;
  const short = sample => {
    const found = record(sample);
    if (found === null) return "";
    const { questions, sources, references } = found.shared;
    const part = shown(first(several ? questions ?? sources ?? references ?? found.said : found.said));
    return part.length > 160 ? `${part.slice(0, 160)}…` : part;
  };

  const scores = (sample, metric, system) => data.outputs
    .filter(output => output.metric === metric)
    .map(({ output, values, whole }) => `${output} ${number(values[system][sample], whole)}`)
    .join(" · ");

  const seen = (sample, metric, system, found) => {
    const problem = own(data.problems[system], metric);
    const parts = [element("p", "figures", scores(sample, metric, system))];
    const reason = own(problem?.samples, sample);
    if (reason !== undefined) {
      const [status, why] = problem.reasons[reason];
      parts.push(element("p", "why", `${status === "undefined" ? "unscored" : status}: ${why}`));
    }
    const given = own(found?.steps[system], metric);
    if (given) {
      given.forEach((step, i) => {
        if (given.length > 1) parts.push(element("p", "label", `candidate ${i + 1}`));
        parts.push(...value(step));
      });
    } else if (data.explaining.includes(metric)) {
      parts.push(element("p", "label",
        `This file shows what ${metric} saw in ${data.explained} samples at each end of its scores, and in the first.`));
    }
    return parts;
  };

  // Names of columns and systems are the user's own, and stay as they are.
  const label = text => element("p", "label", text);

  const detail = sample => {
    const found = record(sample);
    const made = [];
    if (found === null) {
      made.push(element("p", "label", `The texts of ${data.kept} samples fit into this file; this one isn't among them.`));
    } else {
      for (const [name, part] of Object.entries(found.shared)) made.push(label(name), ...value(part));
      found.said.forEach((part, system) => {
        if (part === null) return;
        made.push(label(several ? `prediction of ${data.systems[system]}` : "prediction"), ...value(part));
      });
      const columns = Object.entries(data.metadata).filter(([name]) => name !== "id" || !data.ids);
      if (columns.length) {
        const told = ([name, values]) => `${name} ${[values[sample]].flat().map(shown).join(", ")}`;
        made.push(element("p", "figures", columns.map(told).join(" · ")));
      }
      if (!data.texts) made.push(element("p", "label", "The report was made without its texts."));
    }
    for (const metric of new Set(data.outputs.map(output => output.metric))) {
      made.push(element("h3", "", metric));
      data.systems.forEach((name, system) => {
        if (several) made.push(element("h4", "", name));
        made.push(...seen(sample, metric, system, found));
      });
    }
    return made;
  };

  const open = (row, button, sample, width) => {
    if (row.classList.toggle("opened")) {
      const cell = element("td", "sample", element("div", "", ...detail(sample)));
      cell.colSpan = width;
      const made = element("tr", "", cell);
      made.id = `sample-${sample}`;
      row.after(made);
    } else {
      row.nextElementSibling.remove();
    }
    button.setAttribute("aria-expanded", row.classList.contains("opened"));
  };

  const rowOf = sample => {
    const button = element("button", "", String(sample));
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `sample ${sample}`);
    button.dataset.sample = sample;
    const about = element("td", "short", short(sample));
    about.dir = "auto";
    const cells = [
      element("td", "", button),
      ...(data.ids ? [element("td", "", String(data.ids[sample]))] : []),
      about,
      ...state.columns.map(({ values, whole }) => element("td", "number", number(values[sample], whole))),
    ];
    const row = element("tr", "", ...cells);
    button.addEventListener("click", () => open(row, button, sample, cells.length));
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
    by("found").textContent = part.length
      ? `${say(start + 1)} to ${say(start + part.length)} of ${say(state.rows.length)} samples`
      : "no samples";
    by("first").disabled = by("previous").disabled = state.page === 0;
    by("next").disabled = by("last").disabled = state.page === pages - 1;
  };

  // A sample that the filters hide is shown without them.
  const reveal = sample => {
    if (!state.rows.includes(sample)) {
      by("query").value = "";
      by("status").value = "all";
      filter();
    }
    state.page = Math.floor(state.rows.indexOf(sample) / Number(by("rows").value));
    show();
    const button = by("table").tBodies[0].querySelector(`button[data-sample="${sample}"]`);
    button.click();
    button.focus({ preventScroll: true });
    button.scrollIntoView({ block: "start" });
  };

  const turn = to => () => { state.page = to(state.page); show(); };
  by("first").addEventListener("click", turn(() => 0));
  by("previous").addEventListener("click", turn(page => page - 1));
  by("next").addEventListener("click", turn(page => page + 1));
  by("last").addEventListener("click", turn(() => Infinity));
  by("rows").addEventListener("change", turn(() => 0));
  by("status").addEventListener("change", filter);
  by("output").addEventListener("change", choose);
  by("controls").addEventListener("submit", event => { event.preventDefault(); filter(); });
  let waiting;
  by("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 200); });

  data.outputs.forEach((output, i) => by("output").append(new Option(output.label, i)));
  for (const id of ["controls", "pages", "legend"]) by(id).hidden = false;
  choose();
  return { data, number, open: reveal };
})();
