// The cells of a sample's row: what was given, and each system's score and text with its marks.
const sampleCells = (data, details, output, predicted) => {
  const { by, element, number } = steps;
  const several = data.systems.length > 1;
  const COUNTED = 20_000, JUDGED = 1000, [GIVEN, SAID] = several ? [110, 200] : [240, 640];

  const line = (className, ...parts) => {
    const made = element("p", className, ...parts);
    made.dir = "auto";
    return made;
  };
  // What is cut or left out is in the opened sample, which the keyboard opens by its number.
  const more = text => {
    const made = steps.button(text, () => made.closest("tr").querySelector("[data-sample]").click(), "more");
    made.tabIndex = -1;
    return made;
  };
  const all = text => `… all ${text.length.toLocaleString("en")} characters`;

  // What the systems were asked or given, and the reference.
  const given = (sample, found, pattern) => {
    if (found === null) return [];
    if (predicted.are(output())) return predicted.text(sample, found, GIVEN, pattern);
    const { references: _, messages = found.own?.map(own => own.messages).find(Boolean), ...columns } = found.shared;
    const [, evidence] = claims.about(output().metric);
    const name = ["questions", "sources", ...Object.keys(columns)].find(one => one in columns && one !== evidence);
    const [label, asked] = messages ? ["user", conversation.asked(messages)] : [name, details.first(columns[name])];
    const references = calls.of(found) || evidence === "references" ? [] : details.references(found);
    const which = references.length > 1 ? `reference 1 of ${references.length}` : "reference";
    const parts = [["asked", label, asked], ["reference", which, references[0]]];
    const beside = several ? [] : ratings.lines(output(), sample, 0);
    return beside.concat(parts.filter(([, , text]) => text).flatMap(([className, name, text]) => {
      const { made, whole } = reading.part(text, null, GIVEN, pattern);
      made.classList.add(className);
      // The label doesn't give the text its direction.
      made.replaceChildren(element("span", "label", `${name} `), element("bdi", "", ...made.childNodes));
      return whole ? [made] : [made, more(all(text))];
    }));
  };

  // A system's score and how it stands to the others, then its text; `known` counts the words of
  // others.
  const cell = (sample, found, system, { known, alone, pattern, judged }) => {
    if (predicted.are(output())) return predicted.cell(output(), sample, found, system, pattern);
    const { values, whole } = output(), score = values[system][sample], against = by("against").value;
    const gap = details.signedGap(output(), sample, system), notes = gap ? [gap] : [], parts = [];
    const said = found && !calls.made(found, system) ? details.texts(found, system) : [], answers = details.answers(sample, system);
    const own = judged?.filter(one => one.system === system);
    const others = (!judged && details.others(found, system, against)) || [];
    if (said.length) {
      const [text] = said, equal = others.includes(text) || answers.some(([, answer]) => others.includes(answer));
      const marks = others.length && !equal && !answers.length ? known(others) : null;
      const mark = own ? claims.marked(own, text) : marks && (part => reading.pieces(diff.extra(part, marks)));
      const { made, whole: complete } = reading.part(text, mark, own ? JUDGED : SAID, pattern);
      const lacking = marks && others.length === 1 && text.length < COUNTED ? diff.missing(text, marks) : 0;
      if (equal) notes.push(`= ${details.againstName(against)}`);
      if (lacking) notes.push(`${lacking}\u00a0missing`);
      parts.push(...details.answerLines(sample, system), made);
      if (!complete) parts.push(more(all(text)));
      if (said.length > 1) parts.push(more(`all ${said.length} texts`));
    } else if (found === null) parts.push(line("label", "The text isn't in this file."));
    if (own?.length) parts.push(claims.listed(own));
    if (own?.length > claims.LISTED) parts.push(more(`all ${own.length} claims`));
    const shown = alone ? [] : [element("b", "", number(score, whole)), " "];
    return element("td", "cell", line("figures", ...shown, notes.join(" · ")),
      ...(several ? ratings.lines(output(), sample, system) : []), ...parts);
  };

  // Rows below that of a sample: its calls and the last messages, or the evidence for its claims. On the
  // right are `rest` columns that they have nothing for.
  const below = (found, systems, judged, rest, first) => {
    const row = (width, [label, ...parts]) => {
      const made = element("tr", "under", element("td", "given", ...label), ...parts.map(one => element("td", "cell", ...one)));
      made.lastChild.colSpan = width + rest;
      return made;
    };
    if (calls.of(found)) {
      const ends = systems.map(k => conversation.answered(details.messagesOf(found, k) ?? []));
      const last = [["last message"], ...ends.map(text => [reading.part(text, null, SAID).made])];
      return [...calls.lines(found, systems), ...(ends.some(Boolean) ? [last] : [])].map(line => row(1, line));
    }
    const [, name] = claims.about(output().metric), shared = found?.shared[name];
    const lists = shared ? [[judged, shared]] : systems.map(k => [judged?.filter(one => one.system === k), found?.own?.[k][name]]);
    const parts = lists.filter(([list, texts]) => list?.length && texts).map(([list, texts]) => claims.evidence(name, [texts].flat(), list, first));
    return parts.length ? [row(systems.length, [[], parts])] : [];
  };

  const legend = () => {
    if (predicted.are(output())) return [];
    const against = by("against").value;
    const [none, other] = against === "references" ? ["in no reference", "the reference"]
      : [`not in ${data.systems[against]}`, data.systems[against]];
    const lacking = [...by("table").querySelectorAll(".cell > .figures")].some(one => one.textContent.endsWith("\u00a0missing"));
    return [
      ...(claims.about(output().metric).length ? claims.legend() : against === "plain" ? [] : [element("mark", "extra", none)]),
      ...(lacking ? [` · missing: words of ${other} that a text lacks`] : []),
      ...(several ? [`${against === "plain" ? "" : " · "}± from ${data.systems[0]}`] : []),
    ];
  };

  return { below, cell, given, legend };
};

