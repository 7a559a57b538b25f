// When pairs were decided, where images were made until they were: a cell for each look.
(function (biasgraph) {
  "use strict";

  const { el } = biasgraph.dom;
  const looks = biasgraph.model.document.graph.settings.looks || [];

  // Filled: the pair was looked at; dark: its arms were known to differ; framed: it was decided.
  function strip(pair) {
    if (!pair.look) return el("span", { class: "undefined" }, "no look");
    return el("span", { class: "strip", role: "img", "aria-label": words(pair), title: words(pair) },
      looks.map((_, i) => el("i", { class: [
        i < pair.look ? "taken" : "",
        pair.edge_look && i + 1 >= pair.edge_look && i < pair.look ? "edge" : "",
        pair.decided && i + 1 === pair.look ? "stop" : "",
      ].join(" ").trim() || null })));
  }

  function words(pair) {
    if (!pair.look) return "Too few images for a look.";
    const edge = pair.edge_look ? `, its arms known to differ since look ${pair.edge_look}` : "";
    const end = pair.decided ? "Decided" : "Still open";
    return `${end} at look ${pair.look} of ${looks.length}, ${pair.look_images} images of each prompt${edge}.`;
  }

  strip.words = words;
  Object.assign(biasgraph, { looks, strip });
})(window.biasgraph);
