// The page itself: its charts, what is taken along, the data in it.

// Texts in charts: one that is wider than its room, in whatever font there is, is drawn narrower.
const labels = (() => {
  const fit = svg => {
    for (const text of svg.querySelectorAll("text[data-room]")) {
      if (text.getComputedTextLength() <= Number(text.dataset.room)) continue;
      text.setAttribute("textLength", text.dataset.room);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  };

  const fitAll = part => part.querySelectorAll(".chart").forEach(fit);
  // A folded text has no width yet.
  document.addEventListener("toggle", event => fitAll(event.target), true);
  fitAll(document);
  // The page's rules allow no style in an attribute.
  for (const cell of document.querySelectorAll("[data-share]")) cell.style.setProperty("--share", cell.dataset.share);
  return { fit };
})();

// What can be taken along and how it looks: copies, files, the link to this view, the theme.
const view = (() => {
  const { by } = steps;

  const told = (button, text) => {
    const before = button.dataset.text ?? button.textContent;
    button.dataset.text = before;
    button.textContent = text;
    setTimeout(() => { button.textContent = before; }, 1500);
  };

  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
      told(button, "Copied");
    } catch {
      // Where the browser gives no clipboard, the text is there to be selected.
      const field = document.createElement("textarea");
      field.value = text;
      field.readOnly = true;
      field.rows = 6;
      field.addEventListener("keydown", ({ key }) => { if (key === "Escape") { field.remove(); button.focus(); } });
      button.after(field);
      field.select();
    }
  };

  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // The samples of the selection, in its order; those in sight are printed, without the answer.
  const offer = rows => {
    by("save-jsonl").addEventListener("click", () =>
      save("samples.jsonl", "application/jsonl", rows().map(row => `${JSON.stringify(row)}\n`).join("")));
    by("save-csv").addEventListener("click", () => save("samples.csv", "text/csv", choice.csv(rows())));
    by("print").addEventListener("click", () => { document.documentElement.dataset.print = "samples"; print(); });
    addEventListener("afterprint", () => { delete document.documentElement.dataset.print; });
    by("copy-link").addEventListener("click", event => copy(event.currentTarget, location.href));
  };

  for (const button of document.querySelectorAll("[data-copied]")) {
    button.addEventListener("click", () => copy(button, JSON.parse(by("exports").textContent)[button.dataset.copied]));
    button.hidden = false;
  }

  // Light, dark, or as the system has it; kept for the next report where the browser can.
  const THEMES = ["auto", "light", "dark"];
  const theme = by("theme");
  const kept = () => { try { return localStorage.getItem("metrichub-theme"); } catch { return null; } };
  const keep = name => { try { localStorage.setItem("metrichub-theme", name); } catch { /* it isn't kept */ } };
  const set = name => {
    document.documentElement.dataset.theme = name;
    theme.textContent = `Theme: ${name}`;
  };
  set(THEMES.includes(kept()) ? kept() : "auto");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
    set(next);
    keep(next);
  });

  return { copy, offer, save };
})();

