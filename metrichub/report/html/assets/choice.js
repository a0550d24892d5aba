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
