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
