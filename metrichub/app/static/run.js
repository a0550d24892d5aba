// Follows a run and shows its page again when it has ended. Without this script the page reloads.
"use strict";

const place = document.getElementById("progress");
const bar = document.getElementById("_bar");
const said = document.getElementById("said");

async function follow() {
  try {
    const found = await (await fetch(place.dataset.state)).json();
    if (!["waiting", "running"].includes(found.state)) {
      location.reload();
      return;
    }
    if (found.total) {
      bar.max = found.total;
      bar.value = found.done;
    } else {
      bar.removeAttribute("value");
    }
    said.textContent = found.told;
  } catch {
    said.textContent = "The server doesn't answer.";
    await new Promise((wake) => setTimeout(wake, 2000));
  }
  // The server answers after a moment, so that this asks about once a second.
  setTimeout(follow, 0);
}

follow();
