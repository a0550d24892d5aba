// An opened sample: what the systems share, then a column each, one metric at a time.
const sampleDetails = data => {
  const { element, folded, number, own, shown, text: paragraph, value } = steps;
  const several = data.systems.length > 1;
  const LONG = 600, MANY = 5;

  // Names of columns and systems are the user's own, and stay as they are.
  const label = text => element("p", "label", text);

  const outputsOf = metric => data.outputs.filter(output => output.metric === metric);
  // Of many outputs those that one reads first; the others are folded below.
  const mainOf = (metric, chosen) => {
    const outputs = outputsOf(metric), isMain = one => one.headline || (one === chosen && one.output !== "score");
    return outputs.length > MANY ? outputs.filter(isMain) : outputs;
  };
  const scores = (sample, metric, system, outputs = outputsOf(metric)) => outputs
    .map(({ output, values, whole }) => `${output} ${number(values[system][sample], whole)}`)
    .join(" · ");

  // How a system differs from the first; "" for the first itself.
  const signedGap = ({ values, whole }, sample, system) => {
    const gap = system ? values[system][sample] - values[0][sample] : NaN;
    if (Number.isNaN(gap)) return "";
    return gap === 0 ? "±0" : (gap > 0 ? "+" : "") + number(gap, whole).replace("-", "−");
  };

  const metrics = [...new Set(data.outputs.map(output => output.metric))];
  const messagesOf = (found, system) => found?.shared.messages ?? found?.own?.[system].messages ?? null;

  // The verdicts of a metric on messages that are shown.
  const judged = (found, system, metric) => {
    const given = own(found.steps[system], metric) ?? [];
    const messages = messagesOf(found, system);
    const items = given.length === 1 && messages ? own(given[0], "messages") : null;
    return conversation.judged(items, messages) ? items : [];
  };
  const conversationOf = (found, systems) => conversation.of(messagesOf(found, systems[0]),
    systems.flatMap(system => metrics.map(metric =>
      [systems.length > 1 ? `${data.systems[system]} ${metric}` : metric, judged(found, system, metric)])));

  const seen = (sample, chosen, system, found) => {
    const { metric } = chosen;
    const problem = own(data.problems[system], metric);
    const outputs = outputsOf(metric), main = mainOf(metric, chosen);
    const parts = [element("p", "figures", scores(sample, metric, system, main))];
    const reason = own(problem?.samples, sample);
    if (reason !== undefined) {
      const [status, why] = problem.reasons[reason];
      parts.push(element("p", "why", `${status}: ${why}`));
    }
    const given = own(found?.steps[system], metric);
    if (given) {
      const verdicts = judged(found, system, metric);
      const steps = given.flatMap((step, i) => {
        const { messages, ...others } = step;
        return [...(given.length > 1 ? [label(`candidate ${i + 1}`)] : []), ...value(verdicts.length ? others : step)];
      });
      if (verdicts.length) steps.unshift(label(`on messages: ${conversation.counts(verdicts.map(one => one.verdict))}`));
      // Beside other systems, marked texts repeat what is read already; what a judge said doesn't.
      const repeats = several && data.explaining.includes(metric);
      parts.push(...(repeats ? [folded(`What ${metric} saw`, ...steps)] : steps));
    } else if (found !== null && data.explaining.includes(metric)) {
      const each = own(data.explained, metric) ?? 0;
      const ends = several ? `each system's scores and their differences from ${data.systems[0]}` : "its scores";
      const fit = data.kept < data.size ? ", as far as texts fit into it" : "";
      parts.push(label(
        `This file shows what ${metric} saw in ${each} samples at each end of ${ends}, and in the first ${each}${fit}.`));
    }
    if (main.length < outputs.length) {
      parts.push(folded(`All ${outputs.length} outputs`, element("p", "figures", scores(sample, metric, system))));
    }
    return parts;
  };

  const first = part => {
    if (conversation.are(part)) return conversation.plain(part);
    return Array.isArray(part) ? first(part[0] ?? "") : String(part ?? "");
  };
  const textsIn = part => [part ?? []].flat(Infinity).filter(one => typeof one === "string");
  const references = found => textsIn(found.shared.references);

  // What a system says: its predictions, or else the last answer in its conversation.
  const texts = (found, system) => {
    const messages = messagesOf(found, system), said = textsIn(found.said[system]);
    return said.length || !messages ? said : [conversation.answered(messages) || conversation.plain(messages.slice(-1))];
  };

  // What a system's texts are marked against; null for nothing.
  const others = (found, system, against) => {
    if (found === null || against === "plain" || Number(against) === system) return null;
    return against === "references" ? references(found) : texts(found, Number(against)).slice(0, 1);
  };

  // The answers that were read from a system's texts, by the extraction.
  const READ = "extract:";
  const readings = Object.entries(data.metadata).filter(([name]) => name.startsWith(READ)).map(([name, values]) => {
    const system = data.systems.findIndex(one => one && name.endsWith(` of ${one}`));
    return { system, values, name: system < 0 ? name : name.slice(0, -` of ${data.systems[system]}`.length) };
  });
  const answers = (sample, system) => readings.filter(one => one.system < 0 || one.system === system)
    .map(({ name, values }) => [name.slice(READ.length), [values[sample]].flat().map(one => one ?? "nothing").join(", ")]);
  const againstName = against => data.systems[against] || "reference";
  // What an answer was read from isn't the text that is compared with a reference.
  const compared = (sample, found, system, against) =>
    answers(sample, system).length && against === "references" ? null : others(found, system, against);
  // The place of the reference that a metric's score of a text came from, as its steps show it.
  const scoredBy = (found, system, metric, candidate) => {
    const shown = own(own(found.steps[system], metric)?.[candidate], "reference");
    return references(found).indexOf(Array.isArray(shown) ? shown.map(one => one.text).join("") : null);
  };
  const answerLines = (sample, system) => answers(sample, system).map(([name, answer]) =>
    element("p", "read", `answer read by ${name}: `, element("b", "", answer)));

  // The first text is there to be read at once; the others, and what is very long, are folded.
  const sharedColumn = (name, part) => {
    if (conversation.are(part)) return [folded(`${name}: ${part.length}`, conversation.of(part))];
    const list = Array.isArray(part) && part.length > 1 && part.every(item => typeof item === "string");
    const [head, rest] = list ? [part[0], part.slice(1)] : [part, []];
    const texts = value(Array.isArray(head) && head.length === 1 ? head[0] : head);
    const long = typeof head === "string" && head.length > LONG;
    const made = long
      ? [folded(`${name}: ${head.slice(0, 120)}…`, ...texts)]
      : [label(name), ...texts];
    if (!rest.length) return made;
    const numbered = element("ol", "", ...rest.map(one => paragraph(one, "li")));
    numbered.start = 2;
    return [...made, folded(`${rest.length} more of ${name}`, numbered)];
  };

  const columns = sample => Object.entries(data.metadata)
    .filter(([name]) => (name !== "id" || !data.ids) && !name.startsWith(READ))
    .map(([name, values]) => [name, [values[sample]].flat().map(shown).join(", ")]);

  // A system's name, its score by the chosen output, and whether it won or lost this sample.
  const heading = (sample, output, system) => {
    const made = element("h4", "", data.systems[system]);
    const values = output.values.map(list => list[sample]);
    const known = values.filter(Number.isFinite);
    const mine = values[system];
    made.append(` ${number(mine, output.whole)}`);
    if (output.better === "neither" || !Number.isFinite(mine)) return made;
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const [best, worst] = output.better === "lower" ? [low, high] : [high, low];
    if (low < high && (mine === best || mine === worst)) {
      made.append(" ", element("span", "rank", mine === best ? "best here" : "worst here"));
    }
    return made;
  };

  // The texts are there with the metric that was chosen, not again with the others.
  const sides = (sample, output, found, view) => element("div", "sides", ...view.systems.map(system => {
    const said = view.texts ? textsIn(found.said[system]) : [];
    const { messages, ...columns } = (view.texts && found.own?.[system]) || {};
    return element("div", "side",
      ...(several ? [heading(sample, output, system)] : []),
      ...Object.entries(columns).flatMap(([name, part]) => sharedColumn(name, part)),
      ...(messages ? [conversationOf(found, [system])] : []),
      ...(said.length && (!several || found.own) && !calls.made(found, system) ? [label("prediction")] : []),
      ...(view.texts ? answerLines(sample, system) : []),
      ...said.flatMap((one, k) => calls.made(found, system) ? [folded("As it was written", paragraph(one))] : reading.of(one, compared(sample, found, system, view.against), againstName(view.against),
        scoredBy(found, system, output.metric, k))),
      ...seen(sample, output, system, found));
  }));

  const KINDS = {
    extra: "only here", moved: "elsewhere in {}", missing: "only in {}",
    copied: "shared with the other text", partly: "in shorter n-grams only", novel: "not shared",
  };
  const meaning = (kind, against) => KINDS[kind].replace("{}", () => data.systems[against] ?? "the reference");
  const legend = (made, against) => {
    const kinds = Object.keys(KINDS).filter(kind => made.some(part => part.querySelector?.(`.${kind}`)));
    const parts = kinds.flatMap((kind, k) => [k ? ", " : "", element(kind === "missing" ? "del" : "mark", kind, meaning(kind, against))]);
    return parts.length ? [element("p", "label", "Marks: ", ...parts)] : [];
  };

  // `view` has the systems to show and what their texts are marked against.
  const of = (sample, found, chosen, { systems, against }) => {
    const { metric } = chosen;
    const made = [];
    if (found === null) {
      made.push(label(`The texts of ${data.kept} samples fit into this file; this one isn't among them.`));
    } else {
      const { messages, ...rest } = found.shared;
      for (const [name, part] of Object.entries(rest)) made.push(...sharedColumn(name, part));
      if (messages) made.push(label(`${messages.length} messages`), conversationOf(found, systems));
      if (!data.texts) made.push(label("The report doesn't contain the texts."));
    }
    made.push(element("h3", "", metric), sides(sample, chosen, found, { systems, against, texts: found !== null }));
    for (const name of metrics.filter(name => name !== metric)) {
      const main = data.outputs.find(output => output.metric === name && output.output === "score");
      const output = main ?? data.outputs.find(output => output.metric === name);
      made.push(folded(name, sides(sample, output, found, { systems, texts: false })));
    }
    const told = columns(sample);
    if (told.length) made.push(element("p", "figures", told.map(one => one.join(" ")).join(" · ")));
    return [...made, ...legend(made, against)];
  };

  // The same as Markdown, for a ticket or a letter: these systems, their scores by this output, and
  // the marks of their texts.
  const markdown = (sample, found, chosen, { systems, against }) => {
    const name = data.ids ? `Sample ${sample} (${shown(data.ids[sample])})` : `Sample ${sample}`;
    const quoted = text => first(text).split("\n").map(line => `> ${line}`).join("\n");
    const lines = [`### ${name}`, ""];
    const quote = (column, part) => {
      const list = Array.isArray(part) && part.length > 1 && part.every(item => typeof item === "string");
      (list ? part : [part]).forEach((item, k) =>
        lines.push(list ? `${column}, ${k + 1} of ${part.length}:` : `${column}:`, "", quoted(item), ""));
    };
    for (const [column, part] of Object.entries(found?.shared ?? {})) quote(column, part);
    for (const k of systems) {
      const own = found?.own?.[k] ?? {}, gap = signedGap(chosen, sample, k);
      const score = `${chosen.label} ${number(chosen.values[k][sample], chosen.whole)}${gap && ` (${gap} from ${data.systems[0]})`}`;
      for (const [column, part] of Object.entries(own)) quote(`${column}${several ? ` of ${data.systems[k]}` : ""}`, part);
      for (const [candidate, said] of textsIn(found?.said[k]).entries()) {
        const marked = reading.markdown(said, compared(sample, found, k, against), scoredBy(found, k, chosen.metric, candidate));
        lines.push(`${several ? data.systems[k] : "prediction"}, ${score}:`, "", quoted(marked), "");
      }
    }
    const [extra, moved, missing] = ["extra", "moved", "missing"].map(kind => meaning(kind, against));
    if (against !== "plain") lines.push(`Against ${againstName(against)}: **${extra}**, *${moved}*, ~~${missing}~~`, "");
    for (const metric of new Set([chosen.metric, ...metrics])) {
      const own = mainOf(metric, chosen);
      for (const k of systems) lines.push(`- ${metric}${several ? `, ${data.systems[k]}` : ""}: ${scores(sample, metric, k, own)}`);
    }
    for (const [column, text] of columns(sample)) lines.push(`- ${column}: ${text}`);
    return lines.join("\n");
  };

  return { signedGap, againstName, answerLines, answers, first, markdown, messagesOf, of, others, references, texts };
};

