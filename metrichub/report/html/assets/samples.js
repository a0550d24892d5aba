"use strict";
// The samples: a row each with a column a system, sorted and filtered; few are ever in the page.
const samples = (() => {
  const { button, element, number } = steps;
  const by = id => document.getElementById(id);
  const { data, record } = report;
  const several = data.systems.length > 1;
  const all = Int32Array.from({ length: data.size }, (_, i) => i);
  const state = { rows: all, page: 0, values: null };

  const details = sampleDetails(data);
  const filters = sampleFilters(report);
  const { output } = filters;
  const cells = sampleCells(data, details, output);
  const narrow = matchMedia("(max-width: 40rem)");

  const filter = () => {
    const key = by("sort").value;
    state.values = choice.column(output(), key);
    by("low").disabled = by("high").disabled = !state.values;
    const down = choice.worstIsHigh(output(), key) !== (by("turned").value === "1");
    state.rows = choice.sorted(all.filter(filters.test(state.values)), state.values, down);
    state.page = 0;
    show();
  };

  // A range is one of the column that is sorted by. The worst come first, then the best.
  const sortBy = key => {
    const turned = by("sort").value === key && !by("turned").value;
    if (by("sort").value !== key) by("low").value = by("high").value = by("below").value = "";
    filters.sortBy(key);
    by("turned").value = turned ? "1" : "";
    filter();
  };
  const choose = k => {
    if (output() === data.outputs[k]) return sortBy("0");
    by("output").value = String(k);
    by("low").value = by("high").value = by("below").value = by("turned").value = "";
    by("sort").value = "0";
    filter();
  };

  const columns = sampleColumns(data, { narrow, output, redraw: () => redraw(), sortBy, choose });
  const plural = (count, name) => `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;

  const opened = new Set();
  const toggleOf = sample => by("table").tBodies[0].querySelector(`button[data-sample="${sample}"]`);
  const open = (row, toggle, sample) => {
    if (row.classList.toggle("opened")) {
      opened.add(sample);
      const found = record(sample);
      const copy = button("Copy as Markdown", made => view.copy(made, details.markdown(sample, found)));
      const made = element("td", "sample", element("div", "",
        ...details.of(sample, found, output(), { systems: columns.systems(), against: by("against").value }), element("p", "copy", copy)));
      made.colSpan = row.cells.length;
      const below = element("tr", "", made);
      below.id = `sample-${sample}`;
      row.after(below);
    } else {
      opened.delete(sample);
      row.nextElementSibling.remove();
    }
    toggle.setAttribute("aria-expanded", row.classList.contains("opened"));
    remember();
  };

  const rowOf = (sample, level) => {
    const found = record(sample), counts = new Map(), pinned = columns.pinned();
    // What most columns are marked against is counted once.
    const known = others => {
      const key = others.length > 1 ? "" : others[0];
      return counts.get(key) ?? counts.set(key, diff.counted(others)).get(key);
    };
    const toggle = button(String(sample), () => open(row, toggle, sample));
    toggle.setAttribute("aria-expanded", "false");
    toggle.setAttribute("aria-label", `sample ${sample}`);
    toggle.dataset.sample = sample;
    const id = data.ids ? [" ", element("span", "id", String(data.ids[sample]))] : [];
    const row = element("tr", "",
      element("td", "given", element("p", "", toggle, ...id), ...cells.given(found)),
      ...columns.systems().map(k => {
        const made = cells.cell(sample, found, k, { level: level(output().values[k][sample]), known, alone: !several && !narrow.matches });
        made.classList.toggle("pinned", pinned.includes(k));
        return made;
      }),
      ...columns.numbers().map(([, one]) => element("td", "number", number(one.values[0][sample], one.whole))));
    row.addEventListener("click", event => {
      if (!event.target.closest("a, button") && !getSelection().toString()) toggle.click();
    });
    return row;
  };

  const show = () => {
    const size = Number(by("rows").value);
    const pages = Math.max(1, Math.ceil(state.rows.length / size));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const start = state.page * size, part = state.rows.slice(start, start + size);
    const level = output().level ??= choice.levels(output());
    const had = document.activeElement.dataset.key;
    by("table").tHead.replaceChildren(columns.header());
    if (had) by("table").querySelector(`[data-key="${had}"]`)?.focus();
    by("table").tBodies[0].replaceChildren(...Array.from(part, sample => rowOf(sample, level)));
    const say = count => count.toLocaleString("en");
    by("page").textContent = `page ${say(state.page + 1)} of ${say(pages)}`;
    const said = filters.said();
    const range = part.length
      ? `${say(start + 1)} to ${say(start + part.length)} of ${plural(state.rows.length, "sample")}`
      : "no samples";
    by("found").textContent = said.length ? `${range} with ${said.join(", ")}` : range;
    by("means").textContent = said.length && part.length ? means() : "";
    by("clear").hidden = !said.length;
    by("first").disabled = by("previous").disabled = state.page === 0;
    by("next").disabled = by("last").disabled = state.page === pages - 1;
    histogram.draw(state.values, output().whole, state.rows, filters.range(), bar => {
      by("low").value = bar?.low ?? "";
      by("high").value = bar?.high ?? "";
      by("below").value = bar?.below ? "1" : "";
      filter();
    });
    filters.name();
    by("legend").replaceChildren(...cells.legend());
    columns.fit();
    opened.clear();
    remember();
  };

  // The same rows in another form: what is open stays open.
  const redraw = () => {
    const was = [...opened];
    show();
    for (const sample of was) toggleOf(sample)?.click();
  };

  // Of single samples, so that nobody takes them for the scores above.
  const means = () => {
    const of = values => {
      const known = Array.from(state.rows, sample => values[sample]).filter(Number.isFinite);
      return number(known.reduce((sum, v) => sum + v, 0) / known.length, false);
    };
    const told = output().values.map((values, k) => `${several ? `${data.systems[k]} ` : ""}${of(values)}`);
    return `${output().label}, mean of the samples in this selection: ${told.join(" · ")}`;
  };

  // The view is the address: filters, order, page and opened samples.
  const remember = () => {
    if (!state.ready) return;
    const params = new URLSearchParams();
    filters.write(params);
    if (state.page) params.set("page", state.page + 1);
    if (opened.size) params.set("open", [...opened].join(" "));
    const said = params.toString();
    if (said || location.hash.startsWith("#view?")) history.replaceState(null, "", said ? `#view?${said}` : "#samples");
  };
  const recall = () => {
    if (!location.hash.startsWith("#view?")) return false;
    const params = new URLSearchParams(location.hash.slice("#view?".length));
    filters.read(params);
    filter();
    state.page = Number(params.get("page") ?? 1) - 1 || 0;
    const wanted = (params.get("open") ?? "").split(" ").filter(Boolean).map(Number).filter(k => k in all);
    if (!params.has("page") && wanted.length) turnTo(wanted[0]);
    show();
    for (const sample of wanted) toggleOf(sample)?.click();
    (wanted.length ? toggleOf(wanted[0]) ?? by("samples") : by("samples")).scrollIntoView();
    return true;
  };

  // A sample that the filters hide is shown without them.
  const turnTo = sample => {
    if (!state.rows.includes(sample)) {
      filters.clear();
      filter();
    }
    state.page = Math.floor(state.rows.indexOf(sample) / Number(by("rows").value));
  };
  const reveal = sample => {
    turnTo(sample);
    show();
    const toggle = toggleOf(sample);
    toggle.click();
    toggle.focus({ preventScroll: true });
    toggle.scrollIntoView({ block: "start" });
  };

  // What a chart chooses: samples of a group, of a range, or with an n-gram.
  const select = ({ group, value, output: chosenOutput, system, pair, low = "", high = "", ngram = "" }) => {
    filters.clear();
    if (group !== undefined) {
      filters.set("group", group);
      filters.set("value", value);
    }
    if (chosenOutput !== undefined) {
      filters.set("output", String(chosenOutput));
      filters.sortBy(pair ? pair.join("-") : String(system ?? 0));
      const most = choice.column(output(), by("sort").value).reduce((a, b) => (b > a ? b : a), -Infinity);
      by("low").value = low;
      by("high").value = high;
      by("below").value = high !== "" && high < most ? "1" : "";
    }
    by("ngram").value = ngram;
    filter();
    by("samples-heading").scrollIntoView();
    by("clear").focus({ preventScroll: true });
  };
  const selecting = event => {
    const made = event.target.closest?.("[data-select]");
    if (!made || (event.type === "keydown" && (made.tagName === "BUTTON" || !["Enter", " "].includes(event.key)))) return;
    event.preventDefault();
    select(JSON.parse(made.dataset.select));
  };
  addEventListener("click", selecting);
  addEventListener("keydown", selecting);

  const turn = to => () => { state.page = to(state.page); show(); };
  by("first").addEventListener("click", turn(() => 0));
  by("previous").addEventListener("click", turn(page => page - 1));
  by("next").addEventListener("click", turn(page => page + 1));
  by("last").addEventListener("click", turn(() => Infinity));
  by("rows").addEventListener("change", turn(() => 0));
  by("controls").addEventListener("submit", event => { event.preventDefault(); filter(); });
  for (const id of ["status", "better", "group", "value", "group2", "value2"]) by(id).addEventListener("change", filter);
  by("against").addEventListener("change", redraw);
  for (const id of ["output", "sort"]) {
    by(id).addEventListener("change", () => {
      by("low").value = by("high").value = by("below").value = by("turned").value = "";
      filter();
    });
  }
  by("turn").addEventListener("click", () => { by("turned").value = by("turned").value ? "" : "1"; filter(); });
  let waiting;
  for (const id of ["query", "low", "high"]) {
    by(id).addEventListener("input", () => {
      if (id !== "query") by("below").value = "";
      clearTimeout(waiting);
      waiting = setTimeout(filter, 200);
    });
  }
  by("clear").addEventListener("click", () => { filters.clear(); filter(); by("query").focus(); });
  const fit = () => { by("more").open = !narrow.matches; };
  fit();
  narrow.addEventListener("change", () => { fit(); redraw(); });
  new ResizeObserver(columns.fit).observe(by("table").parentNode);

  rowKeys(by("table"), step => {
    if (by(step > 0 ? "next" : "previous").disabled) return false;
    turn(page => page + step)();
    return true;
  });
  view.offer(() => choice.exported(data, state.rows, record));

  for (const id of ["controls", "pages", "legend"]) by(id).hidden = false;
  if (!recall()) filter();
  state.ready = true;
  addEventListener("hashchange", recall);
  // A link to where one is already changes nothing by itself.
  addEventListener("click", event => {
    if (event.target.closest?.("a[href^='#view?']")?.hash === location.hash) recall();
  });
  return { data, number, open: reveal };
})();
