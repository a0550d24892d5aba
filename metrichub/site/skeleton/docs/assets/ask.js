// The site's search, on its first page and in a dialog on all others: lunr looks for any word of a question
// in the sections that the generator indexed.
"use strict";
(() => {
  const title = document.querySelector("h1#metrichub");
  // Pages may lie in a folder of the site.
  const root = document.currentScript.getAttribute("src").replace(/^\.\/|assets\/ask\.js$/g, "");
  const made = (name, fields) => Object.assign(document.createElement(name), fields);
  const box = made("input", { type: "search", autocomplete: "off", placeholder: "is my RAG answer grounded?" });
  const label = made("label", { textContent: "Search, or ask in your own words " });
  const list = made("ol", { ariaLive: "polite" });
  const form = made("form", { className: "mh-ask", role: "search" });
  label.append(box);
  form.append(label, list);
  const dialog = made("dialog", { className: "mh-dialog md-typeset", ariaLabel: "Search" });
  if (title) title.nextElementSibling.after(form);
  else {
    dialog.append(form);
    document.body.append(dialog);
  }
  const open = (event) => {
    event.preventDefault();
    // The theme turns pages by letters.
    event.stopImmediatePropagation();
    if (!title && !dialog.open) dialog.showModal();
    box.focus();
  };

  const load = (src) =>
    new Promise((onload, onerror) => document.head.append(made("script", { src, onload, onerror })));
  const text = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent;
  let index;
  const ready = () => (index ??= load(`${root}assets/lunr.js`).then(() => load(`${root}search.js`)).then(() => {
    const parts = new Map(__index.items.map((part) => [part.location, part]));
    // Of a card, the section that says what the metric is for counts three times, as guides do.
    const isFirst = ({ location, level }) =>
      /^(docs|elsewhere)/.test(location) || (level === 1 && /^metric_cards.+index/.test(location));
    return [parts, lunr(function () {
      this.ref("location");
      // A word counts for more in a short field, and titles are short.
      this.field("title", { boost: 0.5 });
      this.field("text");
      for (const part of parts.values()) {
        this.add({ ...part, text: part.text.replace(/<[^>]*>/g, " ") }, { boost: isFirst(part) ? 3 : 1 });
      }
    })];
  }));
  const answer = async () => {
    const [parts, found] = await ready();
    const hits = found.query((query) => query.term(lunr.tokenizer(box.value), {})).slice(0, 5);
    list.replaceChildren(...hits.map(({ ref }) => {
      const { title, path } = parts.get(ref);
      const item = made("li");
      item.append(made("a", { href: root + ref, textContent: text(title) }), ` ${text(path.slice(1).join(" / "))}`);
      return item;
    }));
    if (!hits.length && box.value) list.textContent = "Nothing has these words.";
  };
  const begin = () => location.hash === "#ask" && box.focus();
  box.addEventListener("focus", ready);
  box.addEventListener("input", answer);
  addEventListener("hashchange", begin);
  begin();
  document.querySelector("a.mh-search").addEventListener("click", open);
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, target } = event;
    // A search box would take the key for itself.
    if (key === "Escape") dialog.close();
    const typing = target.isContentEditable || /^(input|select|textarea)$/i.test(target.tagName);
    if (key === "k" ? ctrlKey || metaKey : key === "/" && !typing) open(event);
  }, true);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
})();
