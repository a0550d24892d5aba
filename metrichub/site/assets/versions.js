// Offers the other versions of the site, which versions.json beside this one's folder lists.
"use strict";
(async () => {
  const { base } = JSON.parse(document.getElementById("__config").textContent);
  const home = new URL(`${base}/`, location.href);
  if (!home.protocol.startsWith("http")) return;
  const list = await (await fetch(new URL("../versions.json", home))).json();
  const here = decodeURIComponent(home.pathname.split("/").at(-2));
  const select = document.createElement("select");
  select.className = "mh-versions";
  select.ariaLabel = "Version";
  for (const { version, title, aliases } of list) {
    const said = aliases.includes("latest") ? `${title} (newest)` : title;
    select.append(new Option(said, version, false, version === here));
  }
  select.addEventListener("change", async () => {
    const other = new URL(`../${encodeURIComponent(select.value)}/`, home);
    const page = location.pathname.slice(home.pathname.length) || "index.html";
    const pages = await (await fetch(new URL("pages.json", other))).json();
    location.href = new URL(pages.includes(page) ? page : "index.html", other);
  });
  document.querySelector(".md-header__title").after(select);
})();
