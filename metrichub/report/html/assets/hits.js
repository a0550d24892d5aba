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
