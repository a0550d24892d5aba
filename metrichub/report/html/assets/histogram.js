// The histogram of the column that the samples are sorted by; a bar chooses its range.
const histogram = (() => {
  const WIDTH = 400, HEIGHT = 60;
  const { by, drawn } = steps;
  const short = v => String(Number(v.toPrecision(4)));

  // `pick` takes the exact bounds of a bar, and null for the bar that was chosen already.
  const draw = (values, whole, rows, chosen, pick) => {
    const place = by("histogram");
    const bins = values && choice.bins(values, whole);
    place.parentElement.hidden = !bins;
    if (!bins) return;
    const { edges, all } = bins, shown = bins.counts(Array.from(rows, sample => values[sample]));
    const most = Math.max(...all), bars = all.length;
    const had = [...place.children].indexOf(document.activeElement);
    place.replaceChildren(...all.map((count, k) => {
      const [low, high, last] = [edges[k], edges[k + 1], k === bars - 1];
      const mine = chosen.low === low && chosen.high === high;
      const text = `${count} sample${count === 1 ? "" : "s"} from ${short(low)} to ${short(high)}`;
      const x = k * WIDTH / bars + 1, width = WIDTH / bars - 2;
      const height = n => n ? Math.max(2, n / most * (HEIGHT - 2)) : 0;
      const made = drawn("g", { role: "button", tabindex: 0, "aria-label": text, "aria-pressed": mine, class: "bar" },
        drawn("title", {}, text),
        drawn("rect", { class: "hit", x, y: 0, width, height: HEIGHT }),
        drawn("rect", { class: "all", x, y: HEIGHT - height(count), width, height: height(count) }),
        drawn("rect", { class: "shown", x, y: HEIGHT - height(shown[k]), width, height: height(shown[k]) }));
      const choose = () => pick(mine ? null : { low, high, below: !last });
      made.addEventListener("click", choose);
      made.addEventListener("keydown", event => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
      });
      return made;
    }));
    place.children[had]?.focus();
    by("ends").textContent = `${short(edges[0])} to ${short(edges[bars])}`;
  };

  return { draw };
})();
