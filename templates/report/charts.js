// Tables and bars that both panels and other pages draw.
(function (biasgraph) {
  "use strict";

  const { el, name, number, percent, whole, count } = biasgraph.dom;
  const percentage = (value, low, high) => `${((value - low) / (high - low || 1)) * 100}%`;

  // A contingency table as a heat map: counts and the row's shares.
  // columns: names. rows: {label, counts, lost: [unknown, gated]}. before: such a row for the
  // initial images. mixed: {label, shares} of all rows together. ideal: shares. lost: whether to show the last two counts.
  function heatTable({ source, columns, rows, mixed, before, ideal, lost }) {
    const used = columns.map((_, column) => rows.some((row) => row.counts[column] > 0));
    const cells = (row) => {
      const total = row.counts.reduce((sum, one) => sum + one, 0);
      return row.counts.map((one, column) => {
        const share = total ? one / total : 0;
        return el("td", { class: `heat${used[column] ? "" : " unused"}`,
          style: { "--share": share } },
        count(one), el("small", null, total ? percent(share) : "no answers"));
      });
    };
    const line = (row, kind) => el("tr", { class: kind },
      el("th", { scope: "row" }, row.label),
      cells(row),
      lost && row.lost.map((one) => el("td", { class: "lost" }, count(one))));
    return el("div", { class: "scroll", tabindex: 0 }, el("table", { class: "contingency" },
      el("thead", null, el("tr", null,
        source ? el("th", { scope: "col" }, source) : el("td"),
        columns.map((one) => el("th", { scope: "col" }, name(one))),
        lost && ["unknown", "nobody"].map((one) => el("th", { scope: "col", class: "lost" }, one)))),
      el("tbody", null, rows.map((row) => line(row, null))),
      el("tfoot", null,
        mixed && shares(mixed, "mixed"),
        before && line(before, "before"),
        ideal && shares({ label: "ideal", shares: ideal }, "ideal"))));

    function shares(row, kind) {
      return el("tr", { class: kind }, el("th", { scope: "row" }, row.label),
        row.shares.map((share) => el("td", null, el("data", { value: String(share) }, percent(share)))),
        lost && el("td", { colspan: 2 }));
    }
  }

  // Shares against the ideal: a bar each, its interval, and what unknown answers could hide. Where
  // there are no counts, the interval stands in their place.
  function shareBars({ labels, counts, shares, intervals, bounds, ideal }) {
    return el("div", { class: "bars", role: "list" }, labels.map((label, i) => {
      const at = (value) => percentage(value, 0, 1);
      const span = (kind, low, high) => el("i", { class: kind, style: { left: at(low), width: at(high - low) } });
      const words = shares === null ? null
        : `${percent(shares[i])}, interval ${percent(intervals[i][0])} to ${percent(intervals[i][1])}, ideal ${percent(ideal[i])}`;
      return el("div", { class: "bar-row", role: "listitem" },
        el("span", { class: "bar-label" }, typeof label === "string" ? name(label) : label),
        el("span", { class: "track", role: "img", "aria-label": words || "not defined" },
          shares && span("fill", 0, shares[i]),
          bounds && bounds[i][1] > bounds[i][0] && span("bounds", bounds[i][0], bounds[i][1]),
          intervals && span("whisker", intervals[i][0], intervals[i][1]),
          el("i", { class: "goal", style: { left: at(ideal[i]) } })),
        el("span", { class: "bar-value" }, shares === null ? number(null, { reason: "no valid answers", brief: true })
          : [el("data", { value: String(shares[i]) }, percent(shares[i])), el("small", null, counts ? count(counts[i]) : `[${intervals[i].map(whole).join(", ")}]`)]));
    }));
  }

  // Numbers on one line. marks: {label, value, low, high, kind}. band: [low, high] by chance.
  function numberLine({ low, high, marks, band, zero, digits = 2, signed = false }) {
    const at = (value) => percentage(Math.min(Math.max(value, low), high), low, high);
    const tick = (value) => el("span", { class: "tick", style: { left: at(value) } }, value === 0 ? "0" : biasgraph.dom.shown(value, digits, signed));
    return el("div", { class: "number-line" },
      marks.map((mark) => el("div", { class: `line-row ${mark.kind}`, role: "group" },
        el("span", { class: "line-label" }, mark.label),
        el("span", { class: "line", "aria-hidden": true },
          band && el("i", { class: "band", style: { left: at(band[0]), right: `calc(100% - ${at(band[1])})` } }),
          zero && el("i", { class: "zero", style: { left: at(0) } }),
          mark.low !== undefined && mark.low !== null && el("i", { class: "whisker",
            style: { left: at(mark.low), right: `calc(100% - ${at(mark.high)})` } }),
          mark.reference !== undefined && mark.reference !== null && el("i", { class: "goal", style: { left: at(mark.reference) } }),
          mark.value !== null && el("i", { class: "point", style: { left: at(mark.value) } })),
        el("span", { class: "line-value" }, mark.text))),
      el("div", { class: "line-row axis", "aria-hidden": true }, el("span"),
        el("span", { class: "line" }, tick(low), zero && low < 0 && high > 0 && tick(0), tick(high)), el("span")));
  }

  // Shares side by side in one bar.
  function stack(shares, labels) {
    const words = labels.map((one, i) => `${one} ${percent(shares[i])}`);
    return el("span", { class: "stack", role: "img", "aria-label": words.join(", ") }, shares.map((share, i) =>
      share > 0 && el("i", { title: words[i], style: { "--share": share } }, share >= 0.2 ? words[i] : null)));
  }

  Object.assign(biasgraph, { charts: { heatTable, shareBars, numberLine, stack } });
})(window.biasgraph);
