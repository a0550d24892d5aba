// The form: files dropped and checked for their columns, metrics searched for and chosen by task.
// Without it the form is whole: what is wrong is told when it is sent.
"use strict";

const form = document.getElementById("start");
const files = form.elements.file;
const drop = document.getElementById("_drop");
const columns = document.getElementById("_columns");
const unread = document.getElementById("_unread");
const find = document.getElementById("_find");
const list = document.getElementById("_found");
const said = document.getElementById("_said");
const selects = [...columns.querySelectorAll("select")];
const rows = [...document.querySelectorAll("#_picker li[data-name]")];
const homes = rows.map((row) => row.parentElement);
const boxes = rows.map((row) => row.querySelector("input"));
// Of what is read line by line the beginning is enough.
const HEAD = 1 << 20;
const LINES = /\.(jsonl|ndjson|csv|tsv)$/i;
let asking = 0;

function metrics() {
  const specs = form.elements.specs.value.split("\n").filter((line) => line.trim());
  return [...boxes.filter((box) => box.checked && !box.disabled).map((box) => box.value), ...specs];
}

function tell() {
  const names = metrics();
  const lost = boxes.filter((box) => box.checked && box.disabled).map((box) => box.value);
  const closed = form.elements.set?.selectedOptions[0].dataset.closed;
  said.textContent = [
    names.length ? `With ${names.join(", ")}.` : "No metric is chosen yet.",
    lost.length ? `Left out, as a column is missing: ${lost.join(", ")}.` : "",
    closed ? `Not offered here: ${closed}.` : "",
  ].filter(Boolean).join(" ");
}

function takeSet() {
  const specs = JSON.parse(form.elements.set.selectedOptions[0].dataset.specs || "[]");
  boxes.forEach((box) => { box.checked = specs.includes(box.value); });
  const names = new Set(boxes.map((box) => box.value));
  form.elements.specs.value = specs.filter((spec) => !names.has(spec)).join("\n");
  tell();
}

function checkSize() {
  const limit = Number(form.dataset.limit);
  const most = Number(form.dataset.systems);
  const size = [...files.files].reduce((sum, file) => sum + file.size, 0);
  let wrong = "";
  if (size > limit) {
    const what = files.files.length > 1 ? "The files together are" : "The file is";
    wrong = `${what} larger than ${limit / 1048576} MB.`;
  } else if (files.files.length > most) {
    wrong = `At most ${most} files can be compared.`;
  }
  files.setCustomValidity(wrong);
  files.reportValidity();
}

async function columnsOf(file) {
  const part = LINES.test(file.name) && file.size > HEAD ? file.slice(0, HEAD) : file;
  const body = new FormData();
  selects.forEach((select) => body.append(select.name, select.value));
  body.append("file", part, file.name);
  const answer = await fetch("/columns", { method: "POST", body });
  const found = await answer.json();
  // A first line that goes on behind the part isn't wrong, nor a file that couldn't be looked at now.
  return found.problem && (part !== file || !answer.ok) ? { columns: [], read: {}, lacking: {} } : found;
}

function offer(found) {
  const names = [...new Set(found.flatMap((one) => one.columns))];
  for (const select of selects) {
    const chosen = select.value;
    const read = found.map((one) => one.read[select.dataset.column]);
    const all = read.every(Boolean) ? `${[...new Set(read)].join(", ")} (found)` : "not found";
    select.replaceChildren(new Option(all, ""), ...names.map((name) => new Option(name, name)));
    select.value = names.includes(chosen) ? chosen : "";
  }
  columns.hidden = names.length === 0;
  rows.forEach((row, i) => {
    const lacking = new Set(found.flatMap((one) => one.lacking[boxes[i].value] || []));
    const needs = row.querySelector(".needs");
    boxes[i].disabled = lacking.size > 0;
    row.classList.toggle("lacking", boxes[i].disabled);
    needs.hidden = !boxes[i].disabled;
    needs.textContent = boxes[i].disabled ? `Needs ${[...lacking].join(" and ")}.` : "";
  });
  tell();
}

async function check() {
  const turn = ++asking;
  const chosen = [...files.files];
  document.getElementById("_systems").hidden = chosen.length < 2;
  let found = [];
  if (files.validity.valid) {
    try {
      found = await Promise.all(chosen.map(columnsOf));
    } catch {
      found = []; // What is wrong is told when the files are sent.
    }
  }
  if (turn !== asking) {
    return;
  }
  const problem = found.find((one) => one.problem);
  unread.textContent = problem ? problem.problem : "";
  unread.hidden = !problem;
  offer(problem ? [] : found);
}

async function search() {
  const text = find.value.trim();
  let names = [];
  if (text) {
    const answer = await fetch(`/api/metrics?${new URLSearchParams({ search: text })}`);
    names = (await answer.json()).metrics.map((metric) => metric.name);
  }
  if (text !== find.value.trim()) {
    return; // Somebody typed on.
  }
  rows.forEach((row, i) => homes[i].append(row));
  list.replaceChildren(...names.flatMap((name) => rows.filter((row) => row.dataset.name === name)));
  list.hidden = !text;
  document.querySelectorAll("#_picker .family, #_picker .shut").forEach((one) => { one.hidden = Boolean(text); });
}

// Files that were sent would have to be chosen again.
function hold(event) {
  const names = [...files.files].map((file) => file.name);
  const text = form.elements.text.value.trim();
  const isReports = names.length > 0 && names.every((name) => /\.json(\.|$)/i.test(name));
  let wrong = "";
  if (!names.length && !text) {
    wrong = "Choose a file, or paste samples.";
  } else if (!names.length && new Blob([text]).size > Number(form.dataset.text)) {
    wrong = `The pasted text is longer than ${form.dataset.text / 1048576} MB; save it as a file and choose that.`;
  } else if (!unread.hidden) {
    wrong = "Choose another file.";
  } else if (!metrics().length && !isReports) {
    wrong = "Choose a metric.";
    document.getElementById("_metrics").open = true;
  }
  if (wrong) {
    event.preventDefault();
    said.textContent = wrong;
  }
}

function chooseFiles() {
  form.elements.baseline.replaceChildren(...[...files.files].map((file, i) => new Option(file.name, i)));
  checkSize();
  check();
}

document.getElementById("_search").hidden = false;
form.addEventListener("submit", hold);
files.addEventListener("change", chooseFiles);
selects.forEach((select) => select.addEventListener("change", check));
form.elements.set?.addEventListener("change", takeSet);
form.elements.specs.addEventListener("input", tell);
document.getElementById("_picker").addEventListener("change", tell);
find.addEventListener("input", search);
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault(); // It would send the form.
  }
});
for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragenter" || name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) {
      files.files = event.dataTransfer.files;
      chooseFiles();
    }
  });
}
// A browser that comes back to the page may have filled the fields in again.
window.addEventListener("pageshow", chooseFiles);
