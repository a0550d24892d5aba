// The table of all metrics: chips filter it, heads sort it, two ticks compare. All facts are in its cells.
"use strict";
(() => {
  const title = document.querySelector("h1#all-metrics");
  const table = title?.parentNode.querySelector("table");
  if (!table) return;
  const NAME = 0, AGREEMENT = 6, COST = 7;
  const FACETS = { Task: 2, Reads: 3, Needs: 4, Language: 5 };
  const made = (tag, fields, ...children) => {
    const element = Object.assign(document.createElement(tag), fields);
    element.append(...children);
    return element;
  };
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
  const metrics = [...table.tBodies[0].rows].map((row) => {
    const texts = [...row.cells].map((cell) => cell.textContent);
    const name = row.querySelector("code").textContent;
    const figures = texts[AGREEMENT].split("; ").map((text) => text.match(/^(.*) (-?\d\.\d+)$/)).filter(Boolean);
    // Free ones first, then those of unknown cost, then by calls.
    const cost = { free: 0, embeddings: 0.1, "in a plugin": 0.2 }[texts[COST]] ?? (parseInt(texts[COST]) || 99);
    const box = made("input", { type: "checkbox", ariaLabel: `Compare ${name}` });
    return {
      ...{ row, texts, name, cost, box, words: texts.slice(0, AGREEMENT).join(" ").toLowerCase() },
      tags: Object.fromEntries(Object.entries(FACETS).map(([facet, at]) => [facet, texts[at].split(", ")])),
      agreement: new Map(figures.map(([, about, value]) => [about, Number(value)])),
    };
  });
  const counted = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1]).map(([value]) => value);
  };

  const chosen = {}, compared = [];
  let order = "name", up = true;
  const word = made("input", { type: "search", placeholder: "translation quality", autocomplete: "off" });
  const about = made("select", { ariaLabel: "What people rated" });
  about.append(...counted(metrics.flatMap((m) => [...m.agreement.keys()])).map((text) => made("option", { textContent: text })));
  const fits = (metric, but) =>
    Object.entries(chosen).every(([facet, tag]) => facet === but || !tag || metric.tags[facet].includes(tag)) &&
    word.value.toLowerCase().split(/\s+/).every((part) => metric.words.includes(part));
  const chips = Object.keys(FACETS).flatMap((facet) =>
    counted(metrics.flatMap((m) => m.tags[facet])).map((tag) => {
      const count = made("small"), chip = made("button", { type: "button" }, `${tag} `, count);
      chip.addEventListener("click", () => {
        chosen[facet] = chosen[facet] === tag ? "" : tag;
        draw();
      });
      return { facet, tag, chip, count };
    }));
  const status = made("small", { role: "status" });
  const filters = made("div", { className: "mh-chips" }, made("label", {}, "Has the words ", word), " ", status);
  for (const facet of Object.keys(FACETS)) {
    const group = made("div", { role: "group", ariaLabel: facet });
    group.append(made("span", { textContent: facet }), made("p", {}, ...chips.filter((c) => c.facet === facet).map((c) => c.chip)));
    filters.append(group);
  }
  const panel = made("section", { className: "mh-compare", ariaLabel: "Comparison", hidden: true });

  const sorter = (head, by, text) => {
    const button = made("button", { type: "button", textContent: text });
    button.addEventListener("click", () => {
      [order, up] = [by, order === by ? !up : true];
      draw();
    });
    head.replaceChildren(button);
    return { head, by };
  };
  const cells = table.tHead.rows[0].cells;
  const sorters = [
    ...[sorter(cells[NAME], "name", "Metric"), sorter(cells[AGREEMENT], "agreement", "Agrees with people on")],
    sorter(cells[COST], "cost", "Cost per sample"),
  ];
  cells[AGREEMENT].append(about);
  table.tHead.rows[0].prepend(made("th", { ariaLabel: "Compare" }));
  for (const metric of metrics) {
    metric.row.prepend(made("td", {}, metric.box));
    metric.figure = metric.row.cells[AGREEMENT + 1];
    metric.box.addEventListener("change", () => {
      if (metric.box.checked) compared.push(metric);
      else compared.splice(compared.indexOf(metric), 1);
      if (compared.length > 2) compared.shift().box.checked = false;
      draw();
    });
  }

  const keys = {
    name: (m) => m.name,
    // The best first; what wasn't measured last, whichever way.
    agreement: (m) => -(m.agreement.get(about.value) ?? (up ? -9 : 9)),
    cost: (m) => m.cost,
  };
  const draw = () => {
    const shown = metrics.filter((metric) => fits(metric));
    const key = keys[order];
    const sorted = [...metrics].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (up ? 1 : -1));
    table.tBodies[0].append(...sorted.map((metric) => metric.row));
    for (const metric of metrics) {
      const value = metric.agreement.get(about.value);
      metric.row.hidden = !shown.includes(metric);
      metric.figure.textContent = value === undefined ? "" : value.toFixed(3).replace("-", "−");
      metric.figure.style.setProperty("--share", Math.max(0, value ?? 0));
    }
    for (const { facet, tag, chip, count } of chips) {
      const found = metrics.filter((m) => m.tags[facet].includes(tag) && fits(m, facet)).length;
      const pressed = chosen[facet] === tag;
      count.textContent = found;
      chip.ariaPressed = pressed;
      chip.disabled = !found && !pressed;
    }
    // Of agreement the highest are first.
    const direction = up === (order !== "agreement") ? "ascending" : "descending";
    for (const { head, by } of sorters) head.ariaSort = by === order ? direction : null;
    status.textContent = shown.length === metrics.length ? `${shown.length} metrics` : `${shown.length} of ${metrics.length}`;
    panel.hidden = compared.length < 2;
    const line = (head, of) =>
      made("tr", {}, made("th", { scope: "row", textContent: head }), ...compared.map((m) => made("td", {}, of(m))));
    // What was measured of both.
    const shared = [...compared[0]?.agreement.keys() ?? []].filter((text) => compared[1]?.agreement.has(text));
    panel.replaceChildren(made("table", {}, made("tbody", {},
      ...heads.filter((_, at) => at !== AGREEMENT).map((head) => {
        const at = heads.indexOf(head);
        return line(at === NAME ? "" : head, (m) => at === NAME ? m.row.querySelector("a").cloneNode(true) : m.texts[at]);
      }),
      ...shared.map((text) => line(`agrees on ${text}`, (m) => m.agreement.get(text).toFixed(3))),
    )));
  };
  word.addEventListener("input", draw);
  about.addEventListener("change", () => {
    [order, up] = ["agreement", true];
    draw();
  });
  table.before(filters);
  table.classList.add("mh-metrics");
  document.body.append(panel);
  draw();
})();