// A text to read, marked against others: JSON by its keys, code by its lines, all else by its words.
const reading = (() => {
  const { element, folded, text: paragraph } = steps;
  const LONGEST = 200_000, KEYS = 300;
  const NAMES = { extra: "mark", moved: "mark", missing: "del" };

  // What is missing stands between spaces, as the text around it has none there.
  const pieces = (parts, mark = (kind, text) => element(NAMES[kind], kind, text)) => parts.flatMap(({ text, kind }, k) => {
    if (kind !== "missing") return kind ? [mark(kind, text)] : [text];
    const [before, after] = [parts[k - 1]?.text ?? " ", parts[k + 1]?.text ?? " "];
    return [/\s$/.test(before) ? "" : " ", mark(kind, text), /^[\s\p{P}]/u.test(after) ? "" : " "];
  });
  const filled = (name, parts) => {
    const made = paragraph("", name);
    made.append(...pieces(parts));
    return made;
  };

  const asKeys = (own, others, name) => {
    const other = others.map(diff.values).find(Boolean);
    const heads = ["key", "value", ...(other ? [name] : [])].map(text => steps.head("", text));
    const all = diff.keys(own, other ?? new Map()), differs = row => other && row.own !== row.other;
    const listed = all.length > KEYS ? [...all.filter(differs), ...all.filter(row => !differs(row))].slice(0, KEYS) : all;
    const rows = listed.map(row => {
      const { path, own: mine, other: theirs } = row, same = !differs(row);
      const cells = [[mine, "mark", "extra"], ...(other ? [[theirs, "del", "missing"]] : [])];
      return element("tr", "", element("td", "", element("code", "", path || "–")), ...cells.map(([value, tag, kind]) =>
        element("td", "", ...(value === undefined ? [] : [same ? value : element(tag, kind, value)]))));
    });
    const table = element("table", "keys", element("thead", "", element("tr", "", ...heads)), element("tbody", "", ...rows));
    table.dir = "ltr";
    return all.length > KEYS ? [table, element("p", "label", `${KEYS} of ${all.length} keys, those that differ first.`)] : [table];
  };

  // Lines, each whole, as in code or a list of calls; `other` is null for plain ones.
  const lines = (own, other) => {
    const parts = other === null ? null : diff.lines(own, other);
    const made = element("pre", "code", ...(parts
      ? parts.map(({ text, kind }) => element(NAMES[kind] ?? "span", `line ${kind}`, `${text}\n`))
      : [own]));
    made.dir = "ltr";
    made.tabIndex = 0;
    return made;
  };

  // Of several others the one at `place`, if there is one, else the closest.
  const chosen = (others, place) => (others && place in others ? [others[place]] : others ?? []);

  // `others`, which are called `name`, are null for a plain text.
  const of = (text, others, name, place) => {
    const beside = chosen(others, place);
    const own = diff.values(text);
    if (own) return [...asKeys(own, beside, name), folded("As it was written", paragraph(text, "pre"))];
    const code = diff.code(text);
    if (code !== null && text.includes("\n")) {
      const [other = null] = beside;
      const theirs = other && (diff.code(other) ?? other).trimEnd();
      return [lines(code.trimEnd(), theirs), ...(code === text ? [] : [folded("The whole reply", paragraph(text))])];
    }
    if (!beside.length || text.length > LONGEST || beside.includes(text)) return [conversation.cut(text)];
    const { parts, ordered, place: closest } = diff.against(text, beside);
    const which = beside.length > 1 ? closest : place;
    const label = others.length > 1 && which !== undefined
      ? [element("p", "label", `marked against ${name} ${which + 1} of ${others.length}`)] : [];
    const note = "The texts are too long to be put in order: only words that the other lacks are marked.";
    return [...label, filled("p", parts), ...(ordered ? [] : [element("p", "label", note)])];
  };

  // A text with its marks as Markdown; JSON and code stay as they are.
  const SIGNS = { extra: "**", moved: "*", missing: "~~" };
  const markdown = (text, others, place) => {
    const beside = chosen(others, place);
    const isPlain = !beside.length || beside.includes(text) || text.length > LONGEST
      || diff.values(text) || (diff.code(text) !== null && text.includes("\n"));
    const mark = (kind, part) => part.replace(/\S(?:.*\S)?/g, found => SIGNS[kind] + found + SIGNS[kind]);
    return isPlain ? text : pieces(diff.against(text, beside).parts, mark).join("");
  };

  const beginning = (text, most) => {
    const cut = text.split("\n", 12).join("\n");
    return cut.length > most ? cut.slice(0, most).replace(/\s\S*$|[\ud800-\udbff]$/, "") : cut;
  };
  // The part of a text for a cell: its beginning, or what stands around the first hit of `found`.
  // `mark` makes nodes of a part and of where it begins; `whole` says that nothing is cut.
  const part = (text, mark, most, found) => {
    const before = hits.from(text, beginning(text, most).length, found), cut = beginning(text.slice(before), most);
    const made = paragraph("");
    made.append(...(mark ? mark(cut, before) : [cut]));
    if (before) made.prepend("… ");
    return { made, whole: cut.length >= text.trimEnd().length };
  };

  return { markdown, of, part, pieces };
})();

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

  // Marks the part of a text that is shown. A claim is made by the sentence that is it or has it, or at least half of its words.
  const marked = (list, text) => (part, from = 0) => {
    const all = sentences(text), said = one => text.slice(one.start, one.end);
    for (const claim of list.filter(one => one.item)) {
      const exact = all.find(one => said(one) === claim.item) ?? all.find(one => said(one).includes(claim.item));
      const { sentence, share } = nearest(claim.item, all), made = exact ?? (share >= 0.5 ? sentence : null);
      claim.made = made && made.start >= from && made.end <= from + part.length ? made : null;
      claim.made?.claims.push(claim);
    }
    for (const one of all) [one.start, one.end] = [one.start - from, one.end - from];
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

// Calls of tools: those that systems make beside those that are expected, a line each, without ids.
const calls = (() => {
  const { by, element } = steps;
  const { data, record } = report;
  const CALL = /^\[(\d+)\](?:\.function)?\.(name|arguments|args|parameters|input)(?:\.(.*))?$/s;
  const LONG = 100, COUNTED = 1000, WRONG = ["expected, not called", "called with other arguments", "called, not expected"];

  // Arguments by their paths, written alike where they are equal as JSON; long numbers stay as they are.
  const plain = token => (token.startsWith("\"") || token.length < 16 ? JSON.stringify(JSON.parse(token)) : token);
  const given = text => new Map([...diff.values(text) ?? [["text", JSON.stringify(text)]]].filter(([key]) => key).map(([key, token]) => [key, plain(token)]));
  const ofMessages = messages => messages.flatMap(one => one.calls ?? []).map(({ name, arguments: text }) => ({ name, given: given(text) }));
  // The calls of a JSON list; null for another text.
  const ofText = text => {
    const found = diff.values(text ?? ""), list = [];
    if (found?.get("") === "[]") return [];
    for (const [path, token] of found ?? []) {
      const [, place, part, key] = path.match(CALL) ?? [];
      if (!place) continue;
      const call = list[place] ??= { given: new Map() };
      if (part === "name") call.name = JSON.parse(token);
      else if (key) call.given.set(key, plain(token));
      else if (token.startsWith("\"")) call.given = given(JSON.parse(token));
    }
    return list.length && list.every(one => one.name) ? list : null;
  };
  const first = part => [part ?? []].flat().find(one => typeof one === "string");
  const expected = ({ shared }) => (shared.reference_messages ? ofMessages(shared.reference_messages) : ofText(first(shared.references)));

  // The calls that are expected of a sample, [] if it needs none; null in reports without any.
  const some = Array.from({ length: Math.min(data.size, data.chunk) }, (_, sample) => record(sample)).some(found => found && expected(found)?.length);
  const of = found => (some && found ? expected(found) : null);
  const made = (found, system) => {
    const messages = found.shared.messages ?? found.own?.[system].messages;
    return of(found) && (messages ? ofMessages(messages) : ofText(first(found.said[system])));
  };

  // For each expected call the one of the same name that differs least, then those that aren't expected;
  // `wrong` is a place in WRONG.
  const aligned = (due, own) => {
    const pairs = due.flatMap((one, i) => own.flatMap((call, j) => {
      const keys = [...new Set([...one.given.keys(), ...call.given.keys()])];
      return one.name === call.name ? [{ i, j, differs: keys.filter(key => one.given.get(key) !== call.given.get(key)) }] : [];
    }));
    const lines = due.map(() => ({ wrong: 0 })), used = new Set();
    for (const { i, j, differs } of pairs.sort((a, b) => a.differs.length - b.differs.length)) {
      if (lines[i].call || used.has(j)) continue;
      lines[i] = { call: own[j], differs, wrong: differs.length ? 1 : null };
      used.add(j);
    }
    return [...lines, ...own.filter((_, j) => !used.has(j)).map(call => ({ call, differs: [], wrong: 2 }))];
  };

  // A text that could be no other value is written without quotes.
  const shown = token => {
    const text = token.startsWith("\"") ? JSON.parse(token) : token;
    const all = /^\p{L}[^\n,()="]*$|^\d[\w.:/-]*[a-z:/-][\w.:/-]*$/u.test(text) && !/^(?:true|false|null)$/.test(text) ? text : token;
    return all.length > LONG ? `${all.slice(0, LONG)}…` : all;
  };
  const written = ({ name, given: own }, differs = []) => element("code", "", `${name}(`, ...[...own].flatMap(([key, token], k) => {
    const one = `${key}=${shown(token)}`, last = k === own.size - 1;
    return [element("span", "", differs.includes(key) ? element("b", "worse", one) : one, last ? "" : ","), last ? "" : " "];
  }), ")");
  const sign = right => Object.assign(element("span", right ? "best" : "worse", right ? "✓" : "✗"), { role: "img", ariaLabel: right ? "right" : "wrong" });
  const line = ({ call, differs, wrong }) => {
    if (wrong === null || !call) return [sign(!wrong && call), call ? " as expected" : " not called"];
    const lacking = differs.filter(key => !call.given.has(key)).join(", ");
    return [sign(false), " ", written(call, differs), element("small", "", wrong === 2 ? " not expected" : lacking && ` without ${lacking}`)];
  };
  // A sample's lines: what is expected, then what each system does.
  const lines = (found, systems) => {
    const due = of(found), each = systems.map(system => aligned(due, made(found, system) ?? []));
    return Array.from({ length: Math.max(1, ...each.map(list => list.length)) }, (_, k) => [
      [k ? "" : element("small", "", "expected "), due[k] ? written(due[k]) : k || due.length ? "" : "no call"],
      ...each.map(list => (list[k] ? line(list[k]) : k || due.length ? [] : [sign(true), " no call"])),
    ]);
  };

  // Counted where all samples are in the file, and few enough to be read at once.
  if (some && data.kept === data.size && data.size <= COUNTED) {
    by("wrong").append(steps.table(data.systems.map((name, system) => {
      const counts = WRONG.map(kind => [kind, 0]);
      for (let sample = 0; sample < data.size; sample++) {
        const found = record(sample);
        for (const { wrong } of aligned(of(found) ?? [], made(found, system) ?? [])) if (wrong !== null) counts[wrong][1] += 1;
      }
      return { ...(name ? { system: name } : {}), ...Object.fromEntries(counts) };
    })));
    by("wrong").hidden = false;
  }

  // The tasks are one stop of the keyboard, with arrows between them.
  addEventListener("keydown", ({ target, key }) => {
    const all = [...target.closest?.("#tasks")?.querySelectorAll("button") ?? []];
    all[all.indexOf(target) + { ArrowLeft: -1, ArrowRight: 1 }[key]]?.focus();
  });

  return { lines, made, of };
})();
