// Plain functions that need no page: texts compared and searched, samples chosen.

// Texts against others: words, lines and keys that only one of them has. Nothing here needs a page.
const diff = (() => {
  const MOST = 360_000;
  // A character is a word in scripts that put no spaces between words.
  const ALONE = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"]
    .map(name => `\\p{Script=${name}}`).join("");
  const LETTER = `(?:(?![${ALONE}])[\\p{L}\\p{N}\\p{M}_])`;
  const PICTURE = "\\p{Extended_Pictographic}[\\p{EMod}\\uFE0F]*";
  const WORD = new RegExp([
    `[${ALONE}]\\p{M}*`, "\\p{N}+(?:[.,]\\p{N}+)+", `${LETTER}+(?:['’]${LETTER}+)*`,
    `${PICTURE}(?:\\u200D${PICTURE})*`, "\\s+", "\\P{M}\\p{M}*", ".",
  ].join("|"), "gsu");
  const tokens = text => text.match(WORD) ?? [];
  const isSpace = token => token.trim() === "";
  const words = text => tokens(text).filter(token => !isSpace(token));
  // Words that differ in case alone are no other words; many systems write all in lower case.
  const fold = word => word.toLowerCase();

  // For each of `a` the place in `b` that a longest common subsequence gives it, else -1; null
  // where both are too long.
  const aligned = (a, b) => {
    const match = new Int32Array(a.length).fill(-1);
    let start = 0, [m, n] = [a.length, b.length];
    for (; start < m && start < n && a[start] === b[start]; start++) match[start] = start;
    for (; m > start && n > start && a[m - 1] === b[n - 1]; m--, n--) match[m - 1] = n - 1;
    [m, n] = [m - start, n - start];
    if (m * n > MOST) return null;
    const ids = new Map(), id = word => ids.get(word) ?? (ids.set(word, ids.size), ids.size - 1);
    const [x, y] = [a.slice(start, start + m).map(id), b.slice(start, start + n).map(id)];
    const width = n + 1, best = new Uint16Array((m + 1) * width);
    for (let i = m - 1; i >= 0; i--) {
      for (let j = n - 1; j >= 0; j--) {
        best[i * width + j] = x[i] === y[j] ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    for (let i = 0, j = 0; i < m && j < n;) {
      if (x[i] === y[j]) match[start + i++] = start + j++;
      else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
      else j++;
    }
    return match;
  };

  // How often each word is at most in one of the texts.
  const counted = texts => {
    const most = new Map();
    for (const text of texts) {
      const own = new Map();
      for (const word of words(text).map(fold)) own.set(word, (own.get(word) ?? 0) + 1);
      for (const [word, times] of own) most.set(word, Math.max(times, most.get(word) ?? 0));
    }
    return most;
  };
  const take = (known, word) => {
    const left = known.get(word) ?? 0;
    if (left) known.set(word, left - 1);
    return left > 0;
  };

  // Neighbours of one kind as one part; white space between them belongs to it.
  const joined = parts => {
    const made = [];
    for (const { text, kind } of parts) {
      const [last, before] = [made.at(-1), made.at(-2)];
      if (last?.kind === kind) last.text += text;
      else if (text === "") continue;
      else if (kind && last && before?.kind === kind && !last.kind && isSpace(last.text)) {
        before.text += last.text + text;
        made.pop();
      } else made.push({ text, kind });
    }
    return made;
  };

  // The text with its words of kind "extra" that none of the others has, or not so often.
  const extra = (text, known) => {
    const left = new Map(known);
    return joined(tokens(text).map(token => ({ text: token, kind: isSpace(token) || take(left, fold(token)) ? "" : "extra" })));
  };
  const missing = (text, known) => {
    const own = counted([text]);
    return [...known].reduce((sum, [word, times]) => sum + Math.max(0, times - (own.get(word) ?? 0)), 0);
  };

  // Items of `own` and `other` in one order: kind "" for both, else extra, missing or moved.
  const merged = (own, other, match) => {
    const rest = new Map();
    const taken = new Set(match);
    other.forEach((item, j) => { if (!taken.has(j)) rest.set(item, (rest.get(item) ?? 0) + 1); });
    const made = [];
    let next = 0;
    const skip = end => { for (; next < end; next++) made.push({ item: other[next], kind: "missing", j: next }); };
    own.forEach((item, i) => {
      if (match[i] >= 0) { skip(match[i]); next++; }
      made.push({ item, i, kind: match[i] >= 0 ? "" : take(rest, item) ? "moved" : "extra" });
    });
    skip(other.length);
    return made;
  };

  // The text beside the closest of the others: also what it lacks (missing) and has elsewhere
  // (moved). Long texts, whose words can't be put in order, have their extra words alone.
  const against = (text, others) => {
    const own = tokens(text), mine = own.filter(token => !isSpace(token));
    let best = null;
    others.forEach((other, place) => {
      const theirs = words(other), match = aligned(mine.map(fold), theirs.map(fold));
      if (!match) return;
      const score = 2 * match.filter(j => j >= 0).length / (mine.length + theirs.length || 1);
      if (!best || score > best.score) best = { score, place, theirs, match };
    });
    if (!best) return { parts: extra(text, counted(others)), ordered: false };
    const spaced = tokens(others[best.place]), places = [];
    spaced.forEach((token, at) => { if (!isSpace(token)) places.push(at); });
    const made = [];
    let at = 0, gone = null;
    for (const { item, kind, j } of merged(mine, best.theirs, best.match)) {
      if (kind === "missing") {
        const between = gone === j - 1 ? spaced.slice(places[gone] + 1, places[j]).join("") : "";
        made.push({ text: between + item, kind });
        gone = j;
        continue;
      }
      gone = null;
      if (isSpace(own[at])) made.push({ text: own[at++], kind: "" });
      made.push({ text: item, kind });
      at++;
    }
    made.push({ text: own.slice(at).join(""), kind: "" });
    return { parts: joined(made), place: best.place, ordered: true };
  };

  // Lines, each whole; null where there are too many.
  const lines = (text, other) => {
    const [own, theirs] = [text.split("\n"), other.split("\n")];
    const match = aligned(own, theirs);
    return match && merged(own, theirs, match).map(({ item, kind }) => ({ text: item, kind }));
  };

  // The values of JSON by their paths, each as it is written: JavaScript rounds long numbers.
  const LONGEST = 100_000;
  const values = text => {
    const bare = text.trim().replace(/^```(?:json)?\s*\n([\s\S]*)\n```$/, "$1");
    if (!/^[[{]/.test(bare) || bare.length > LONGEST) return null;
    try { JSON.parse(bare); } catch { return null; }
    const parts = bare.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g), found = new Map();
    let at = 0;
    const walk = path => {
      const part = parts[at++], list = part === "[";
      if (!list && part !== "{") return found.set(path, part);
      if (parts[at] === (list ? "]" : "}")) return at++, found.set(path, list ? "[]" : "{}");
      let index = 0;
      do {
        if (list) walk(`${path}[${index++}]`);
        else {
          const key = JSON.parse(parts[at]);
          at += 2;
          walk(path ? `${path}.${key}` : key);
        }
      } while (parts[at++] === ",");
    };
    try { walk(""); } catch { return null; }
    return found;
  };
  const keys = (own, other) => [...new Set([...own.keys(), ...other.keys()])]
    .map(path => ({ path, own: own.get(path), other: other.get(path) }));

  // The code of a reply: what is fenced, or a text that looks like code; null for prose.
  const FENCED = /```[\w+-]*[ \t]*\n([\s\S]*?)\n?```/;
  const LOOKS = /^\s*(?:def \w+\(|class \w+[(:{ ]|(?:from [\w.]+ )?import [\w.{]|#include\b|(?:async )?function\b|(?:const|let|var) \w+ ?=|(?:public|private|static) \w+|package \w+;?$|func \w+\(|fn \w+|SELECT\b[\s\S]+\bFROM\b)/m;
  const code = text => {
    const fenced = text.match(FENCED);
    return fenced ? fenced[1] : LOOKS.test(text.slice(0, LONGEST)) ? text : null;
  };

  return { against, code, counted, extra, keys, lines, missing, tokens, values, words };
})();

// What a search or an n-gram finds in texts: a pattern, the part to show, and its highlights.
const hits = (() => {
  const LETTER = "[\\p{L}\\p{M}\\p{N}]", BETWEEN = "[^\\p{L}\\p{M}\\p{N}]";
  const literal = text => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  // A character of a script without spaces is a word, whatever stands beside it.
  const isAlone = token => diff.tokens(`x${token}`)[0] === "x";

  // An n-gram has its tokens' letters and digits; a text may have other signs between them.
  const ofNgram = ngram => {
    const tokens = diff.tokens(ngram);
    const parts = tokens.map((token, k) => token === " " ? `${BETWEEN}+`
      : `${k && tokens[k - 1] !== " " ? `${BETWEEN}*` : ""}${literal(token).replaceAll("'", "['’]")}`);
    const start = isAlone(tokens[0]) ? "" : `(?<!${LETTER}['’]?)`;
    return `${start}${parts.join("")}${isAlone(tokens.at(-1)) ? "" : `(?!['’]?${LETTER})`}`;
  };
  const pattern = (query, ngram) => {
    const either = [...(query ? [literal(query)] : []), ...(ngram ? [ofNgram(ngram)] : [])];
    return either.length ? new RegExp(either.join("|"), "giu") : null;
  };

  // Where a part of `shown` characters begins that has the first hit: 0, or a word before it.
  const from = (text, shown, found) => {
    const hit = found && text.matchAll(found).next().value;
    if (!hit || hit.index + hit[0].length <= shown) return 0;
    const start = Math.max(0, hit.index - Math.floor(shown / 3));
    return start + text.slice(start, hit.index).search(/\s\S/) + 1;
  };

  // Ranges, not elements: they leave the marks of a comparison as they are.
  const highlight = globalThis.Highlight && new Highlight();
  if (highlight) CSS.highlights.set("hits", highlight);
  const mark = (part, found) => {
    highlight?.clear();
    if (!highlight || !found) return;
    for (const text of part.querySelectorAll(".text, .code, .sample table td")) {
      const accept = node => node.parentNode.closest("del, sup, .label") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
      const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT, accept), nodes = [];
      let whole = "";
      while (walker.nextNode()) {
        nodes.push([walker.currentNode, whole.length]);
        whole += walker.currentNode.data;
      }
      for (const { index, 0: { length } } of whole.matchAll(found)) {
        for (const [node, start] of nodes) {
          const [first, last] = [Math.max(index - start, 0), Math.min(index + length - start, node.length)];
          if (first < last) highlight.add(new StaticRange({ startContainer: node, startOffset: first, endContainer: node, endOffset: last }));
        }
      }
    }
  };

  return { from, mark, pattern };
})();

// Which samples are listed and in which order: plain functions over numbers and texts.
const choice = (() => {
  const BARS = 20;

  // What samples are sorted by: "1" a system's score, "0-1" the second minus the first, "spread"
  // the range of all systems, "sample" their number.
  const column = (output, key) => {
    if (key === "sample") return null;
    if (key === "spread") {
      return output.values[0].map((_, sample) => {
        const known = output.values.map(list => list[sample]).filter(v => !Number.isNaN(v));
        return known.length ? Math.max(...known) - Math.min(...known) : NaN;
      });
    }
    const [first, second] = key.split("-").map(Number);
    const values = output.values[first];
    return second === undefined ? values : values.map((v, sample) => output.values[second][sample] - v);
  };
  const worstIsHigh = (output, key) => ["people", "spread"].includes(key) || (key !== "sample" && output.better === "lower");

  // Unscored samples come last, whatever the direction; equal ones keep their order.
  const sorted = (rows, values, down) => {
    const sign = down ? -1 : 1;
    return rows.sort((a, b) => {
      if (!values) return sign * (a - b);
      const [x, y] = [values[a], values[b]];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return (x === y ? 0 : sign * (x < y ? -1 : 1)) || a - b;
    });
  };

  // A bar has what is at least its low edge and below its high one; the last has its end, too.
  const bins = (values, whole) => {
    const known = values.filter(Number.isFinite);
    const start = known.reduce((a, b) => Math.min(a, b), Infinity);
    const end = known.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(start < end)) return null;
    const single = whole && end - start < BARS, count = single ? end - start + 1 : BARS;
    const edges = Array.from({ length: count + 1 }, (_, k) =>
      (k === count ? end : start + k * (single ? 1 : (end - start) / count)));
    const place = v => {
      let k = Math.min(count - 1, Math.floor((v - start) / (end - start) * count));
      while (k > 0 && v < edges[k]) k--;
      while (k < count - 1 && v >= edges[k + 1]) k++;
      return k;
    };
    const counts = samples => {
      const made = new Array(count).fill(0);
      for (const v of samples) if (Number.isFinite(v)) made[place(v)] += 1;
      return made;
    };
    return { edges, counts, all: counts(known) };
  };

  const inside = (v, { low, high, below }) => (low === null || v >= low)
    && (high === null || (below ? v < high : v <= high));

  // "0>1" holds where the first system is better than the second, "0=1" where they are equal.
  const wins = (output, pair) => {
    const [first, sign, second] = pair.match(/(\d+)([>=])(\d+)/).slice(1);
    const [a, b] = [output.values[first], output.values[second]];
    if (sign === "=") return sample => a[sample] === b[sample];
    return output.better === "lower" ? sample => a[sample] < b[sample] : sample => a[sample] > b[sample];
  };

  const holds = (part, query) => typeof part === "string"
    ? part.toLowerCase().includes(query)
    : part !== null && typeof part === "object" && Object.values(part).some(inner => holds(inner, query));

  // The chosen samples as rows of a file: what the list shows, with the texts.
  const exported = (data, rows, record) => Array.from(rows, sample => {
    const found = record(sample), several = data.systems.length > 1;
    const prefix = k => (several ? `${data.systems[k]}.` : "");
    const each = part => data.systems.flatMap((_, k) => part(k, prefix(k)));
    const finite = v => (Number.isFinite(v) ? v : null);
    return {
      sample,
      ...(data.ids ? { id: data.ids[sample] } : {}),
      ...Object.fromEntries(Object.entries(data.metadata).map(([name, values]) => [name, values[sample]])),
      ...found?.shared,
      ...Object.fromEntries(found?.own ? each((k, name) => Object.entries(found.own[k]).map(([column, part]) => [name + column, part])) : []),
      ...Object.fromEntries(each((k, name) => [[`${name}prediction`, found?.said[k] ?? null]])),
      ...Object.fromEntries(data.outputs.flatMap(({ metric, output, values }) =>
        each((k, name) => [[`${name}${metric}.${output}`, finite(values[k][sample])]]))),
    };
  });

  // A spreadsheet takes a text that begins like this for a formula.
  const FORMULA = /^[=+\-@\t\r]/;
  const field = value => {
    let text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    if (typeof value === "string" && FORMULA.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = rows => {
    const names = [...new Set(rows.flatMap(Object.keys))];
    const lines = [names, ...rows.map(row => names.map(name => row[name]))];
    return lines.map(line => `${line.map(field).join(",")}\r\n`).join("");
  };

  return { bins, column, csv, exported, holds, inside, sorted, wins, worstIsHigh };
})();