// Predicted labels: each in a line with the text and the reference, and whether it is right.
const predictedLabels = (data, details) => {
  const { element } = steps;
  const are = ({ metric }) => data.labelled.includes(metric);
  const MARKS = [["✗", "wrong"], ["✓", "right"]];
  // A text that no metric reads may have come along: the first column of several words.
  const along = Object.values(data.metadata).find(([first]) => typeof first === "string" && /\s/.test(first.trim()));

  const text = (sample, found, most, pattern) => {
    const { questions, sources } = found.shared, asked = details.first(questions ?? sources ?? along?.[sample]);
    return asked ? [reading.part(asked, null, most, pattern).made] : [];
  };
  const reference = (output, found) => (are(output)
    ? [element("td", "reference", found ? details.references(found).join(" or ") : "–")] : []);
  const cell = ({ values }, sample, found, system, pattern) => {
    const made = element("td", "cell labelled"), known = MARKS[values[system][sample]];
    if (known) made.append(Object.assign(element("span", known[1], known[0]), { role: "img", ariaLabel: known[1] }), "\u00a0");
    const said = found ? details.texts(found, system) : [];
    made.append(...said.length ? [reading.part(said[0], null, 200, pattern).made] : ["–"]);
    return made;
  };

  return { are, cell, reference, text };
};

