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
