// What a metric saw in a sample: marked texts, edits, and what judges said of items.
const steps = (() => {
  const by = id => document.getElementById(id);
  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  };

  const button = (text, does = () => {}, className = "", label = null) => {
    const made = element("button", className, text);
    [made.type, made.ariaLabel] = ["button", label];
    made.addEventListener("click", () => does(made));
    return made;
  };

  const drawn = (name, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const head = (className, ...children) => {
    const made = element("th", className, ...children);
    made.scope = "col";
    return made;
  };

  // Texts are of any language and direction; only textContent is ever set.
  const text = (content, name = "p") => {
    const made = element(name, "text", content);
    made.dir = "auto";
    return made;
  };

  const folded = (summary, ...parts) => {
    const made = element("details", "", element("summary", "", summary), ...parts);
    made.firstChild.dir = "auto";
    return made;
  };

  const isObject = value => value !== null && typeof value === "object" && !Array.isArray(value);
  const isSegment = value => isObject(value) && "text" in value && "kind" in value;
  const isRun = value => isObject(value) && "kind" in value && "prediction" in value && "reference" in value;
  // A metric or a key may be called "constructor".
  const own = (object, key) => (object && Object.hasOwn(object, key) ? object[key] : undefined);
  const words = name => name.replaceAll("_", " ");

  // As tables round: three decimals for fractions, fewer for more.
  const rounded = value => value.toFixed(Math.abs(value) < 10 ? 3 : Math.abs(value) < 100 ? 2 : 1);

  const shown = value => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (typeof value === "number" && !Number.isInteger(value)) return rounded(value);
    if (Array.isArray(value)) return value.map(shown).join(", ");
    if (isObject(value)) return Object.entries(value).map(([name, inner]) => `${words(name)} ${shown(inner)}`).join(", ");
    return String(value);
  };

  const number = (value, whole) => (Number.isFinite(value) && !whole ? rounded(value) : shown(value));

  // What of a judge's items says more than their verdicts: neither a place that is the row's own
  // nor a weight of one; the others as shares.
  const told = rows => {
    const numbered = rows.every(({ index }, place) => index === undefined || index === place);
    const sure = rows.every(({ weights, verdict }) => weights === undefined || own(weights, verdict) === 1);
    return rows.map(({ index, weights, ...row }) => ({
      ...(numbered || index === undefined ? {} : { index }),
      ...row,
      verdict: open(row.verdict),
      ...(sure || !isObject(weights) ? {} : { weights: shares(weights) }),
    }));
  };
  const shares = weights => Object.entries(weights).filter(([, share]) => share)
    .map(([word, share]) => `${open(word)} ${Math.round(share * 100)}%`).join(", ");
  // The word that judges are given for it is none that people say.
  const open = word => (word === "idk" ? "not settled" : word);

  const marked = segments => text(fragment(segments.map(({ text: part, kind, length }) => {
    const isError = ["minor", "major", "critical"].includes(kind);
    if (!isError && !["copied", "partly", "novel"].includes(kind)) return part;
    const mark = element("mark", kind, part);
    if (isError) mark.title = `${kind} error`;
    else if (length > 1) mark.title = `${length} in a row`;
    return mark;
  })));

  const aligned = runs => text(fragment(runs.flatMap(({ kind, prediction, reference }) => {
    if (kind === "equal") return [prediction];
    const both = [];
    if (reference) both.push(element("del", "", reference));
    if (prediction) both.push(element("ins", "", prediction));
    return both;
  })));

  const fragment = parts => {
    const made = document.createDocumentFragment();
    made.append(...parts);
    return made;
  };

  const table = rows => {
    const names = [...new Set(rows.flatMap(Object.keys))];
    const heads = names.map(name => head("", words(name)));
    const body = rows.map(row => element("tr", "", ...names.map(name => {
      const cell = element("td", typeof own(row, name) === "number" ? "number" : "", shown(own(row, name)));
      cell.dir = "auto";
      return cell;
    })));
    return element("table", "", element("thead", "", element("tr", "", ...heads)), element("tbody", "", ...body));
  };

  const value = (found, name) => {
    const label = name ? [element("p", "label", words(name))] : [];
    if (Array.isArray(found) && found.length) {
      if (found.every(isSegment)) return [...label, marked(found)];
      if (found.every(isRun)) return [...label, aligned(found)];
      if (found.every(isObject)) return [...label, table(found.every(row => "verdict" in row) ? told(found) : found)];
      return [...label, element("ul", "", ...found.map(item => text(shown(item), "li")))];
    }
    if (name === "weights" && isObject(found)) return [element("p", "figures", `weights ${shares(found)}`)];
    if (isObject(found)) return [...label, ...mapping(found)];
    if (typeof found === "string") return [...label, text(found)];
    return [element("p", "figures", `${name ? `${words(name)} ` : ""}${shown(Array.isArray(found) ? null : found)}`)];
  };

  // Numbers stand together on a line after everything else.
  const mapping = found => {
    const entries = Object.entries(found);
    const isNumber = ([, inner]) => typeof inner === "number" || typeof inner === "boolean";
    const numbers = entries.filter(isNumber).map(([key, inner]) => `${words(key)} ${shown(inner)}`);
    const others = entries.filter(entry => !isNumber(entry)).flatMap(([key, inner]) => value(inner, key));
    return numbers.length ? [...others, element("p", "figures", numbers.join(" · "))] : others;
  };

  return { button, by, drawn, element, folded, head, isObject, number, own, shown, table, text, value };
})();
