// Filters and ranks the gallery while one types. Without this script the form is sent instead.
"use strict";

const form = document.getElementById("filters");
const list = document.querySelector("ul.cards");
const cards = [...list.children].sort((a, b) => a.dataset.name.localeCompare(b.dataset.name, "en"));
const count = document.getElementById("count");

async function filter() {
  const search = form.elements.search.value.trim();
  const chosen = [...new FormData(form)].filter(([, value]) => value);
  const tags = chosen.filter(([name]) => name !== "search");
  const names = search ? await findMetrics(search) : cards.map((card) => card.dataset.name);
  if (search !== form.elements.search.value.trim()) {
    return; // Somebody typed on.
  }
  const byName = new Map(cards.map((card) => [card.dataset.name, card]));
  const fitting = names.map((name) => byName.get(name)).filter((card) => card
    && tags.every(([name, tag]) => (card.dataset[name] || "").split("|").includes(tag)));
  cards.forEach((card) => { card.hidden = true; });
  fitting.forEach((card) => { card.hidden = false; });
  list.replaceChildren(...fitting, ...cards.filter((card) => card.hidden));
  count.textContent = `${fitting.length} of ${cards.length} metrics`;
  const query = new URLSearchParams(chosen).toString();
  history.replaceState(null, "", query ? `/?${query}` : "/");
}

form.addEventListener("input", filter);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  filter();
});
// A browser that comes back to the page may have filled the fields in again.
window.addEventListener("pageshow", filter);
