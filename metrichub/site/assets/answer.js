// The search's worker: it answers the theme's search box with the ranking of search.js, ten pages a
// time. Messages are the theme's: 0 an index, 1 ready, 2 a query, 3 its result.
"use strict";
{
  let index;
  const plain = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
  self.onmessage = ({ data: { type, data } }) => {
    if (type === 0) {
      index = data;
      self.postMessage({ type: 1 });
    } else if (type === 2) {
      const text = String(data.input ?? "").replace(/&(amp|lt|gt);/g, (found) => plain[found]);
      const found = metrichubFind(index, text);
      const from = data.page?.from ?? 0;
      const next = from + 10 < found.length ? { id: 1, size: 10, from: from + 10 } : undefined;
      const items = found.slice(from, from + 10).map((id) => ({ id, matches: [] }));
      const pagination = { total: found.length, next, prev: from ? { from: from - 10 } : undefined };
      self.postMessage({ type: 3, data: { items, query: { values: [] }, aggregations: [], pagination } });
    }
  };
}
