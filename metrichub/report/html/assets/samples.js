// The samples: a row each with a column a system, sorted and filtered; few are ever in the page.
const samples = (() => {
  const { button, by, element, number } = steps;
  const { data, record } = report;
  const several = data.systems.length > 1;
  const all = Int32Array.from({ length: data.size }, (_, i) => i);
  const state = { rows: all, page: 0, values: null };

  const details = sampleDetails(data);
  const filters = sampleFilters(report);
  const { output } = filters;
  const predicted = predictedLabels(data, details);
  const cells = sampleCells(data, details, output, predicted);
  const narrow = matchMedia("(max-width: 40rem)");
  // An opened sample has the whole id.
  const shortened = id => (id.length > 18 ? `${id.slice(0, 9)}…${id.slice(-8)}` : id);

  // `typed` is the field that one types in.
  let waiting;
  const filter = typed => {
    clearTimeout(waiting);
    arrange();
    turnTo(0, typed);
  };
  const arrange = () => {
    const key = by("sort").value;
    state.values = key === "people" ? ratings.apart(output()) : choice.column(output(), key);
    by("low").disabled = by("high").disabled = !state.values;
    state.pattern = hits.pattern(by("query").value.trim(), ngrams.text(by("ngram").value));
    const down = choice.worstIsHigh(output(), key) !== (by("turned").value === "1");
    state.rows = choice.sorted(all.filter(filters.test(state.values)), state.values, down);
  };

  // The worst come first, then the best.
  const sortBy = key => {
    const turned = by("sort").value === key && !by("turned").value;
    if (by("sort").value !== key) filters.limit();
    filters.sortBy(key);
    by("turned").value = turned ? "1" : "";
    filter();
  };
  // A range isn't one of another output.
  const readBy = (place = -1) => {
    if (!(place in data.outputs) || output() === data.outputs[place]) return;
    filters.set("output", String(place));
    filters.set("turned", "");
    filters.limit();
  };
  const choose = k => {
    if (output() === data.outputs[k]) return sortBy("0");
    readBy(k);
    filters.sortBy("0");
    filter();
  };

  const columns = sampleColumns(data, { narrow, output, predicted, redraw: () => redraw(), sortBy, choose });
  const opened = new Set();
  const toggleOf = sample => by("table").tBodies[0].querySelector(`button[data-sample="${sample}"]`);
  // Below the row of an opened sample stand its details.
  const unfold = sample => {
    const toggle = toggleOf(sample), row = toggle.closest("tr"), found = record(sample), open = opened.has(sample);
    row.classList.toggle("opened", open);
    toggle.setAttribute("aria-expanded", open);
    if (!open) return by(`sample-${sample}`).remove();
    const shown = [sample, found, output(), { systems: columns.systems(), against: by("against").value }];
    const copy = button("Copy as Markdown", made => view.copy(made, details.markdown(...shown)));
    const unseen = [...data.systems.keys()].filter(k => !columns.systems().includes(k));
    const scores = unseen.map(k => `${data.systems[k]} ${number(output().values[k][sample], output().whole)}`).join(" · ");
    const others = scores ? [element("p", "aside unseen", `${output().label} of the other systems: ${scores}`)] : [];
    const made = element("td", "sample", element("div", "", ...details.of(...shown), ...others, element("p", "copy", copy)));
    made.colSpan = row.cells.length;
    const below = element("tr", "", made);
    below.id = `sample-${sample}`;
    let last = row;
    while (last.nextElementSibling?.matches(".under")) last = last.nextElementSibling;
    last.after(below);
  };
  const toggled = sample => {
    if (!opened.delete(sample)) opened.add(sample);
    unfold(sample);
    hits.mark(by("table"), state.pattern);
    address.remember("open");
  };

  // The row of a sample, and those that belong to it.
  const rowsOf = (sample, place) => {
    const found = record(sample), counts = new Map(), pinned = columns.pinned();
    const systems = columns.systems(), judged = claims.of(found, systems, output().metric);
    // What most columns are marked against is counted once.
    const known = others => {
      const key = others.length > 1 ? "" : others[0];
      return counts.get(key) ?? counts.set(key, diff.counted(others)).get(key);
    };
    const id = data.ids ? shortened(String(data.ids[sample])) : String(sample);
    const toggle = button(id, () => toggled(sample), "", `sample ${id}`);
    toggle.setAttribute("aria-expanded", "false");
    toggle.dataset.sample = sample;
    if (data.ids) toggle.title = String(data.ids[sample]);
    toggle.dataset.key = `sample ${sample}`;
    const row = element("tr", "",
      element("td", "given", element("p", "", toggle), ...cells.given(sample, found, state.pattern)),
      ...predicted.reference(output(), found),
      ...systems.map(k => {
        const made = cells.cell(sample, found, k, { known, alone: !several && !narrow.matches, pattern: state.pattern, judged });
        made.classList.toggle("pinned", pinned.includes(k));
        return made;
      }),
      ...columns.numbers().map(([, one]) => element("td", "number", number(one.values[0][sample], one.whole))));
    row.addEventListener("click", event => {
      if (!event.target.closest("a, button") && !getSelection().toString()) {
        toggle.focus({ preventScroll: true });
        toggle.click();
      }
    });
    return [row, ...cells.below(found, systems, judged, columns.numbers().length, place === 0)];
  };

  const size = () => Number(by("rows").value);
  const pages = () => Math.max(1, Math.ceil(state.rows.length / size()));
  // A step of the history, which is made before the page changes its height.
  const turnTo = (page, how) => {
    state.page = Math.min(Math.max(page, 0), pages() - 1);
    opened.clear();
    address.remember(how);
    show();
  };
  const redraw = () => {
    address.remember();
    show();
  };

  const show = () => {
    const start = state.page * size(), part = state.rows.slice(start, start + size());
    const had = document.activeElement.dataset.key;
    by("table").tHead.replaceChildren(columns.header());
    by("table").tBodies[0].replaceChildren(...Array.from(part, rowsOf).flat());
    if (had) by("table").querySelector(`[data-key="${had}"]`)?.focus({ preventScroll: true });
    const say = count => count.toLocaleString("en");
    filters.name();
    by("print").textContent = `Print samples (${part.length})`;
    by("page").textContent = `page ${say(state.page + 1)} of ${say(pages())}`;
    const said = filters.said();
    const range = part.length
      ? `${say(start + 1)} to ${say(start + part.length)} of ${say(state.rows.length)} sample${state.rows.length === 1 ? "" : "s"}`
      : "no samples";
    by("found").replaceChildren(range, ...said.flatMap((one, k) => [k ? ", " : " with ", chip(one, k)]));
    by("means").textContent = said.length && part.length ? means() : "";
    by("clear").hidden = !said.length;
    by("first").disabled = by("previous").disabled = state.page === 0;
    by("next").disabled = by("last").disabled = state.page === pages() - 1;
    histogram.draw(state.values, output().whole && by("sort").value !== "people", state.rows, filters.range(), bar => {
      filters.limit(bar ?? {});
      filter();
    });
    by("legend").replaceChildren(...cells.legend());
    columns.fit();
    for (const sample of opened) toggleOf(sample) ? unfold(sample) : opened.delete(sample);
    hits.mark(by("table"), state.pattern);
    document.dispatchEvent(new Event("samples"));
  };

  // A filter in words, which a click takes back.
  const chip = ({ words, fields }, k) => button(words, () => {
    filters.clear(fields);
    filter();
    const others = by("found").querySelectorAll("button");
    (others[k] ?? others[k - 1] ?? by("query")).focus({ preventScroll: true });
  }, "chip", `${words}: remove`);

  // Of single samples, so that nobody takes them for the scores above.
  const means = () => {
    const of = values => {
      const known = Array.from(state.rows, sample => values[sample]).filter(Number.isFinite);
      return number(known.reduce((sum, v) => sum + v, 0) / known.length, false);
    };
    const told = output().values.map((values, k) => `${several ? `${data.systems[k]} ` : ""}${of(values)}`);
    return `${output().label}, mean of the samples in this selection: ${told.join(" · ")}`;
  };

  // The view is an address: filters, order, page and opened samples.
  const address = viewAddress({
    write: () => {
      const params = new URLSearchParams();
      filters.write(params);
      if (state.page) params.set("page", state.page + 1);
      if (opened.size) params.set("open", [...opened].join(" "));
      return params.toString();
    },
    read: (written, isLink) => {
      const params = new URLSearchParams(written);
      filters.read(params);
      arrange();
      opened.clear();
      for (const sample of (params.get("open") ?? "").split(" ").filter(Boolean).map(Number)) if (sample in all) opened.add(sample);
      const [first] = opened;
      const page = params.has("page") || first === undefined ? Number(params.get("page") ?? 1) - 1 || 0 : pageOf(first);
      state.page = Math.min(Math.max(page, 0), pages() - 1);
      show();
      if (isLink) (toggleOf(first) ?? by("samples")).scrollIntoView();
    },
  });

  // A sample that the filters hide is shown without them.
  const pageOf = sample => {
    if (!state.rows.includes(sample)) {
      filters.clear();
      arrange();
    }
    return Math.floor(state.rows.indexOf(sample) / size());
  };
  const reveal = (sample, place) => {
    readBy(place);
    arrange();
    state.page = pageOf(sample);
    opened.clear();
    opened.add(sample);
    redraw();
    const toggle = toggleOf(sample);
    toggle.focus({ preventScroll: true });
    toggle.scrollIntoView({ block: "start" });
  };

  // What a chart chooses: one sample, or samples of a group, of a range, with an n-gram, or that a system does better.
  // Other filters stay.
  const select = ({ group, value, ngram, better, order, output: place, open, system, pair, low, high }) => {
    if (open !== undefined) return reveal(open, place);
    if (group !== undefined) {
      filters.set("group", group);
      filters.set("value", value);
    }
    if (ngram !== undefined) filters.set("ngram", ngram);
    if (better !== undefined) filters.set("better", better);
    readBy(place);
    if (order) filters.sortBy(order);
    if (pair || low !== undefined) {
      filters.sortBy(pair ? pair.join("-") : String(system ?? 0));
      const most = choice.column(output(), by("sort").value).reduce((a, b) => (b > a ? b : a), -Infinity);
      filters.limit({ low, high, below: high < most });
    }
    filter();
    by("samples-heading").scrollIntoView();
    by("clear").focus({ preventScroll: true });
  };
  const selecting = event => {
    const made = event.target.closest?.("[data-select]");
    if (!made || (event.type === "keydown" && (made.tagName === "BUTTON" || !["Enter", " "].includes(event.key)))) return;
    event.preventDefault();
    // The output of a chart that names none is that of the part it stands in.
    const { metric, output: name = "score" } = made.closest("[data-metric]")?.dataset ?? {};
    const place = data.outputs.findIndex(one => one.metric === metric && one.output === name);
    select({ output: place, ...JSON.parse(made.dataset.select) });
  };
  addEventListener("click", selecting);
  // What is folded opens for who follows a link to it.
  addEventListener("click", ({ target }) => {
    const link = target.closest?.(".links a");
    if (link) by(link.hash.slice(1)).open = true;
  });
  addEventListener("keydown", selecting);

  const PAGES = { first: () => 0, previous: page => page - 1, next: page => page + 1, last: () => Infinity };
  for (const [id, to] of Object.entries(PAGES)) {
    by(id).addEventListener("click", () => {
      turnTo(to(state.page));
      if (by("matrix").getBoundingClientRect().top < 0) by("samples-heading").scrollIntoView();
      // At either end the button that was pressed can't be pressed again.
      if (by(id).disabled) by(state.page ? "previous" : "next").focus();
    });
  }
  by("rows").addEventListener("change", () => turnTo(0));
  by("controls").addEventListener("submit", event => { event.preventDefault(); filter("query"); });
  for (const id of ["status", "better", "group", "value", "group2", "value2"]) by(id).addEventListener("change", () => filter());
  by("against").addEventListener("change", redraw);
  for (const id of ["output", "rating", "sort"]) {
    by(id).addEventListener("change", () => {
      filters.limit();
      filters.sortBy(by("sort").value);
      filter();
    });
  }
  by("turn").addEventListener("click", () => { by("turned").value = by("turned").value ? "" : "1"; filter(); });
  for (const id of ["query", "low", "high"]) {
    by(id).addEventListener("input", () => {
      if (id !== "query") by("below").value = "";
      clearTimeout(waiting);
      waiting = setTimeout(filter, 200, id);
    });
  }
  by("clear").addEventListener("click", () => { filters.clear(); filter(); by("query").focus(); });
  narrow.addEventListener("change", show);
  new ResizeObserver(columns.fit).observe(by("table").parentNode);

  rowKeys(by("table"), opened, step => {
    if (by(step > 0 ? "next" : "previous").disabled) return false;
    turnTo(state.page + step);
    return true;
  });
  view.offer(() => choice.exported(data, state.rows, record));

  for (const id of ["controls", "pages", "legend"]) by(id).hidden = false;
  address.start();
  return { data, number, open: reveal, output };
})();
