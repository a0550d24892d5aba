"use strict";
// Texts in charts: one that is wider than its room, in whatever font there is, is drawn narrower.
const labels = (() => {
  const fit = svg => {
    for (const text of svg.querySelectorAll("text[data-room]")) {
      if (text.getComputedTextLength() <= Number(text.dataset.room)) continue;
      text.setAttribute("textLength", text.dataset.room);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  };

  document.querySelectorAll(".chart").forEach(fit);
  return { fit };
})();
