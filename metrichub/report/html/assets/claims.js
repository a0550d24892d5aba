// Claims that a judge decided on: the sentences that make them, and those of the evidence nearest to them.
const claims = (() => {
  const { element, folded, own } = steps;
  const KINDS = { yes: ["supported", "✓ supported"], idk: ["unsettled", "? not settled"], no: ["contradicted", "✗ contradicted"] };
  const READ = 20_000, LISTED = 8, LONG = 120, OPEN = 1500;
  // The point of an initial or of a title ends no sentence.
  const SENTENCE = /\S.*?(?:(?<!(?:^|[\s.(])(?:\p{L}|Mrs?|Ms|Dr|St))[.!?…]["'”’)\]]*(?=\s)|[。！？][”’）」]*|\n\s*\n|$)/gsu;

  const wordsOf = text => new Set(diff.words(text.toLowerCase()).filter(word => /[\p{L}\p{N}]/u.test(word)));
  const sentences = text => [...text.slice(0, READ).matchAll(SENTENCE)]
    .map(({ index: start, 0: said }) => ({ start, end: start + said.length, words: wordsOf(said), claims: [] }));
  // The sentence that is most like a text, and how many of the text's words it has.
  const nearest = (text, list) => {
    const asked = [...wordsOf(text)];
    let best = { score: 0, share: 0 };
    for (const sentence of list) {
      const shared = asked.filter(word => sentence.words.has(word)).length, score = shared / (asked.length + sentence.words.size);
      if (score > best.score) best = { sentence, score, share: shared / asked.length };
    }
    return best;
  };
  // A text with the numbers of claims behind their sentences.
  const numbered = (text, list, mark, rest) => {
    let at = 0;
    const parts = list.filter(one => one.claims.length).flatMap(({ start, end, claims }) => {
      const before = text.slice(at, start);
      at = end;
      return [rest(before), mark(text.slice(start, end), claims), element("sup", "", claims.map(one => one.number).join(","))];
    });
    return [...parts, rest(text.slice(at))];
  };

  // The key of a metric's claims in its steps, and the column of its evidence, if it judges claims.
  const about = metric => own(report.data.judged, metric) ?? [];
  // The claims of all systems' texts; null where the metric judges none.
  const of = (found, systems, metric) => found && about(metric).length ? systems.flatMap(system =>
    (own(own(found.steps[system], metric)?.[0], about(metric)[0]) ?? []).map(claim => ({ ...claim, system, kind: KINDS[claim.verdict] ?? KINDS.idk })))
    .map((claim, k) => ({ ...claim, number: k + 1 })) : null;

  // Marks a part of a text. A claim is made by the sentence that has it, or half of its words at least.
  const marked = list => part => {
    const all = sentences(part);
    for (const claim of list) {
      const exact = all.find(one => part.slice(one.start, one.end).includes(claim.item)), { sentence, share } = nearest(claim.item, all);
      claim.made = exact ?? (share >= 0.5 ? sentence : null);
      claim.made?.claims.push(claim);
    }
    const worst = claims => Object.values(KINDS).findLast(kind => claims.some(one => one.kind === kind))[0];
    return numbered(part, all, (text, claims) => element("u", worst(claims), text), text => text);
  };
  // What the judge says of each claim, without the sentence that the offline judge ends with.
  const listed = list => {
    const made = element("ol", "claims", ...list.slice(0, LISTED).map(({ kind: [kind, word], item, made, reason = "" }) =>
      element("li", "", element("b", kind, word), made ? "" : element("q", "", item), reason && `: ${reason.replace(/; nearest: .*$/s, "")}`)));
    [made.start, made.dir] = [list[0].number, "auto"];
    return made;
  };

  // The texts that decided: for each claim the sentence that the judge quotes, or else the nearest is marked.
  const evidence = (name, texts, list, first) => {
    const all = texts.map(sentences), cut = text => (text.length > LONG ? `${text.slice(0, LONG).replace(/\s\S*$/, "")}… ` : text);
    for (const claim of list) {
      const quoted = claim.reason?.match(/(?:^|[\s:(])["'“‘](.{20,}?)["'”’](?=[\s.,;:)]|$)/s)?.[1];
      nearest(quoted ?? claim.item, all.flat()).sentence?.claims.push(claim);
    }
    const made = folded(`${texts.length} ${texts.length > 1 ? name : name.slice(0, -1)}; marked: the sentence nearest to each claim`, ...texts.map((text, k) => {
      const none = all[k].every(one => !one.claims.length), part = steps.text(`${k + 1} `);
      part.append(...numbered(text, all[k], said => element("em", "", said), cut), none ? element("small", "", " nearest to no claim") : "");
      return part;
    }));
    made.open = first && made.textContent.length < OPEN;
    return made;
  };

  const legend = () => ["Underlined are claims: ", ...Object.values(KINDS).flatMap(([kind, word], k) => [k ? ", " : "", element("u", kind, word.slice(2))]), ". "];

  return { LISTED, about, evidence, legend, listed, marked, of };
})();
