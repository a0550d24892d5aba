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
