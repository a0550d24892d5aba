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
