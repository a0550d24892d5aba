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
