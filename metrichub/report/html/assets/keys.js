// Keys on the rows: j, k and the arrows go from one to the next, Enter opens one, Escape closes it,
// or from elsewhere in the table the one that was opened last.
const rowKeys = (table, opened, turn) => {
  const MOVES = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
  const toggles = () => [...table.querySelectorAll("button[data-sample]")];
  // The row of a sample, also from within those below it.
  const rowOf = place => {
    let row = place.closest("#table > tbody > tr");
    while (row && !row.querySelector("[data-sample]")) row = row.previousElementSibling;
    return row;
  };

  const move = step => {
    const all = toggles(), active = table.contains(document.activeElement) ? rowOf(document.activeElement) : null;
    const at = all.indexOf(active?.querySelector("[data-sample]"));
    let next = all[at + step];
    // From either end of the list on to another page, as `turn` can.
    if (!next && at >= 0 && turn(step)) next = toggles().at(step > 0 ? 0 : -1);
    next?.focus();
    next?.closest("tr").scrollIntoView({ block: "nearest" });
  };

  addEventListener("keydown", event => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !target.matches || target.matches("input, select, textarea")) return;
    if (key === "Escape" && (table.contains(target) || target.contains(table))) {
      const own = rowOf(target)?.querySelector("[aria-expanded=true]");
      (own ?? toggles().find(one => one.dataset.sample === String([...opened].at(-1))))?.click();
      own?.focus();
    } else if (key in MOVES && (key.length === 1 || target.matches("[data-sample]"))) {
      event.preventDefault();
      move(MOVES[key]);
    }
  });
};
