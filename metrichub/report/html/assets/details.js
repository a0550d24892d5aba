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
