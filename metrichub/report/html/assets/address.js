// The view as an address: a step of the browser's history for each selection, and links to it.
const viewAddress = ({ write, read }) => {
  const LINK = "#view?";
  // What had the focus when a step was left.
  const left = new Map();
  let step = 0, view = "", typing;

  // Typing on in a field, whose id is `how`, and opening samples change the step that is there.
  const remember = how => {
    const now = write(), stays = how === "open" || (how !== undefined && how === typing);
    if (how !== "open") typing = how;
    if (now === view) return;
    view = now;
    const url = view ? LINK + view : "#samples";
    if (stays) return history.replaceState({ step, view }, "", url);
    left.set(step, document.activeElement);
    step += 1;
    history.pushState({ step, view }, "", url);
  };

  const restore = ({ state }) => {
    ({ step, view } = state);
    typing = undefined;
    read(view, false);
    left.get(step)?.focus({ preventScroll: true });
  };
  const follow = () => {
    typing = undefined;
    if (location.hash.startsWith(LINK)) read(location.hash.slice(LINK.length), true);
    view = write();
    history.replaceState({ step, view }, "");
  };

  // A link, or what somebody writes into the address, makes a step that has no view yet.
  addEventListener("popstate", event => {
    if (event.state) return restore(event);
    step += 1;
    follow();
  });
  // A link to where one is already changes nothing by itself.
  addEventListener("click", event => {
    if (event.target.closest?.(`a[href^='${LINK}']`)?.hash === location.hash) follow();
  });

  const start = () => {
    if (history.state) return restore(history);
    read("", false);
    follow();
  };
  return { remember, start };
};
