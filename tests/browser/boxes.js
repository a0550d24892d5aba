// What is cut, covered or out of its box in a page as it is shown, a line each; on paper, what scrolls is cut.
printed => {
  const wrong = new Set();
  const shown = made => made.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true });
  const called = made => {
    const named = made.closest("[id]");
    const text = made.textContent.trim().replace(/\s+/g, " ").slice(0, 50);
    return `${named ? `#${named.id} ` : ""}${made.tagName.toLowerCase()}.${made.getAttribute("class") ?? ""} “${text}”`;
  };
  const known = new Map();
  const of = made => {
    if (!known.has(made)) {
      const { overflowX, overflowY, display, position, whiteSpace } = getComputedStyle(made);
      const chart = made.tagName === "svg", block = made instanceof HTMLElement && !/^(inline|contents)/.test(display);
      known.set(made, {
        whiteSpace,
        scrolls: block && made !== document.body && /auto|scroll/.test(overflowX + overflowY),
        holds: block || (chart && overflowX === "hidden"),
        // Beside an axis there is room for its numbers.
        away: position === "absolute" || (chart && overflowX !== "hidden"),
        box: made.getBoundingClientRect(),
      });
    }
    return known.get(made);
  };
  const page = document.scrollingElement;
  if (page.scrollWidth > page.clientWidth) wrong.add(`the page is ${page.scrollWidth} wide, its window ${page.clientWidth}`);

  const all = [...document.body.querySelectorAll("*")].filter(shown);
  for (const made of all.filter(made => made instanceof HTMLElement && !made.matches("input, select, textarea"))) {
    const wide = made.clientWidth && made.scrollWidth > made.clientWidth + 1;
    const high = made.clientHeight && made.scrollHeight > made.clientHeight + 1;
    if (!wide && !high) continue;
    const { overflowX, overflowY } = getComputedStyle(made);
    const hows = [wide && overflowX, high && overflowY];
    if (hows.some(how => /hidden|clip/.test(how) || (printed && /auto|scroll/.test(how)))) wrong.add(`cut: ${called(made)}`);
    else if (hows.some(how => /auto|scroll/.test(how)) && made.tabIndex < 0) wrong.add(`no key scrolls ${called(made)}`);
  }

  // What is in sight of a rectangle, after all that scrolls has cut it.
  const inSight = (rect, made) => {
    let { left, right, top, bottom } = rect;
    for (let one = made; one; one = one.parentElement) {
      const { scrolls, box } = of(one);
      if (!scrolls) continue;
      [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    return left < right && top < bottom ? { left, right, top, bottom } : null;
  };
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const made = text.parentElement;
    if (!text.data.trim() || made.closest("script, style, noscript, option, title") || !shown(made)) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const rect of range.getClientRects()) {
      // What stands beside the page is for those who don't see it.
      if (rect.width < 1 || rect.right < 0) continue;
      // Blanks at the end of a line hang out of their box.
      const hung = of(made).whiteSpace === "pre-wrap" ? rect.height / 2 : 1.5;
      for (let one = made; one; one = one.parentElement) {
        const { away, box, holds, scrolls } = of(one);
        if (scrolls || away) break;
        if (!holds) continue;
        if (rect.left >= box.left - hung && rect.right <= box.right + hung && rect.top >= box.top - 4 && rect.bottom <= box.bottom + 4) continue;
        wrong.add(`out of its ${one.tagName.toLowerCase()}: ${called(made)}`);
        break;
      }
      const box = inSight(rect, made);
      // A font's box is higher than its letters.
      if (box) boxes.push({ ...box, top: box.top + rect.height / 8, bottom: box.bottom - rect.height / 8, made, text });
    }
  }
  for (const made of all.filter(made => made.matches("button, input, select, textarea, summary, svg, a"))) {
    for (const rect of made.getClientRects()) {
      const box = inSight(rect, made);
      if (box) boxes.push({ ...box, made });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  for (const [k, one] of boxes.entries()) {
    for (let next = k + 1; next < boxes.length && boxes[next].top < one.bottom - 1; next += 1) {
      const other = boxes[next];
      if (Math.min(one.right, other.right) - Math.max(one.left, other.left) < 1.5) continue;
      if (one.text ? one.text === other.text : one.made === other.made) continue;
      if ((!one.text && one.made.contains(other.made)) || (!other.text && other.made.contains(one.made))) continue;
      wrong.add(`covered: ${called(one.made)} and ${called(other.made)}`);
    }
  }
  return [...wrong];
}
