// Light, dark, or as the system has it; reports keep it under the same name. Runs before the page is
// drawn, so that none flashes in the other colours.
"use strict";

(() => {
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  const kept = () => { try { return localStorage.getItem("metrichub-theme"); } catch { return null; } };
  const keep = (name) => { try { localStorage.setItem("metrichub-theme", name); } catch { /* it isn't kept */ } };
  root.dataset.theme = THEMES.includes(kept()) ? kept() : "auto";

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const tell = () => { button.textContent = `Theme: ${root.dataset.theme}`; };
    button.addEventListener("click", () => {
      root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
      keep(root.dataset.theme);
      tell();
    });
    tell();
    button.hidden = false;
  });
})();
