// What one system says that another doesn't: tables of n-grams, of which each lists its samples.
const ngrams = (() => {
  const { by, element, head } = steps;
  const { data } = report;
  const found = data.ngrams;

  const names = ({ pair }, list) => (list % 2 ? [...pair].reverse() : pair).map(k => data.systems[k]);
  const kind = list => ["as a reference does", "where no reference has it"][Math.floor(list / 2)];

  // An n-gram is named by its pair, its list and its place in it: "0.1.3".
  const entry = name => {
    const [pair, list, place] = name.split(".").map(Number);
    const row = found?.pairs[pair]?.lists[list]?.[place];
    return row && { row, list, names: names(found.pairs[pair], list) };
  };
  const samples = name => {
    const one = entry(name);
    if (!one) return name ? new Set() : null;
    let at = 0;
    return new Set(one.row[5].map(step => (at += step)));
  };
  const text = name => entry(name)?.row[0] ?? "";
  const said = name => {
    const one = entry(name);
    if (!one) return name && `n-gram ${name} (not in this report)`;
    const [text, , , , alone, kept] = one.row;
    const part = kept.length < alone ? `the first ${kept.length} of ${alone} samples where ` : "";
    return `${part}${one.names[0]} saying “${text}” ${kind(one.list)} and ${one.names[1]} not so`;
  };

  const table = (pair, list) => {
    const [one, other] = names(found.pairs[pair], list);
    const rows = found.pairs[pair].lists[list];
    const caption = element("caption", "", `More in ${one}`);
    if (!rows.length) return element("div", "", element("p", "none", caption.textContent), element("p", "aside", "No n-gram stands out."));
    const number = text => element("td", "number", String(text));
    const heads = [head("", "n-gram"), ...[one, other, "z"].map(text => head("number", text))];
    const body = rows.map(([text, mine, theirs, z, alone], place) => {
      const button = steps.button(text, undefined, "", `${text}: show ${alone} samples`);
      button.dir = "auto";
      button.dataset.select = JSON.stringify({ ngram: `${pair}.${list}.${place}` });
      return element("tr", "", element("td", "", button), number(mine), number(theirs), number(z.toFixed(1)));
    });
    return element("table", "", caption, element("thead", "", element("tr", "", ...heads)), element("tbody", "", ...body));
  };

  const show = () => {
    const pair = Number(by("ngram-pair").value);
    for (const [k, id] of ["ngrams-matching", "ngrams-unsupported"].entries()) {
      by(id).replaceChildren(table(pair, 2 * k), table(pair, 2 * k + 1));
    }
  };
  if (!found) return { samples, said, text };
  found.pairs.forEach((one, k) => by("ngram-pair").append(new Option(names(one, 0).join(" and "), k)));
  by("ngram-pair").addEventListener("change", show);
  by("of-ngram-pair").hidden = found.pairs.length < 2;
  by("ngrams").hidden = false;
  show();

  return { samples, said, text };
})();