// The columns of the samples' table: which systems, in which order, and its head.
const sampleColumns = (data, { narrow, output, predicted, redraw, sortBy, choose }) => {
  const { button, by, element } = steps;
  const several = data.systems.length > 1;
  const SYSTEMS = 10;

  // Pinned systems come first; on a phone there is one.
  const listed = id => by(id).value.split(" ").filter(Boolean).map(Number).filter(k => k in data.systems);
  const pinned = () => listed("pinned");
  // As many as there is room for, first the two that are compared.
  const room = () => Math.max(2, Math.min(SYSTEMS, Math.floor((by("matrix").clientWidth - 180) / 220)));
  const first = () => [...new Set([...(data.pair ?? []), ...data.systems.keys()])].slice(0, room()).sort((a, b) => a - b);
  const chosen = () => (by("columns").value ? listed("columns") : first());
  const systems = () => {
    if (several && narrow.matches) return [Number(by("system").value)];
    return [...pinned(), ...chosen().filter(k => !pinned().includes(k))];
  };

  const pin = k => {
    by("pinned").value = (pinned().includes(k) ? pinned().filter(one => one !== k) : [...pinned(), k]).join(" ");
    redraw();
  };

  const head = (className, sorted, ...parts) => {
    const cell = steps.head(className, ...parts);
    const down = choice.worstIsHigh(output(), by("sort").value) !== (by("turned").value === "1");
    cell.setAttribute("aria-sort", sorted ? (down ? "descending" : "ascending") : "none");
    return cell;
  };
  // Of one system the other metrics have columns of numbers.
  const numbers = () => (several || narrow.matches || by("sort").value === "people" ? [] : [...data.outputs.entries()]
    .filter(([, one]) => !predicted.are(one) && (one.output === "score" || one === output())));
  // The head is drawn again with the rows, and keeps the focus by a button's key.
  const keyed = (key, text, does) => {
    const made = button(text, does);
    made.dataset.key = key;
    return made;
  };
  const header = () => {
    const sort = by("sort").value;
    const system = k => {
      const made = head(pinned().includes(k) ? "cell pinned" : "cell", sort === String(k), keyed(k, data.systems[k], () => sortBy(String(k))));
      if (narrow.matches) return made;
      const hold = keyed(`pin ${k}`, "pin", () => pin(k));
      hold.className = "pin";
      hold.setAttribute("aria-label", `pin ${data.systems[k]}`);
      hold.setAttribute("aria-pressed", pinned().includes(k));
      made.append(" ", hold);
      return made;
    };
    return element("tr", "",
      head("given", sort === "sample", keyed("sample", "sample", () => sortBy("sample"))),
      ...(predicted.are(output()) ? [head("", false, "reference")] : []),
      ...(several ? systems().map(system) : [element("th", "cell", "output")]),
      ...numbers().map(([k, one]) => head("number", one === output() && sort === "0", keyed(k, one.label, () => choose(k)))));
  };

  // Which systems are columns, and whether some of them are out of sight.
  const fit = () => {
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
      for (const row of by("table").querySelectorAll("tr:not([id])")) row.cells[cell.cellIndex]?.style.setProperty("left", `${left}px`);
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
  by("system").addEventListener("change", redraw);
  for (const [id, step] of [["system-before", -1], ["system-after", 1]]) {
    by(id).addEventListener("click", () => {
      by("system").value = String((Number(by("system").value) + step + data.systems.length) % data.systems.length);
      redraw();
    });
  }

  return { fit, header, numbers, pinned, systems };
};

// Keys on the rows: j, k and the arrows go from one to the next, Enter opens one, Escape closes it,
// or from elsewhere in the table the one that was opened last.
const rowKeys = (table, opened, turn) => {
  const MOVES = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
  const toggles = () => [...table.querySelectorAll("button[data-sample]")];
  // The row of a sample, also from within those below it.
  const rowOf = place => {
    let row = place.closest("#table > tbody > tr");
    while (row && !row.querySelector("[data-sample]")) row = row.previousElementSibling;
    return row;
  };

  const move = step => {
    const all = toggles(), active = table.contains(document.activeElement) ? rowOf(document.activeElement) : null;
    const at = all.indexOf(active?.querySelector("[data-sample]"));
    let next = all[at + step];
    // From either end of the list on to another page, as `turn` can.
    if (!next && at >= 0 && turn(step)) next = toggles().at(step > 0 ? 0 : -1);
    next?.focus();
    next?.closest("tr").scrollIntoView({ block: "nearest" });
  };

  addEventListener("keydown", event => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !target.matches || target.matches("input, select, textarea")) return;
    if (key === "Escape" && (table.contains(target) || target.contains(table))) {
      const own = rowOf(target)?.querySelector("[aria-expanded=true]");
      (own ?? toggles().find(one => one.dataset.sample === String([...opened].at(-1))))?.click();
      own?.focus();
    } else if (key in MOVES && (key.length === 1 || target.matches("[data-sample]"))) {
      event.preventDefault();
      move(MOVES[key]);
    }
  });
};

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
