// The first page: a question finds pages as it is typed, and two choices lead to some metrics.
"use strict";
(() => {
  const ask = document.getElementById("mh-ask");
  if (ask) {
    const box = document.getElementById("mh-question");
    const list = document.getElementById("mh-answers");
    const count = document.getElementById("mh-answers-count");
    let index;
    // A page without a server may not fetch a file, but run it as a script.
    const load = () => index ??= location.protocol !== "file:"
      ? fetch("search.json").then((answer) => answer.json())
      : new Promise((done, failed) => {
        const script = document.createElement("script");
        script.onload = () => done(__index);
        script.onerror = failed;
        script.src = "search.js";
        document.head.append(script);
      });
    const plain = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent;
    const line = ({ location: where, title, text }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = where;
      link.textContent = plain(title);
      const small = document.createElement("small");
      small.textContent = plain(text);
      item.append(link, small);
      return item;
    };
    const answer = async () => {
      const found = await load();
      const question = box.value;
      const pages = metrichubFind(found, question);
      list.replaceChildren(...pages.slice(0, 5).map((at) => line(found.items[at])));
      count.value = !question.trim() ? "" : pages.length ? `the best of ${pages.length}` :
        "No metric or guide matches. Try other words.";
    };
    box.addEventListener("input", answer);
    ask.addEventListener("submit", (event) => {
      event.preventDefault();
      list.querySelector("a")?.click();
    });
    ask.hidden = false;
  }

  const choose = document.getElementById("mh-choose");
  if (!choose) return;
  const rows = [...document.querySelectorAll("#mh-advice tbody tr")];
  const evaluate = document.getElementById("mh-evaluate");
  const have = document.getElementById("mh-have");
  const show = () => {
    for (const row of rows) {
      row.hidden = row.dataset.evaluate !== evaluate.value || row.dataset.have !== have.value;
      row.querySelector("details").open = !row.hidden;
    }
  };
  const offer = () => {
    const fit = rows.filter((row) => row.dataset.evaluate === evaluate.value);
    have.replaceChildren(...fit.map((row) => new Option(row.dataset.have)));
    show();
  };
  evaluate.addEventListener("change", offer);
  have.addEventListener("change", show);
  choose.addEventListener("submit", (event) => event.preventDefault());
  // What is chosen needs no columns of its own.
  document.getElementById("mh-advice").classList.add("mh-chosen");
  choose.hidden = false;
  offer();
})();
