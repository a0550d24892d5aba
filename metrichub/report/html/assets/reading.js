// A text to read, marked against others: JSON by its keys, code by its lines, all else by its words.
const reading = (() => {
  const { element, folded, text: paragraph } = steps;
  const LONGEST = 200_000, KEYS = 300;
  const NAMES = { extra: "mark", moved: "mark", missing: "del" };

  // What is missing stands between spaces, as the text around it has none there.
  const pieces = (parts, mark = (kind, text) => element(NAMES[kind], kind, text)) => parts.flatMap(({ text, kind }, k) => {
    if (kind !== "missing") return kind ? [mark(kind, text)] : [text];
    const [before, after] = [parts[k - 1]?.text ?? " ", parts[k + 1]?.text ?? " "];
    return [/\s$/.test(before) ? "" : " ", mark(kind, text), /^[\s\p{P}]/u.test(after) ? "" : " "];
  });
  const filled = (name, parts) => {
    const made = paragraph("", name);
    made.append(...pieces(parts));
    return made;
  };

  const asKeys = (own, others, name) => {
    const other = others.map(diff.values).find(Boolean);
    const heads = ["key", "value", ...(other ? [name] : [])].map(text => steps.head("", text));
    const all = diff.keys(own, other ?? new Map()), differs = row => other && row.own !== row.other;
    const listed = all.length > KEYS ? [...all.filter(differs), ...all.filter(row => !differs(row))].slice(0, KEYS) : all;
    const rows = listed.map(row => {
      const { path, own: mine, other: theirs } = row, same = !differs(row);
      const cells = [[mine, "mark", "extra"], ...(other ? [[theirs, "del", "missing"]] : [])];
      return element("tr", "", element("td", "", element("code", "", path || "–")), ...cells.map(([value, tag, kind]) =>
        element("td", "", ...(value === undefined ? [] : [same ? value : element(tag, kind, value)]))));
    });
    const table = element("table", "keys", element("thead", "", element("tr", "", ...heads)), element("tbody", "", ...rows));
    table.dir = "ltr";
    return all.length > KEYS ? [table, element("p", "label", `${KEYS} of ${all.length} keys, those that differ first.`)] : [table];
  };

  // Lines, each whole, as in code or a list of calls; `other` is null for plain ones.
  const lines = (own, other) => {
    const parts = other === null ? null : diff.lines(own, other);
    const made = element("pre", "code", ...(parts
      ? parts.map(({ text, kind }) => element(NAMES[kind] ?? "span", `line ${kind}`, `${text}\n`))
      : [own]));
    made.dir = "ltr";
    made.tabIndex = 0;
    return made;
  };

  // Of several others the one at `place`, if there is one, else the closest.
  const chosen = (others, place) => (others && place in others ? [others[place]] : others ?? []);

  // `others`, which are called `name`, are null for a plain text.
  const of = (text, others, name, place) => {
    const beside = chosen(others, place);
    const own = diff.values(text);
    if (own) return [...asKeys(own, beside, name), folded("As it was written", paragraph(text, "pre"))];
    const code = diff.code(text);
    if (code !== null && text.includes("\n")) {
      const [other = null] = beside;
      const theirs = other && (diff.code(other) ?? other).trimEnd();
      return [lines(code.trimEnd(), theirs), ...(code === text ? [] : [folded("The whole reply", paragraph(text))])];
    }
    if (!beside.length || text.length > LONGEST || beside.includes(text)) return [conversation.cut(text)];
    const { parts, ordered, place: closest } = diff.against(text, beside);
    const which = beside.length > 1 ? closest : place;
    const label = others.length > 1 && which !== undefined
      ? [element("p", "label", `marked against ${name} ${which + 1} of ${others.length}`)] : [];
    const note = "The texts are too long to be put in order: only words that the other lacks are marked.";
    return [...label, filled("p", parts), ...(ordered ? [] : [element("p", "label", note)])];
  };

  // A text with its marks as Markdown; JSON and code stay as they are.
  const SIGNS = { extra: "**", moved: "*", missing: "~~" };
  const markdown = (text, others, place) => {
    const beside = chosen(others, place);
    const isPlain = !beside.length || beside.includes(text) || text.length > LONGEST
      || diff.values(text) || (diff.code(text) !== null && text.includes("\n"));
    const mark = (kind, part) => part.replace(/\S(?:.*\S)?/g, found => SIGNS[kind] + found + SIGNS[kind]);
    return isPlain ? text : pieces(diff.against(text, beside).parts, mark).join("");
  };

  const beginning = (text, most) => {
    const cut = text.split("\n", 12).join("\n");
    return cut.length > most ? cut.slice(0, most).replace(/\s\S*$|[\ud800-\udbff]$/, "") : cut;
  };
  // The part of a text for a cell: its beginning, or what stands around the first hit of `found`.
  // `mark` makes nodes of a part and of where it begins; `whole` says that nothing is cut.
  const part = (text, mark, most, found) => {
    const before = hits.from(text, beginning(text, most).length, found), cut = beginning(text.slice(before), most);
    const made = paragraph("");
    made.append(...(mark ? mark(cut, before) : [cut]));
    if (before) made.prepend("… ");
    return { made, whole: cut.length >= text.trimEnd().length };
  };

  return { markdown, of, part, pieces };
})();
