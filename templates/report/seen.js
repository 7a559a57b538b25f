// The first screen: what most initial images show, axis by axis, and some of these images.
(function (biasgraph) {
  "use strict";

  const { el, name } = biasgraph.dom;
  const { shareBars } = biasgraph.charts;
  const { model } = biasgraph;
  const AXES = 6;
  const PICTURES = 8;

  // The axes furthest from their ideal, each by the attribute that most images show.
  function bars() {
    const shown = model.document.nodes
      .map((node, i) => ({ node, axis: model.axes[i] }))
      .filter(({ node }) => node.w1 !== null && node.initial.distribution !== null)
      .sort((a, b) => (a.node.near_ideal - b.node.near_ideal) || b.node.w1 - a.node.w1)
      .slice(0, AXES)
      .map(({ node, axis }) => ({ node, axis, most: node.initial.distribution.indexOf(Math.max(...node.initial.distribution)) }));
    if (!shown.length) return null;
    const of = (field) => shown.map(({ node, most }) => field(node)[most]);
    return [
      shareBars({
        labels: shown.map(({ axis, most }) => [name(axis.label), ": ", name(axis.attributes[most])]),
        shares: of((node) => node.initial.distribution), intervals: of((node) => node.distribution_ci), ideal: of((node) => node.ideal),
      }),
      el("p", { class: "note" }, `Share of the initial images; whisker: its ${model.words.confidence} interval; upright mark: ideal.`,
        model.axes.length > shown.length ? ` The ${shown.length} axes furthest from their ideal, of ${model.axes.length}.` : ""),
    ];
  }

  function pictures() {
    const shown = model.sets[0].images.filter((i) => biasgraph.pictures.source(model.images[i])).slice(0, PICTURES);
    return biasgraph.pictures.strip(shown, { label: "initial images", kind: "first-pictures" });
  }

  biasgraph.seen = () => [bars(), pictures()].flat().filter(Boolean);
})(window.biasgraph);
