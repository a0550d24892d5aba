// The report's scripts that need no page, run by Node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const ASSETS = new URL("../../metrichub/report/html/assets/", import.meta.url);
const source = readFileSync(new URL("plain.js", ASSETS), "utf8");
const { choice, diff, hits } = new Function(`"use strict"; ${source}; return { choice, diff, hits };`)();

// The minimal standard generator of Park and Miller.
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const below = n => Math.floor(random() * n);
const range = n => Array.from({ length: n }, (_, i) => i);

test("a bar selects exactly the samples that it counts, the extremes too", () => {
  // Those of the last but one are the edges themselves, as sums of steps round them.
  const draws = [() => random(), () => random() * 1e-7 - 3, () => below(7), () => -0.934333 + below(20) / 20, () => 0.7 + below(21) * (1.2 / 20), () => below(1e6)];
  for (const draw of draws) {
    for (let turn = 0; turn < 40; turn++) {
      const values = Float64Array.from(range(2 + below(300)), () => (random() < 0.05 ? NaN : draw()));
      const known = values.filter(Number.isFinite);
      const bins = choice.bins(values, known.every(Number.isInteger));
      if (!bins) {
        assert.ok(new Set(known).size < 2);
        continue;
      }
      const { edges, all } = bins;
      all.forEach((count, k) => {
        const bar = { low: edges[k], high: edges[k + 1], below: k < all.length - 1 };
        assert.equal(values.filter(v => choice.inside(v, bar)).length, count);
      });
      assert.equal(all.reduce((a, b) => a + b), known.length);
    }
  }
});

test("integers that are few have a bar each", () => {
  assert.deepEqual(choice.bins(Float64Array.of(3, 5, 5, 4, 7), true).all, [1, 1, 2, 0, 1]);
});

test("both texts can be read out of the marks of a comparison", () => {
  const alphabets = [["a", "b", "c", ","], ["他", "坐", "，"], ["قط", "على"], ["ส", "วั", "x"]];
  for (const [k, words] of alphabets.entries()) {
    for (let turn = 0; turn < 60; turn++) {
      const made = () => range(below(12)).map(() => words[below(words.length)]).join(k % 2 ? "" : " ");
      const [text, other] = [made(), made()];
      const { parts } = diff.against(text, [other]);
      const join = kinds => parts.filter(part => kinds.includes(part.kind)).map(part => part.text).join("");
      assert.equal(join(["", "extra", "moved"]), text);
      const theirs = parts.filter(part => ["", "missing"].includes(part.kind)).flatMap(part => diff.words(part.text));
      assert.deepEqual(theirs, diff.words(other));
      if (text === other) assert.ok(parts.every(part => part.kind === ""));
    }
  }
});

test("of several references the closest is compared, and any of them has a word", () => {
  const { place, parts } = diff.against("a cat sat down", ["x", "a cat sat", "down"]);
  assert.equal(place, 1);
  assert.deepEqual(parts.at(-1), { text: "down", kind: "extra" });
  const marks = text => diff.extra(text, diff.counted(["the cat", "the the dog"])).filter(part => part.kind);
  assert.deepEqual(marks("the dog the cat"), []);
  assert.deepEqual(marks("the the the cat"), [{ text: "the", kind: "extra" }]);
});

test("what stands elsewhere is moved, a character is a word without spaces, an apostrophe is in one", () => {
  const kinds = (text, other) => diff.against(text, [other]).parts.filter(part => part.kind).map(part => [part.kind, part.text]);
  assert.deepEqual(kinds("mat the cat sat", "the cat sat mat"), [["moved", "mat"], ["missing", "mat"]]);
  assert.deepEqual(kinds("他坐在木椅上", "他坐在垫上"), [["extra", "木椅"], ["missing", "垫"]]);
  assert.deepEqual(diff.words("I don't owe 3,000.50 €."), ["I", "don't", "owe", "3,000.50", "€", "."]);
});

test("words that differ in case alone are equal", () => {
  const known = diff.counted(["Jesse J sang in Rome"]);
  assert.deepEqual(diff.extra("jesse j sang in rome", known).filter(part => part.kind), []);
  assert.equal(diff.missing("jesse j sang", known), 2);
  assert.deepEqual(diff.against("jesse sang", ["Jesse J sang"]).parts.filter(part => part.kind).map(part => part.text.trim()), ["J"]);
});

test("texts of nine thousand words are compared at once, without their order", () => {
  const words = range(9000).map(i => `w${(i * 7919) % 5000}`);
  const before = process.cpuUsage().user;
  const { ordered, parts } = diff.against(`${words.join(" ")} new`, [words.toReversed().join(" ")]);
  assert.ok(process.cpuUsage().user - before < 3e6);
  assert.equal(ordered, false);
  assert.deepEqual(parts.filter(part => part.kind), [{ text: "new", kind: "extra" }]);
});

