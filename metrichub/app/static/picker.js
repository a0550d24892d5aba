// Finds metrics by a search, and chooses those of a preset. Without it the list is whole.
"use strict";

const find = document.getElementById("_find");
const found = document.getElementById("_found");
const said = document.getElementById("_said");
const sent = document.getElementById("upload");
const rows = [...document.querySelectorAll("#_picker li[data-name]")];
const homes = rows.map((row) => row.parentElement);
const families = [...document.querySelectorAll("#_picker .family, #_picker .shut")];

function chosen() {
  return rows.map((row) => row.querySelector("input")).filter((box) => box.checked && !box.disabled);
}

function tell() {
  const names = chosen().map((box) => box.value);
  said.textContent = names.length ? `Chosen: ${names.join(", ")}.` : "";
}

async function search() {
  const text = find.value.trim();
  const names = text ? await findMetrics(text) : [];
  if (text !== find.value.trim()) {
    return; // Somebody typed on.
  }
  const ranked = names.map((name) => rows.find((row) => row.dataset.name === name)).filter(Boolean);
  rows.forEach((row, i) => homes[i].append(row));
  found.replaceChildren(...ranked);
  found.hidden = !text;
  families.forEach((family) => { family.hidden = Boolean(text); });
  if (text) {
    said.textContent = `${ranked.length} of ${rows.length} metrics`;
  } else {
    tell();
  }
}

function take(event) {
  event.preventDefault();
  const { names, specs, said: text } = event.currentTarget.dataset;
  const wanted = JSON.parse(names);
  for (const row of rows) {
    const box = row.querySelector("input");
    box.checked = wanted.includes(box.value);
  }
  sent.elements.specs.value = specs;
  document.querySelectorAll(".presets a").forEach((link) => link.removeAttribute("aria-current"));
  event.currentTarget.setAttribute("aria-current", "true");
  said.textContent = text;
}

document.getElementById("_search").hidden = false;
find.addEventListener("input", search);
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault(); // It would send the form.
  }
});
document.getElementById("_picker").addEventListener("change", tell);
document.querySelectorAll(".presets a").forEach((link) => link.addEventListener("click", take));
