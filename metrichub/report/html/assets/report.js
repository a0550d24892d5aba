// The data in this file: numbers at once, the texts of a sample with the chunk that it is in.
const report = (() => {
  const read = id => JSON.parse(document.getElementById(id).textContent);
  const data = read("data");
  for (const output of data.outputs) {
    // There may be millions of numbers, of which few outputs are read.
    const lists = output.values;
    let values, whole;
    Object.defineProperties(output, {
      values: { get: () => (values ??= lists.map(list => Float64Array.from(list, v => v === null ? NaN : Number(v)))) },
      whole: { get: () => (whole ??= output.values.every(list => list.every(v => Number.isNaN(v) || Number.isInteger(v)))) },
    });
  }
  const chunks = new Map();
  const record = sample => {
    const number = Math.floor(sample / data.chunk);
    if (!chunks.has(number)) chunks.set(number, read(`samples-${number}`));
    return chunks.get(number)[sample % data.chunk];
  };
  return { data, record };
})();
