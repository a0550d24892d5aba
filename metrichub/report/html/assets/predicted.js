// Predicted labels: each in a line with the text and the reference, and whether it is right.
const predictedLabels = (data, details) => {
  const { element } = steps;
  const are = ({ metric }) => data.labelled.includes(metric);
  const MARKS = [["✗", "wrong"], ["✓", "right"]];
  // A text that no metric reads may have come along: the first column of several words.
  const along = Object.values(data.metadata).find(([first]) => typeof first === "string" && /\s/.test(first.trim()));

  const text = (sample, found, most, pattern) => {
    const { questions, sources } = found.shared, asked = details.first(questions ?? sources ?? along?.[sample]);
    return asked ? [reading.part(asked, null, most, pattern).made] : [];
  };
  const reference = (output, found) => (are(output)
    ? [element("td", "reference", found ? details.references(found).join(" or ") : "–")] : []);
  const cell = ({ values }, sample, found, system, pattern) => {
    const made = element("td", "cell labelled"), known = MARKS[values[system][sample]];
    if (known) made.append(Object.assign(element("span", known[1], known[0]), { role: "img", ariaLabel: known[1] }), "\u00a0");
    const said = found ? details.texts(found, system) : [];
    made.append(...said.length ? [reading.part(said[0], null, 200, pattern).made] : ["–"]);
    return made;
  };

  return { are, cell, reference, text };
};
