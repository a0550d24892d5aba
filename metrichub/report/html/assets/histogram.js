"use strict";
// The histogram of the column that the samples are sorted by; a bar chooses its range.
const histogram = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const BARS = 20, WIDTH = 400, HEIGHT = 60;
  let pick = () => {};

  const drawn = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const short = v => String(Number(v.toPrecision(4)));

  const draw = (column, rows, [low, high]) => {
    const place = document.getElementById("histogram");
    const known = column ? Array.from(column.values).filter(Number.isFinite) : [];
    const start = known.reduce((a, b) => Math.min(a, b), Infinity);
    const end = known.reduce((a, b) => Math.max(a, b), -Infinity);
    place.parentElement.hidden = known.length < 2 || start === end;
    if (place.parentElement.hidden) return;
    const step = (end - start) / BARS;
    const bar = v => Math.min(BARS - 1, Math.floor((v - start) / step));
    const all = new Array(BARS).fill(0), shown = new Array(BARS).fill(0);
    for (const v of known) all[bar(v)] += 1;
    for (const sample of rows) if (Number.isFinite(column.values[sample])) shown[bar(column.values[sample])] += 1;
    const most = Math.max(...all);
    const chosen = low !== "" || high !== "";
    const had = place.contains(document.activeElement)
      ? [...place.children].indexOf(document.activeElement) : -1;
    place.replaceChildren(...all.map((count, k) => {
      const [from, to] = [start + k * step, start + (k + 1) * step];
      const text = `${count} samples from ${short(from)} to ${short(to)}`;
      const made = drawn("g", { role: "button", tabindex: 0, "aria-label": text, class: "bar" });
      const title = drawn("title", {});
      title.textContent = text;
      const x = k * WIDTH / BARS + 1, width = WIDTH / BARS - 2;
      const height = n => n ? Math.max(2, n / most * (HEIGHT - 2)) : 0;
      made.append(title,
        drawn("rect", { class: "hit", x, y: 0, width, height: HEIGHT }),
        drawn("rect", { class: "all", x, y: HEIGHT - height(count), width, height: height(count) }),
        drawn("rect", { class: "shown", x, y: HEIGHT - height(shown[k]), width, height: height(shown[k]) }));
      // A range that is chosen already is taken back.
      const choose = () => {
        const mine = chosen && short(from) === low && short(to) === high;
        pick(mine ? "" : short(from), mine ? "" : short(to));
      };
      made.addEventListener("click", choose);
      made.addEventListener("keydown", event => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
      });
      return made;
    }));
    if (had >= 0) place.children[had]?.focus();
    document.getElementById("ends").textContent = `${short(start)} to ${short(end)}`;
  };

  return { draw, onPick: does => { pick = does; } };
})();
