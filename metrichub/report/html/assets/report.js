// The data in this file, deflated: lines of JSON, of which those with the scores of an output or the
// texts of some samples are read when they are first needed.
const report = await (async () => {
  const unpacked = id => {
    const packed = atob(document.getElementById(id).textContent), bytes = new Uint8Array(packed.length);
    for (let k = 0; k < bytes.length; k++) bytes[k] = packed.charCodeAt(k);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  if (!globalThis.DecompressionStream) {
    steps.by("samples").append("This browser can't unpack the samples in this file; Chrome 80, Firefox 113, Safari 16.4 and later can.");
    await new Promise(() => {});
  }
  // Headless browsers print a page when it is loaded, which it isn't while it loads an image, and then
  // another one.
  let ready = false, images = 0;
  const hold = () => { if (!ready) Object.assign(new Image(), { onerror: hold, src: `data:,${images++}` }); };
  hold();
  const [[first, ...scores], chunks] = (await Promise.all(["data", "texts"].map(unpacked))).map(text => text.split("\n"));
  const chunk = k => (typeof chunks[k] === "string" ? (chunks[k] = JSON.parse(chunks[k])) : chunks[k]);
  const data = JSON.parse(first);
  ready = true;
  for (const [k, output] of data.outputs.entries()) {
    // There may be millions of numbers, of which few outputs are read.
    let values, whole;
    Object.defineProperties(output, {
      values: { get: () => (values ??= JSON.parse(scores[k]).map(list => Float64Array.from(list, v => v === null ? NaN : Number(v)))) },
      whole: { get: () => (whole ??= output.values.every(list => list.every(v => Number.isNaN(v) || Number.isInteger(v)))) },
    });
  }
  return { data, record: sample => chunk(Math.floor(sample / data.chunk))[sample % data.chunk] };
})();
