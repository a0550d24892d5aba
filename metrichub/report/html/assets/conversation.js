// A conversation: every message with its calls, what they returned, and the verdicts on it.
const conversation = (() => {
  const { element, folded, isObject, text, value } = steps;
  const LONG = { user: 2000, assistant: 2000 }, ELSE = 300, MOST = 20000, PART = 20, LINE = 100;

  const are = part => Array.isArray(part) && part.length > 0 && part.every(one => isObject(one) && "role" in one);

  // It ends at no half of a character.
  const start = (full, most) => full.slice(0, most).replace(/[\ud800-\udbff]$/, "");
  const line = full => {
    const flat = full.slice(0, 4 * LINE).replace(/\s+/g, " ").trim();
    return flat.length > LINE || full.length > 4 * LINE ? `${start(flat, LINE)}…` : flat;
  };

  // The browser is slow with a megabyte, and nobody reads it.
  const cut = (full, name = "p") => {
    if (full.length <= MOST) return text(full, name);
    const made = text(start(full, MOST), name);
    const all = steps.button(`Show all ${full.length.toLocaleString("en")} characters`, () => {
      made.textContent = full;
      made.tabIndex = -1;
      made.focus({ preventScroll: true });
    });
    made.append("… ", all);
    return made;
  };

  const spoken = ({ role, text: full = "" }) => {
    if (!full) return [];
    return [full.length > (LONG[role] ?? ELSE) ? folded(line(full), cut(full)) : cut(full)];
  };

  // JSON goes from left to right, whatever its texts do.
  const called = ({ name, arguments: full }) => {
    if (full === "{}") return element("p", "text", element("code", "", `${name}()`));
    const made = folded(element("code", "", line(`${name} ${full}`)), cut(full, "pre"));
    for (const part of made.children) part.dir = "ltr";
    return made;
  };

  const verdict = (message, [name, { index, item, verdict: word, reason, ...more }]) => [
    element("p", "label", `${name} `, element("b", "", word)),
    ...(item && item !== message.text ? [text(item)] : []),
    ...(reason ? [text(reason)] : []),
    ...(Object.keys(more).length ? [folded(Object.keys(more).join(", "), ...value(more))] : []),
  ];

  // The messages as elements, with their numbers; a tool's stands below the call that it answers.
  const rows = (messages, verdicts) => {
    const results = new Map();
    messages.forEach(({ result_of, calls = [] }, index) => {
      results.get(result_of)?.push(index);
      for (const call of calls) results.set(call.id, []);
    });
    const row = (index, numbers) => {
      numbers.push(index);
      const own = verdicts.get(index) ?? [], room = own.length || (verdicts.size && numbers.length === 1);
      const message = messages[index];
      const { role, name, calls = [], contexts = [], left_out: left = [] } = message;
      const parts = [
        element("p", "label", `${index} `, element("b", "", role), ...(name ? [` ${line(name)}`] : [])),
        ...spoken(message),
        ...left.map(kind => element("p", "label", `[${kind}]`)),
        ...calls.flatMap(call => [called(call), ...results.get(call.id).map(own => row(own, numbers))]),
        ...(contexts.length ? [folded(`retrieved contexts: ${contexts.length}`, ...contexts.map(one => cut(one)))] : []),
      ];
      return element("div", `message ${role}`, element("div", "", ...parts),
        ...(room ? [element("div", "verdicts", ...own.flatMap(one => verdict(message, one)))] : []));
    };
    const below = new Set([...results.values()].flat());
    return messages.flatMap((_, index) => {
      const numbers = [];
      return below.has(index) ? [] : [[row(index, numbers), numbers]];
    });
  };

  // How often each word is there: "yes 3 · no 1".
  const counts = list => {
    const times = new Map();
    for (const word of list) times.set(word, (times.get(word) ?? 0) + 1);
    return [...times].map(pair => pair.join(" ")).join(" · ");
  };

  // `lists` are the names of metrics and their verdicts on the messages.
  const of = (messages, lists = []) => {
    const verdicts = new Map();
    for (const [name, items] of lists) {
      for (const item of items) verdicts.set(item.index, [...(verdicts.get(item.index) ?? []), [name, item]]);
    }
    const all = rows(messages, verdicts);
    const made = element("div", "conversation", ...all.splice(0, PART).map(([row]) => row));
    while (all.length) {
      const part = all.splice(0, PART), numbers = part.flatMap(([, own]) => own);
      const words = numbers.flatMap(index => verdicts.get(index) ?? []).map(([name, item]) => `${name} ${item.verdict}`);
      const summary = `Messages ${numbers[0]} to ${Math.max(...numbers)}`;
      made.append(folded(words.length ? `${summary}: ${counts(words)}` : summary, ...part.map(([row]) => row)));
    }
    return made;
  };

  // Verdicts on messages, which have their numbers.
  const judged = (items, messages) => Array.isArray(items) && items.length > 0
    && items.every(item => isObject(item) && "verdict" in item && Number.isInteger(item.index) && item.index in messages);

  const asked = messages => (messages.find(one => one.role === "user" && one.text) ?? messages[0])?.text ?? "";
  const answered = messages => messages.findLast(one => one.role === "assistant" && one.text)?.text ?? "";

  const plain = messages => messages.map(({ role, text: full = "", calls = [], left_out: left = [] }) => [
    `${role}: ${full}`,
    ...left.map(kind => `[${kind}]`),
    ...calls.map(({ name, arguments: own }) => `${name}(${own})`),
  ].join("\n")).join("\n");

  return { are, answered, asked, counts, cut, judged, of, plain };
})();
