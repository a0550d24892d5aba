// A scatter plot whose points can be pointed at, walked through by keyboard, and opened.
const scatter = (() => {
  const { drawn } = steps;
  const NEAR = 14;
  const SHAPES = [
    "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0",
    "M-3.2,-3.2h6.4v6.4h-6.4z",
    "M0,-4.2L4,3.2L-4,3.2z",
    "M0,-4.6L4.6,0L0,4.6L-4.6,0z",
    "M0,4.2L4,-3.2L-4,-3.2z",
    "M-4,-1.4h8v2.8h-8z",
  ];
  const HOW = SHAPES.length;

  // About five round numbers from one end to the other.
  const ticks = (low, high) => {
    const rough = (high - low) / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(times => times * power).find(one => one >= rough);
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first;
    return Array.from({ length: count + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  };

  const range = values => {
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const room = high > low ? (high - low) * 0.05 : 0.5;
    return [low - room, high + room];
  };

  const short = label => (label.length > 40 ? `${label.slice(0, 39)}…` : label);

  // points: [{x, y, kind, spread, text}]; spread moves a point sideways, as many are of one rating.
  const plot = ({ svg, points, across, up, name, say, open }) => {
    const width = Math.min(Math.max(svg.parentNode.clientWidth, 260), 760);
    const height = Math.round(Math.min(width * 0.68, 430));
    const box = { left: 58, right: width - 24, top: 10, bottom: height - 46 };
    const [x0, x1] = range(points.map(point => point.x));
    const [y0, y1] = range(points.map(point => point.y));
    const x = value => box.left + ((value - x0) / (x1 - x0)) * (box.right - box.left);
    const y = value => box.bottom - ((value - y0) / (y1 - y0)) * (box.bottom - box.top);
    const middle = (box.top + box.bottom) / 2;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("aria-label", name);

    const axes = drawn("g", { class: "axes", "aria-hidden": "true" });
    const columns = ticks(x0, x1);
    const room = Math.min(46, (box.right - box.left) / columns.length - 4);
    for (const value of columns) {
      const at = x(value);
      axes.append(drawn("path", { d: `M${at},${box.top}V${box.bottom}` }));
      axes.append(drawn("text", { x: at, y: box.bottom + 16, "text-anchor": "middle", "data-room": room }, String(value)));
    }
    for (const value of ticks(y0, y1)) {
      const at = y(value);
      axes.append(drawn("path", { d: `M${box.left},${at}H${box.right}` }));
      axes.append(drawn("text", { x: box.left - 6, y: at + 4, "text-anchor": "end", "data-room": box.left - 24 }, String(value)));
    }
    axes.append(
      drawn("text", { x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle", "data-room": box.right - box.left }, short(across)),
      drawn("text", { transform: `translate(14,${middle}) rotate(-90)`, "text-anchor": "middle", "data-room": box.bottom - box.top }, short(up)));

    const places = points.map(point => [x(point.x) + point.spread * 9, y(point.y)]);
    const marks = drawn("g", { "aria-hidden": "true" });
    points.forEach(({ kind }, i) => marks.append(drawn("path", {
      class: `point of-${kind % HOW}`,
      d: SHAPES[kind % HOW],
      transform: `translate(${places[i].map(place => place.toFixed(1)).join(",")})`,
    })));
    const ring = drawn("circle", { class: "ring", r: 8, visibility: "hidden" });
    svg.replaceChildren(axes, marks, ring);
    labels.fit(svg);

    const walk = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || points[a].y - points[b].y);
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 25, PageDown: -25 };
    let step = -1;
    const choose = at => {
      ring.setAttribute("visibility", at === null ? "hidden" : "visible");
      if (at === null) return;
      ring.setAttribute("cx", places[at][0]);
      ring.setAttribute("cy", places[at][1]);
      step = walk.indexOf(at);
      say(points[at].text);
    };
    const nearest = event => {
      const frame = svg.getBoundingClientRect();
      const scale = width / frame.width;
      const [left, top] = [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
      let found = null;
      let least = NEAR;
      places.forEach(([px, py], i) => {
        const far = Math.hypot(px - left, py - top);
        if (far < least) [found, least] = [i, far];
      });
      return found;
    };
    svg.onpointermove = event => {
      const at = nearest(event);
      svg.classList.toggle("near", at !== null);
      if (at !== null) choose(at);
    };
    svg.onclick = event => {
      const at = nearest(event);
      if (at === null) return;
      choose(at);
      open(points[at]);
    };
    svg.onkeydown = event => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const last = walk.length - 1;
      if (event.key in steps) step = Math.min(Math.max(step + steps[event.key], 0), last);
      else if (event.key === "Home") step = 0;
      else if (event.key === "End") step = last;
      else if ((event.key === "Enter" || event.key === " ") && step >= 0) {
        event.preventDefault();
        open(points[walk[step]]);
        return;
      } else return;
      event.preventDefault();
      if (walk.length) choose(walk[step]);
    };
  };

  return { plot, SHAPES };
})();

// Scores over people's ratings: a plot of the score and the rating that the samples are read by.
(() => {
  const { by, drawn: shape, element, shown } = steps;
  const { data, number, output, open } = samples;
  const several = data.systems.length > 1;
  const DRAWN = 2000;

  const named = (sample, system) =>
    `sample ${sample}${data.ids ? ` (${shown(data.ids[sample])})` : ""}${several ? ` of ${data.systems[system]}` : ""}`;

  // Points of one rating lie beside one another, always in the same way.
  const spread = i => ((i * 0.618034) % 1) - 0.5;

  const pointsOf = (output, rating) => {
    const all = [];
    rating.values.forEach((given, system) => given.forEach((x, sample) => {
      const y = output.values[system][sample];
      if (Number.isFinite(x) && Number.isFinite(y)) all.push({ x, y, sample, system });
    }));
    // Of too many an even choice is drawn.
    const every = Math.max(1, all.length / DRAWN);
    let next = 0;
    const drawn = all.filter((_, i) => i >= next && (next += every));
    const few = new Set(all.map(({ x }) => x)).size <= 25;
    for (const [i, point] of drawn.entries()) {
      point.kind = point.system;
      point.spread = few ? spread(i) : 0;
      const score = number(point.y, output.whole);
      point.text = `${named(point.sample, point.system)}: ${rating.name} ${shown(point.x)}, ${output.label} ${score}`;
    }
    return { drawn, few, all: all.length };
  };

  const plot = (output, rating) => {
    const { drawn, few, all } = pointsOf(output, rating);
    const say = count => count.toLocaleString("en");
    by("pointed").textContent = "";
    by("drawn").textContent = [
      drawn.length < all ? `${say(drawn.length)} of ${say(all)} rated samples are drawn.` : `${say(all)} rated samples.`,
      ...(few ? ["Samples of one rating are drawn side by side."] : []),
      "A click on a point shows its sample.",
    ].join(" ");
    if (!drawn.length) return by("scatter").replaceChildren();
    scatter.plot({
      svg: by("scatter"),
      points: drawn,
      across: rating.name,
      up: output.label,
      name: `Scores by ${output.label} over people's ratings ${rating.name}: arrow keys go from point to point, Enter shows the sample`,
      say: text => { by("pointed").textContent = text; },
      open: point => open(point.sample),
    });
  };

  if (several) {
    by("kinds").replaceChildren(...data.systems.map((name, i) => {
      const kind = i % scatter.SHAPES.length;
      const mark = shape("path", { class: `point of-${kind}`, d: scatter.SHAPES[kind], transform: "translate(6,6)" });
      return element("li", "", shape("svg", { width: 12, height: 12, "aria-hidden": "true" }, mark), ` ${name}`);
    }));
  }
  // It is drawn again for another score, rating or width, and keeps the place of the keys else.
  let drawn = "";
  const show = () => {
    const now = [by("output").value, by("rating").value, by("scatter").parentNode.clientWidth].join(" ");
    if (now !== drawn) plot(output(), ratings.chosen());
    drawn = now;
  };
  document.addEventListener("samples", show);
  by("people-samples").hidden = false;
  new ResizeObserver(show).observe(by("scatter").parentNode);
})();
