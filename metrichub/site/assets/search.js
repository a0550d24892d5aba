// Ranks pages for a question, as metrichub/catalog/search.py does, from the index that it wrote.
"use strict";
const metrichubFind = (index, question) => {
  const { words, endings, fillers } = index.ranking;
  const skip = new Set(fillers);
  const stem = (word) => {
    for (;;) {
      const found = endings.find(([end]) =>
        word.endsWith(end) && word.length - end.length >= (end.length < 3 ? 3 : 4));
      if (!found) return word;
      word = word.slice(0, word.length - found[0].length) + found[1];
    }
  };
  const parted = question.replace(/(?<=[a-z])Metric\b/g, "").replace(/(?<=[a-z])(?=[A-Z])/g, " ");
  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const given = wordsOf(parted);
  const kept = given.filter((word) => !skip.has(word));
  const whole = wordsOf(question).filter((word) => !skip.has(word)).map(stem);
  const pairs = kept.slice(1).map((word, at) => stem(kept[at] + word));
  const total = new Map();
  const add = (found) => found.forEach((w, at) => total.set(at, (total.get(at) ?? 0) + w));
  const read = (flat, times, found = new Map()) => {
    for (let i = 0; i < flat.length; i += 2) {
      found.set(flat[i], Math.max(times * flat[i + 1], found.get(flat[i]) ?? 0));
    }
    return found;
  };
  for (const term of new Set([...(kept.length ? kept : given).map(stem), ...pairs, ...whole])) {
    if (Object.hasOwn(words, term)) {
      add(read(words[term], 2));
    } else if (term.length > 2) {
      const found = new Map();
      for (const word in words) if (word.startsWith(term)) read(words[word], 1, found);
      add(found);
    }
  }
  return [...total].sort(([one, a], [other, b]) => b - a || one - other).map(([at]) => at);
};
