// Asks which columns the chosen files have, offers them, and greys metrics that lack one.
"use strict";

const upload = document.getElementById("upload");
const columns = document.getElementById("_columns");
const unread = document.getElementById("_unread");
const selects = [...columns.querySelectorAll("select")];
// Of what is read line by line the beginning is enough.
const HEAD = 1 << 20;
const LINES = /\.(jsonl|ndjson|csv|tsv)$/i;
let asking = 0;

async function columnsOf(file) {
  const part = LINES.test(file.name) && file.size > HEAD ? file.slice(0, HEAD) : file;
  const body = new FormData();
  for (const select of selects) {
    body.append(select.name, select.value);
  }
  body.append("file", part, file.name);
  const answer = await fetch("/score/columns", { method: "POST", body });
  const found = await answer.json();
  // A first line that goes on behind the part isn't wrong.
  return found.problem && part !== file ? { columns: [], read: {}, lacking: {} } : found;
}

function offer(found) {
  const names = [...new Set(found.flatMap((one) => one.columns))];
  for (const select of selects) {
    const chosen = select.value;
    const read = found.map((one) => one.read[select.dataset.column]);
    const said = read.every(Boolean) ? `${[...new Set(read)].join(", ")} (found)` : "not found";
    select.replaceChildren(new Option(said, ""), ...names.map((name) => new Option(name, name)));
    select.value = names.includes(chosen) ? chosen : "";
  }
  columns.hidden = names.length === 0;
}

function grey(found) {
  for (const box of upload.querySelectorAll("input[name=metric]")) {
    const lacking = new Set(found.flatMap((one) => one.lacking[box.value] || []));
    const said = box.closest("li").querySelector(".needs");
    box.disabled = lacking.size > 0;
    box.closest("li").classList.toggle("lacking", box.disabled);
    said.hidden = !box.disabled;
    said.textContent = box.disabled ? `Needs ${[...lacking].join(" and ")}.` : "";
  }
}

async function check() {
  const turn = ++asking;
  const files = [...upload.elements.file.files];
  let found = [];
  if (upload.elements.file.validity.valid) {
    try {
      found = await Promise.all(files.map(columnsOf));
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
  const fine = problem ? [] : found;
  offer(fine);
  grey(fine);
}

upload.elements.file.addEventListener("change", check);
selects.forEach((select) => select.addEventListener("change", check));
window.addEventListener("pageshow", check);
