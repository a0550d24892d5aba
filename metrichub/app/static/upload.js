// The chosen files: dropped anywhere on their field, counted, and which of several is the baseline.
"use strict";

const form = document.getElementById("upload");
const files = form.elements.file;
const drop = document.getElementById("_drop");
const systems = document.getElementById("_systems");

function checkSize() {
  const limit = Number(form.dataset.limit);
  const most = Number(form.dataset.systems);
  const size = [...files.files].reduce((sum, file) => sum + file.size, 0);
  let said = "";
  if (size > limit) {
    const what = files.files.length > 1 ? "The files together are" : "The file is";
    said = `${what} larger than ${limit / 1048576} MB.`;
  } else if (files.files.length > most) {
    said = `At most ${most} files can be compared.`;
  }
  files.setCustomValidity(said);
  files.reportValidity();
}

function offerBaselines() {
  const names = [...files.files].map((file) => file.name);
  systems.hidden = names.length < 2;
  form.elements.baseline.replaceChildren(...names.map((name, i) => new Option(name, i)));
}

files.addEventListener("change", () => {
  offerBaselines();
  checkSize();
});

for (const event of ["dragenter", "dragover"]) {
  drop.addEventListener(event, (dragged) => {
    dragged.preventDefault();
    drop.classList.add("over");
  });
}
for (const event of ["dragleave", "drop"]) {
  drop.addEventListener(event, () => drop.classList.remove("over"));
}
drop.addEventListener("drop", (dropped) => {
  dropped.preventDefault();
  if (dropped.dataTransfer.files.length) {
    files.files = dropped.dataTransfer.files;
    files.dispatchEvent(new Event("change", { bubbles: true }));
  }
});
// A browser that comes back to the page may have filled the field in again.
window.addEventListener("pageshow", offerBaselines);
