// Lets the keyboard scroll what is wide on a card, and copies its citation.
"use strict";

for (const wide of document.querySelectorAll("pre, article table, math[display=block]")) {
  if (wide.scrollWidth > wide.clientWidth) {
    wide.tabIndex = 0;
  }
}
for (const code of document.querySelectorAll("code.language-bibtex")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more";
  button.textContent = "Copy the citation";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  });
  code.parentElement.after(button);
}
