// How far the judge agrees with a reference: kappa on one line for all axes, numbers, confusions.
(function (biasgraph) {
  "use strict";

  const { el, name, number, withInterval, count, percent } = biasgraph.dom;
  const { heatTable, numberLine } = biasgraph.charts;

  function agreement() {
    const record = biasgraph.model.document.graph.agreement;
    if (!record) return [];
    const known = record.axes.filter((axis) => axis.kappa !== null);
    return [
      el("p", { class: "note" }, biasgraph.model.agreement.summary),
      known.length ? kappas(known) : null,
      el("p", { class: "note" }, "Cohen’s kappa with its 95 % interval: 1 is agreement on every image, 0 what chance alone would give."),
      el("div", { class: "scroll", tabindex: 0 }, numbers(record.axes)),
      el("div", { class: "confusions" }, record.axes.map(confusion)),
    ].filter(Boolean);
  }

  function kappas(axes) {
    const lows = axes.flatMap((axis) => [axis.kappa, ...(axis.kappa_ci || [])]);
    return numberLine({
      low: Math.min(0, ...lows), high: 1, zero: true,
      marks: axes.map((axis) => ({
        label: name(axis.axis), kind: "plain", value: axis.kappa,
        low: axis.kappa_ci && axis.kappa_ci[0], high: axis.kappa_ci && axis.kappa_ci[1],
        text: withInterval(axis.kappa, ...(axis.kappa_ci || [null, null]), { digits: 2 }),
      })),
    });
  }

  const HEADINGS = ["Axis", "Images", "with two valid answers", "Accuracy", "Macro F1", "KL", "KL, the other way", "Shares differ by"];

  function numbers(axes) {
    const infinite = "one side never gave an answer that the other did";
    const none = "no image has two valid answers";
    const both = (axis, field) => withInterval(axis[field], ...(axis[`${field}_ci`] || [null, null]), { digits: 2, reason: none });
    return el("table", { class: "agreement-table" },
      el("thead", null, el("tr", null, HEADINGS.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", null, axes.map((axis) => el("tr", null,
        el("th", { scope: "row" }, name(axis.axis)),
        el("td", { class: "num" }, count(axis.n)),
        el("td", { class: "num" }, count(axis.n_valid)),
        el("td", { class: "num" }, both(axis, "accuracy")),
        el("td", { class: "num" }, both(axis, "f1")),
        el("td", { class: "num" }, number(axis.kl_reference_judge, { reason: infinite, brief: true })),
        el("td", { class: "num" }, number(axis.kl_judge_reference, { reason: infinite, brief: true })),
        el("td", { class: "num" }, axis.tv === null ? number(null, { reason: none, brief: true }) : percent(axis.tv))))));
  }

  // Rows: what the reference says; columns: what the judge says. Shares are of each row.
  function confusion(axis) {
    const size = axis.attributes.length;
    const labels = [...axis.attributes, "unknown", "nobody"];
    const rows = axis.table
      .map((row, i) => ({ label: i < size ? name(axis.attributes[i]) : labels[i], counts: row.slice(0, size), lost: row.slice(size), used: i < size || row.some(Boolean) }))
      .filter((row) => row.used);
    return el("section", { class: "confusion" },
      el("h3", null, name(axis.axis), ": the reference (rows) and the judge (columns)"),
      heatTable({ source: "", columns: axis.attributes, rows, lost: rows.some((row) => row.lost.some(Boolean)) }));
  }

  Object.assign(biasgraph, { agreement });
})(window.biasgraph);
