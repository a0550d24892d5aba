// A page from a folder may start no worker from a file; here the search's worker runs in a frame.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.hidden = true;
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((done) => {
        const script = frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = () => done(inside);
        frame.contentDocument.body.append(script);
      });
    }
    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
    set onmessage(listener) { this.addEventListener("message", listener); }
  };
}
