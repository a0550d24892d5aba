// Filters the gallery's list by the choices in its form, and keeps them in the address. Where
// agreement with people is chosen, the measured metrics are shown instead, in a table to be sorted.
"use strict";
(() => {
  const form = document.getElementById("mh-filters");
  if (!form) return;
  const withFacets = (item) => ({ item, facets: JSON.parse(item.dataset.facets) });
  const cards = [...document.querySelectorAll("#mh-gallery li")].map(withFacets);
  const gallery = document.getElementById("mh-gallery");
  const measured = document.getElementById("mh-measured");
  const rows = [...(measured?.querySelectorAll("tbody tr") ?? [])].map(withFacets);
  const rated = document.getElementById("mh-rated");
  const sections = [...document.querySelectorAll("#mh-gallery section")];
  const selects = [...form.querySelectorAll("select")];
  const facetSelects = selects.filter((select) => select !== rated);
  const count = document.getElementById("mh-count");
  const none = document.getElementById("mh-none");

  const has = (values, facet, wanted) => {
    if (wanted.startsWith("-")) return !values.includes(wanted.slice(1));
    // A metric for any language is one for this language.
    return values.includes(wanted) || (facet === "language" && values.includes("any"));
  };

  const show = () => {
    const chosen = facetSelects.filter((select) => select.value);
    const fits = (facets) => chosen.every(({ name, value }) => has(facets[name], name, value));
    const asked = rated?.value ?? "";
    for (const { item, facets } of cards) item.hidden = !fits(facets);
    for (const { item, facets } of rows) item.hidden = item.dataset.rated !== asked || !fits(facets);
    const shown = (asked ? rows : cards).filter(({ item }) => !item.hidden).length;
    gallery.hidden = asked !== "";
    measured?.classList.toggle("mh-chosen", asked !== "");
    if (measured) measured.hidden = asked === "" || shown === 0;
    for (const section of sections) section.hidden = !section.querySelector("li:not([hidden])");
    none.hidden = shown > 0;
    const of = asked || chosen.length ? `${shown} of ${cards.length}` : cards.length;
    count.value = `${of} ${cards.length === 1 ? "metric" : "metrics"}`;
  };

  // Numbers are sorted with the highest first, names from A; what has no number comes last.
  const sortBy = (heading, down) => {
    const index = heading.cellIndex;
    const key = ({ item }) => {
      const cell = item.cells[index];
      if (cell.dataset.value === undefined) return cell.textContent.trim().toLowerCase();
      return cell.dataset.value === "" ? (down ? -Infinity : Infinity) : Number(cell.dataset.value);
    };
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => (a === b ? 0 : (a < b) === down ? 1 : -1));
    rows.splice(0, rows.length, ...keyed.map(([, row]) => row));
    measured.querySelector("tbody").append(...rows.map(({ item }) => item));
    for (const other of measured.querySelectorAll("th[data-sort]")) {
      other.setAttribute("aria-sort", other !== heading ? "none" : down ? "descending" : "ascending");
    }
  };
  for (const heading of measured?.querySelectorAll("th[data-sort]") ?? []) {
    heading.setAttribute("aria-sort", heading.dataset.sort);
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      const numbers = rows[0]?.item.cells[heading.cellIndex].dataset.value !== undefined;
      sortBy(heading, now === "none" ? numbers : now === "ascending");
    });
  }

  const keep = () => {
    const query = new URLSearchParams(location.search);
    for (const { name, value } of selects) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    history.replaceState(null, "", location.pathname + (text && `?${text}`) + location.hash);
  };

  const read = () => {
    const query = new URLSearchParams(location.search);
    for (const select of selects) {
      const wanted = query.get(select.name) ?? "";
      const known = [...select.options].some((option) => option.value === wanted);
      select.value = known ? wanted : "";
    }
    show();
  };

  form.addEventListener("change", () => { show(); keep(); });
  // A form's fields are reset after this event, so the choices are cleared here.
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const select of selects) select.value = "";
    show();
    keep();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", read);
  form.hidden = false;
  read();
})();
