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
