// The form: files are sent when they are chosen or dropped; metrics are proposed anew for other uses of
// columns, and searched for. Without this script buttons do it.
"use strict";

const form = document.getElementById("start");
const files = form.elements.file;
const drop = document.getElementById("_drop");

function stop(text) {
  const wrong = document.getElementById("_wrong");
  wrong.textContent = text;
  wrong.hidden = false;
}

function sendFiles() {
  const size = [...files.files].reduce((sum, file) => sum + file.size, 0);
  const limit = Number(form.dataset.limit);
  if (size > limit) {
    stop(`${files.files.length > 1 ? "The files together are" : "The file is"} larger than ${limit / 1048576} MB.`);
  } else if (files.files.length) {
    document.getElementById("_dropped").textContent = "Reading …";
    form.submit();
  }
}

// What the button would do, and why it can't.
function tell() {
  const said = document.getElementById("_said");
  if (!said || "problem" in said.dataset) {
    return;
  }
  const ticked = [...form.querySelectorAll("input[data-asks]:checked")];
  const written = form.elements.specs.value.trim() !== "";
  const remote = ticked.filter((box) => box.dataset.asks === "remote").map((box) => box.value);
  const local = ticked.some((box) => box.dataset.asks === "local");
  document.getElementById("_go").disabled = !ticked.length && !written;
  const quiet = local ? "Nothing leaves this machine." : "No model is called and nothing leaves this machine.";
  said.textContent = remote.length ? `The server's model is asked for ${remote.join(", ")}.`
    : written ? "" : ticked.length ? quiet : "Choose a metric.";
}

async function propose(by) {
  const body = new FormData(form);
  if (by !== "task" && !("chosen" in form.elements.task.dataset)) {
    body.delete("task"); // Other columns may say another one.
  }
  body.set("do", "propose");
  const page = await (await fetch("/", { method: "POST", body })).text();
  const fresh = new DOMParser().parseFromString(page, "text/html");
  const focused = document.activeElement.id;
  for (const id of ["sentence", "_file-hint", "_wrong", "metrics"]) {
    document.getElementById(id)?.replaceWith(fresh.getElementById(id) || "");
  }
  document.getElementById(focused)?.focus();
  prepare();
}

let asked = "";

async function search(find) {
  const text = asked = find.value.trim();
  const list = document.getElementById("_picker");
  const rows = [...list.children];
  let names = rows.map((row) => row.dataset.name).sort();
  if (text) {
    const answer = await fetch(`/api/metrics?${new URLSearchParams({ search: text })}`);
    names = (await answer.json()).metrics.map((metric) => metric.name);
  }
  if (text === asked) { // Or somebody typed on.
    rows.forEach((row) => { row.hidden = !names.includes(row.dataset.name); });
    list.prepend(...names.flatMap((name) => rows.filter((row) => row.dataset.name === name)));
  }
}

function prepare() {
  const search = document.getElementById("_search");
  if (search) {
    search.hidden = false;
  }
  tell();
}

form.addEventListener("change", (event) => {
  if (event.target === files) {
    sendFiles();
  } else if (event.target.name === "task" || event.target.name.startsWith("as.")) {
    propose(event.target.name);
  } else {
    tell();
  }
});
form.addEventListener("input", (event) => {
  if (event.target.id === "_find") {
    search(event.target);
  } else {
    tell();
  }
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.id === "_find") {
    event.preventDefault(); // It would send the form.
  }
});
form.addEventListener("submit", (event) => {
  if (!files.files.length && !form.elements.text.value.trim() && !form.elements.run) {
    event.preventDefault();
    stop("Choose a file, or paste samples.");
  }
});
for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragenter" || name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) {
      files.files = event.dataTransfer.files;
      sendFiles();
    }
  });
}
// A browser that comes back to the page may have filled the fields in again.
window.addEventListener("pageshow", prepare);
files.classList.add("unseen");
if (performance.getEntriesByType("navigation")[0].type === "navigate") {
  sendFiles(); // Those chosen before this script was there; one that a browser fills in again stays.
}
