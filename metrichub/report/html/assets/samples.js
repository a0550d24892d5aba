"use strict";
// The samples: a row each with a column a system, sorted and filtered; few are ever in the page.
const samples = (() => {
  const { element, number } = steps;
  const by = id => document.getElementById(id);
  const { data, record } = report;
  const several = data.systems.length > 1;
  const all = Int32Array.from({ length: data.size }, (_, i) => i);
  const state = { rows: all, page: 0, values: null };
  const SYSTEMS = 10, ASKED = 240;

  const details = sampleDetails(data);
  const filters = sampleFilters(report);
  const { output } = filters;
  const narrow = matchMedia("(max-width: 40rem)");

  const button = (text, does, className = "") => {
    const made = element("button", className, text);
    made.type = "button";
    made.addEventListener("click", () => does(made));
    return made;
  };

  // Pinned systems come first; on a phone there is one.
  const listed = id => by(id).value.split(" ").filter(Boolean).map(Number).filter(k => k in data.systems);
  const chosen = () => (by("columns").value ? listed("columns") : [...data.systems.keys()].slice(0, SYSTEMS));
  const systems = () => {
    if (several && narrow.matches) return [Number(by("system").value)];
    const pinned = listed("pinned");
    return [...pinned, ...chosen().filter(k => !pinned.includes(k))];
  };

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

  const pin = k => {
    const pinned = listed("pinned");
    by("pinned").value = (pinned.includes(k) ? pinned.filter(one => one !== k) : [...pinned, k]).join(" ");
    redraw();
  };

  const head = (className, sorted, ...parts) => {
    const cell = element("th", className, ...parts);
    cell.scope = "col";
    const down = choice.worstIsHigh(output(), by("sort").value) !== (by("turned").value === "1");
    cell.setAttribute("aria-sort", sorted ? (down ? "descending" : "ascending") : "none");
    return cell;
  };
  // Of one system the other metrics have columns of numbers.
  const numbers = () => (several || narrow.matches ? [] : [...data.outputs.entries()]
    .filter(([, one]) => one.output === "score" || one === output()));
  // The head is drawn again with the rows, and keeps the focus by a button's key.
  const keyed = (key, text, does) => {
    const made = button(text, does);
    made.dataset.key = key;
    return made;
  };
  const header = () => {
    const sort = by("sort").value, pinned = listed("pinned");
    const system = k => {
      const made = head(pinned.includes(k) ? "cell pinned" : "cell", sort === String(k), keyed(k, data.systems[k], () => sortBy(String(k))));
      if (narrow.matches) return made;
      const hold = keyed(`pin ${k}`, "pin", () => pin(k));
      hold.className = "pin";
      hold.setAttribute("aria-label", `pin ${data.systems[k]}`);
      hold.setAttribute("aria-pressed", pinned.includes(k));
      made.append(" ", hold);
      return made;
    };
    return element("tr", "",
      head("given", sort === "sample", keyed("sample", "sample", () => sortBy("sample"))),
      ...(several ? systems().map(system) : [element("th", "cell", "output")]),
      ...numbers().map(([k, one]) => head("number", one === output() && sort === "0", keyed(k, one.label, () => choose(k)))));
  };

  const line = (className, ...parts) => {
    const made = element("p", className, ...parts);
    made.dir = "auto";
    return made;
  };
  const short = text => (text.length > ASKED ? `${text.slice(0, ASKED).replace(/[\ud800-\udbff]$/, "")}…` : text);

  // What the systems were asked or given, and the reference.
  const about = (sample, found) => {
    if (found === null) return [];
    const { references: _, messages = found.messages?.find(Boolean), ...given } = found.shared;
    const name = ["questions", "sources"].find(one => one in given) ?? Object.keys(given)[0];
    const [label, asked] = messages ? ["user", conversation.asked(messages)] : [name, details.first(given[name])];
    const references = details.references(found), more = references.length - 1;
    return [
      ...(asked ? [line("asked", element("span", "label", `${label} `), short(asked))] : []),
      ...(references.length ? [line("reference", element("span", "label", more ? `reference 1 of ${more + 1} ` : "reference "), short(references[0]))] : []),
    ];
  };

  const signed = (v, whole) => (v === 0 ? "±0" : (v > 0 ? "+" : "") + number(v, whole).replace("-", "−"));
  const plural = (count, name) => `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;

  // A system's score and how it stands to the others, then its text.
  const cell = (sample, found, system, level, known) => {
    const { values, whole } = output(), score = values[system][sample], against = by("against").value;
    const notes = [];
    if (system && !Number.isNaN(score - values[0][sample])) notes.push(signed(score - values[0][sample], whole));
    const said = found ? details.texts(found, system) : [], read = details.answerLines(sample, system);
    const others = details.others(found, system, against), parts = [];
    if (said.length) {
      const text = said[0], equal = others?.includes(text);
      if (equal) notes.push(`= ${details.againstName(against)}`);
      const marks = !equal && others?.length && !read.length ? known(others) : null;
      const { made, whole: complete } = reading.start(text, marks, several ? 320 : 640);
      if (marks && others.length === 1) {
        const lacking = diff.missing(text.slice(0, 20_000), marks);
        if (lacking) notes.push(`${lacking}\u00a0missing`);
      }
      parts.push(...read, made);
      const more = [complete ? "" : `… all ${text.length.toLocaleString("en")} characters`, said.length > 1 ? `${plural(said.length, "text")}` : ""];
      for (const one of more.filter(Boolean)) {
        const open = button(one, () => toggleOf(sample).click(), "more");
        open.tabIndex = -1;
        parts.push(open);
      }
    } else if (found === null) parts.push(line("label", "The text isn't in this file."));
    const made = element("td", `cell${listed("pinned").includes(system) ? " pinned" : ""}`,
      line("figures", ...(several || narrow.matches ? [element("b", "", number(score, whole)), " "] : []), notes.join(" · ")), ...parts);
    if (level !== null) made.classList.add(`tint-${level}`);
    return made;
  };

  const opened = new Set();
  const toggleOf = sample => by("table").tBodies[0].querySelector(`button[data-sample="${sample}"]`);
  const open = (row, toggle, sample) => {
    if (row.classList.toggle("opened")) {
      opened.add(sample);
      const found = record(sample);
      const copy = button("Copy as Markdown", made => view.copy(made, details.markdown(sample, found)));
      const made = element("td", "sample", element("div", "",
        ...details.of(sample, found, output(), { systems: systems(), against: by("against").value }), element("p", "copy", copy)));
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
    const found = record(sample), counts = new Map();
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
      element("td", "given", element("p", "", toggle, ...id), ...about(sample, found)),
      ...systems().map(k => cell(sample, found, k, level(output().values[k][sample]), known)),
      ...numbers().map(([, one]) => element("td", "number", number(one.values[0][sample], one.whole))));
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
    const level = choice.levels(output());
    const had = document.activeElement.dataset.key;
    by("table").tHead.replaceChildren(header());
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
    legend();
    columns();
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

  const legend = () => {
    const against = by("against").value, { better, label } = output();
    const [low, high] = better === "neither" ? ["lowest", "highest"] : ["worst", "best"];
    const where = against === "references" ? "no reference has" : `${data.systems[against]} doesn't have`;
    by("legend").replaceChildren(
      `Colour: the fifth of all ${label} scores that a score is in, from the `, element("span", "tint-0", low), " to the ",
      element("span", "tint-4", high), several ? `; signed numbers are differences from ${data.systems[0]}. ` : ". ",
      ...(against === "plain" ? [] : [element("mark", "extra", `Words that ${where}`), ` are underlined; “missing” counts those of ${against === "references" ? "the reference" : data.systems[against]} that a text lacks. `]),
      "Enter opens a sample; j and k, or the arrow keys, go from one to the next.");
  };

  // Which systems are columns, and whether some of them are out of sight.
  const columns = () => {
    const shown = chosen(), wide = by("table").parentNode;
    by("of-systems").hidden = data.systems.length < 3 || narrow.matches;
    by("of-systems").firstElementChild.textContent = `Columns: ${shown.length} of ${data.systems.length} systems`;
    for (const box of by("boxes").querySelectorAll("input")) {
      box.checked = shown.includes(Number(box.value));
      box.disabled = box.checked ? shown.length === 1 : shown.length >= SYSTEMS;
    }
    by("of-system").hidden = !several || !narrow.matches;
    by("wider").hidden = narrow.matches || wide.scrollWidth <= wide.clientWidth;
    let left = 0;
    for (const cell of by("table").tHead.rows[0].cells) {
      if (!cell.matches(".given, .pinned")) continue;
      for (const row of by("table").querySelectorAll("tr:not([id])")) row.cells[cell.cellIndex].style.left = `${left}px`;
      left += cell.offsetWidth;
    }
  };
  by("boxes").append(...data.systems.map((name, k) => {
    const box = element("input", "");
    [box.type, box.value] = ["checkbox", k];
    box.addEventListener("change", () => {
      by("columns").value = chosen().filter(one => one !== k).concat(box.checked ? [k] : []).sort((a, b) => a - b).join(" ");
      redraw();
    });
    return element("label", "", box, ` ${name}`);
  }));

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

  // j, k and the arrows go from row to row and on to the next page; Escape closes a sample.
  const step = by_ => {
    const toggles = [...by("table").querySelectorAll("button[data-sample]")];
    const row = document.activeElement.closest("#table tbody tr");
    const at = toggles.indexOf((row?.id ? row.previousElementSibling : row)?.querySelector("[data-sample]"));
    let next = toggles[at + by_];
    if (!next && at >= 0 && !by(by_ > 0 ? "next" : "previous").disabled) {
      turn(page => page + by_)();
      next = [...by("table").querySelectorAll("button[data-sample]")].at(by_ > 0 ? 0 : -1);
    }
    next?.focus();
    next?.closest("tr").scrollIntoView({ block: "nearest" });
  };
  const MOVES = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
  addEventListener("keydown", event => {
    const { target, key } = event, place = target.closest?.("#table tbody");
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches?.("input, select, textarea")) return;
    if (key === "Escape" && place) {
      const row = target.closest("tr[id]")?.previousElementSibling ?? target.closest("tr.opened");
      const toggle = row?.querySelector("[data-sample]");
      toggle?.click();
      toggle?.focus();
    } else if (key in MOVES && (key.length === 1 || target.matches?.("[data-sample]"))) {
      event.preventDefault();
      step(MOVES[key]);
    }
  });

  const turn = to => () => { state.page = to(state.page); show(); };
  by("first").addEventListener("click", turn(() => 0));
  by("previous").addEventListener("click", turn(page => page - 1));
  by("next").addEventListener("click", turn(page => page + 1));
  by("last").addEventListener("click", turn(() => Infinity));
  by("rows").addEventListener("change", turn(() => 0));
  by("controls").addEventListener("submit", event => { event.preventDefault(); filter(); });
  for (const id of ["status", "better", "group", "value", "group2", "value2"]) by(id).addEventListener("change", filter);
  for (const id of ["against", "system"]) by(id).addEventListener("change", redraw);
  for (const id of ["output", "sort"]) {
    by(id).addEventListener("change", () => {
      by("low").value = by("high").value = by("below").value = by("turned").value = "";
      filter();
    });
  }
  by("turn").addEventListener("click", () => { by("turned").value = by("turned").value ? "" : "1"; filter(); });
  for (const [id, by_] of [["system-before", -1], ["system-after", 1]]) {
    by(id).addEventListener("click", () => {
      by("system").value = String((Number(by("system").value) + by_ + data.systems.length) % data.systems.length);
      redraw();
    });
  }
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
  new ResizeObserver(columns).observe(by("table").parentNode);

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

  for (const id of ["controls", "pages", "legend"]) by(id).hidden = false;
  if (!recall()) filter();
  state.ready = true;
  addEventListener("hashchange", recall);
  return { data, number, open: reveal };
})();