test("JSON is compared by its keys, whatever their order, with its numbers as they are written", () => {
  const own = diff.values('```json\n{"id": 12345678901234567890, "a": {"b": [1, 2.0]}, "__proto__": "x"}\n```');
  const rows = diff.keys(own, diff.values('{"a": {"b": [1], "c": []}, "__proto__": "x", "id": 12345678901234567890}'));
  assert.deepEqual(rows.filter(row => row.own !== row.other), [
    { path: "a.b[1]", own: "2.0", other: undefined },
    { path: "a.c", own: undefined, other: "[]" },
  ]);
  assert.equal(rows[0].own, "12345678901234567890");
  for (const text of ["[1,", "hello", "{'a': 1}", "12"]) assert.equal(diff.values(text), null);
});

test("code is what is fenced, or looks like it; prose isn't", () => {
  assert.equal(diff.code("So:\n```python\nx = 1\n```\nDone."), "x = 1");
  assert.ok(diff.code("def f(x):\n    return x"));
  assert.equal(diff.code("The class of 1968 met.\nI import tea from Ceylon."), null);
  assert.deepEqual(diff.lines("a\nb", "a\nc\nb").map(line => line.kind), ["", "missing", ""]);
});

test("a text of a table is no formula, a negative number stays one", () => {
  const row = { "=name": "=1+1", b: -0.5, c: "@x", d: "a,\"b\"", e: { k: [1] }, f: null, g: "\tx", h: "+1" };
  assert.equal(choice.csv([row]), `'=name,b,c,d,e,f,g,h\r\n'=1+1,-0.5,'@x,"a,""b""","{""k"":[1]}",,'\tx,'+1\r\n`);
});

test("an exported row has the columns, and of several systems theirs by name", () => {
  const output = { metric: "wer", output: "score", values: [[0, NaN], [0.5, 1]].map(list => Float64Array.from(list)) };
  const data = { systems: ["a", "b"], ids: ["x", "y"], metadata: { lang: ["de", "fr"] }, outputs: [output] };
  const rows = choice.exported(data, Int32Array.of(1), () => ({ shared: { references: "r" }, said: ["p", "q"], steps: [{}, {}] }));
  assert.deepEqual(rows, [{
    sample: 1, id: "y", lang: "fr", references: "r", "a.prediction": "p", "b.prediction": "q", "a.wer.score": null, "b.wer.score": 1,
  }]);
  const [alone] = choice.exported({ ...data, systems: [""], ids: null }, Int32Array.of(0), () => null);
  assert.deepEqual(alone, { sample: 0, lang: "de", prediction: null, "wer.score": 0 });
});

test("unscored samples come last from either end, and equal ones keep their order", () => {
  const values = Float64Array.of(2, NaN, 1, 2, Infinity), rows = () => Int32Array.of(0, 1, 2, 3, 4);
  assert.deepEqual([...choice.sorted(rows(), values, false)], [2, 0, 3, 4, 1]);
  assert.deepEqual([...choice.sorted(rows(), values, true)], [4, 0, 3, 2, 1]);
});

test("samples are sorted by a system, a difference or the range of all, the worst first", () => {
  const output = { better: "lower", values: [[1, 5], [2, 1], [0, 5]].map(list => Float64Array.from(list)) };
  const by = key => [...choice.column(output, key)];
  assert.deepEqual([by("1"), by("0-1"), by("2-1"), by("spread")], [[2, 1], [1, -4], [2, -4], [2, 4]]);
  assert.equal(choice.column(output, "sample"), null);
  assert.deepEqual(["1", "0-1", "spread", "sample"].map(key => choice.worstIsHigh(output, key)), [true, true, true, false]);
  assert.deepEqual(["0>1", "1>0", "0=2"].map(pair => [0, 1].map(choice.wins(output, pair))), [[true, false], [false, true], [false, true]]);
});

test("an n-gram is found as whole words, whatever signs stand between them", () => {
  const found = (ngram, text) => [...text.matchAll(hits.pattern("", ngram))].map(([hit]) => hit);
  assert.deepEqual(found("fell", "Fell, fellow befell. It fell"), ["Fell", "fell"]);
  assert.deepEqual(found("of b 50", "of_b -- 50% of b50 of b 500"), ["of_b -- 50"]);
  assert.deepEqual(found("i", "I’m what I am"), ["I"]);
  assert.deepEqual(found("i'm here", "I’m here"), ["I’m here"]);
  assert.deepEqual(found("他坐", "猫和他，坐在"), ["他，坐"]);
});

test("a search finds the text as it was written, upper and lower case aside", () => {
  assert.deepEqual("A+B? a+b?c".match(hits.pattern("a+b?", "")), ["A+B?", "a+b?"]);
  assert.equal(hits.pattern("", ""), null);
});

test("a cut text begins with a whole word a little before the first hit", () => {
  const text = `${"word ".repeat(50)}hit ${"word ".repeat(50)}hit`, pattern = hits.pattern("hit", "");
  const start = hits.from(text, 30, pattern);
  // At most a third of the 30 characters before the hit, of which one word is whole.
  assert.equal(text.slice(start, start + 14), "word hit word ");
  assert.equal(hits.from(text, 253, pattern), 0);
  assert.equal(hits.from(text, 30, hits.pattern("none", "")), 0);
});

