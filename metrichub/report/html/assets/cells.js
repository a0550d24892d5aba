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
      const mark = own ? claims.marked(own) : marks && (part => reading.pieces(diff.extra(part, marks)));
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