// A part of the page as one SVG file: its texts and charts where they stand, in their colours.
(() => {
  const { drawn } = steps;
  const DRAWN = [
    "fill", "fill-opacity", "font-family", "font-size", "font-weight", "opacity", "stroke",
    "stroke-dasharray", "stroke-linecap", "stroke-width", "text-anchor",
  ];

  // A copy of a chart that needs no stylesheet.
  const alone = chart => {
    const copy = chart.cloneNode(true);
    const copies = [copy, ...copy.querySelectorAll("*")];
    [chart, ...chart.querySelectorAll("*")].forEach((part, at) => {
      const style = getComputedStyle(part);
      for (const name of DRAWN) copies[at].setAttribute(name, style.getPropertyValue(name));
      copies[at].removeAttribute("class");
      copies[at].removeAttribute("id");
      copies[at].removeAttribute("data-room");
    });
    return copy;
  };

  // The lines that a text has on the page, each with its box.
  const linesOf = node => {
    const found = [];
    for (const word of node.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      const last = found.at(-1);
      if (last && Math.abs(last.box.top - box.top) < 2) last.text += ` ${word[0]}`;
      else if (box.width) found.push({ text: word[0], box });
    }
    return found;
  };

  const pictureOf = (part, title) => {
    const frame = part.getBoundingClientRect();
    const place = box => ({ x: box.left - frame.left, y: box.top - frame.top });
    const size = { width: part.scrollWidth, height: part.scrollHeight };
    const paper = getComputedStyle(document.body).backgroundColor;
    const whole = drawn("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` },
      drawn("title", {}, title), drawn("rect", { ...size, fill: paper }));
    const outside = node => node.parentNode.closest("svg") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, outside);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.nodeName === "svg") {
        const box = node.getBoundingClientRect();
        const chart = alone(node);
        for (const [key, value] of Object.entries({ ...place(box), width: box.width, height: box.height })) {
          chart.setAttribute(key, value);
        }
        whole.append(chart);
      } else if (node.nodeType === Node.TEXT_NODE) {
        const style = getComputedStyle(node.parentNode);
        const looks = { fill: style.color };
        for (const name of ["font-family", "font-size", "font-weight"]) looks[name] = style.getPropertyValue(name);
        for (const { text, box } of linesOf(node)) {
          const { x, y } = place(box);
          whole.append(drawn("text", { x, y: y + box.height / 2, "dominant-baseline": "central", ...looks }, text));
        }
      }
    }
    // What XML has no form for, such as a control character in a name.
    return new XMLSerializer().serializeToString(whole).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");
  };

  for (const button of document.querySelectorAll("[data-pictured]")) {
    const part = document.getElementById(button.dataset.pictured);
    const title = (button.closest(".part")?.querySelector("h2") ?? document.querySelector("h1")).textContent;
    button.addEventListener("click", () => view.save(`${part.id}.svg`, "image/svg+xml", pictureOf(part, title)));
    button.hidden = false;
  }
})();

// The data in this file, deflated: lines of JSON, of which those with the scores of an output or the
// texts of some samples are read when they are first needed.
const report = await (async () => {
  const unpacked = id => {
    const packed = atob(document.getElementById(id).textContent), bytes = new Uint8Array(packed.length);
    for (let k = 0; k < bytes.length; k++) bytes[k] = packed.charCodeAt(k);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  if (!globalThis.DecompressionStream) {
    steps.by("samples").append("This browser can't unpack the samples in this file; Chrome 80, Firefox 113, Safari 16.4 and later can.");
    await new Promise(() => {});
  }
  // Headless browsers print a page when it is loaded, which it isn't while it loads an image, and then
  // another one.
  let ready = false, images = 0;
  const hold = () => { if (!ready) Object.assign(new Image(), { onerror: hold, src: `data:,${images++}` }); };
  hold();
  const [[first, ...scores], chunks] = (await Promise.all(["data", "texts"].map(unpacked))).map(text => text.split("\n"));
  const chunk = k => (typeof chunks[k] === "string" ? (chunks[k] = JSON.parse(chunks[k])) : chunks[k]);
  const data = JSON.parse(first);
  ready = true;
  for (const [k, output] of data.outputs.entries()) {
    // There may be millions of numbers, of which few outputs are read.
    let values, whole;
    Object.defineProperties(output, {
      values: { get: () => (values ??= JSON.parse(scores[k]).map(list => Float64Array.from(list, v => v === null ? NaN : Number(v)))) },
      whole: { get: () => (whole ??= output.values.every(list => list.every(v => Number.isNaN(v) || Number.isInteger(v)))) },
    });
  }
  return { data, record: sample => chunk(Math.floor(sample / data.chunk))[sample % data.chunk] };
})();
