// The numbers of a comparison: lines of runs, the panel of a pair or an axis, and all pairs.
(function (biasgraph) {
  "use strict";

  const { el, name, number, withInterval, pValue, percent, count } = biasgraph.dom;
  const { model } = biasgraph;
  const { document: found, axes, runs } = model;
  const size = axes.length;
  const label = (runName) => runs[found.runs.findIndex((run) => run.name === runName)].label;
  const interval = (pair) => pair || [null, null];
  const share = (value, words) => (value === null ? null : el("small", null, ` (${words ? `${words} ` : ""}`, el("data", { value: String(value) }, percent(value)), ")"));
  const classWords = (pair) => pair.class || "not comparable";
  const CLASSES = { "undecided in the other": "an edge in one graph, undecided in the other", "in both": "an edge in both graphs, not changed", "in neither": "an edge in neither graph" };
  const verdictOf = (pair) => CLASSES[pair.class] || classWords(pair);

  // One number of each run on one line; band: what chance alone reaches.
  function runLine(title, rows, digits, high) {
    const floors = rows.map((row) => row.floor).filter((one) => one !== null && one !== undefined);
    return el("div", null, title && el("h3", null, name(title)),
      biasgraph.charts.numberLine({
        low: 0, high, digits,
        band: floors.length ? [0, Math.max(...floors)] : null,
        marks: rows.map((row) => ({ label: name(label(row.run)), kind: "plain", value: row.value, low: row.low, high: row.high, text: row.text })),
      }));
  }

  // The end of a scale on which all of these fit.
  function reach(rows) {
    return Math.max(0, ...rows.flatMap((row) => [row.value, row.high, row.floor]).filter((one) => typeof one === "number")) * 1.02 || 1;
  }

  function mark(row, number_, extra) {
    const [low, high] = interval(number_.ci);
    return { run: row.run, value: number_.value, low, high, floor: number_.floor && number_.floor.q95,
      text: [withInterval(number_.value, low, high, { brief: true, reason: row.reason }), extra] };
  }

  // A line for each axis, all on one scale.
  function lines(rows) {
    const high = reach(rows);
    return found.axes.map((axis, i) => runLine(axes[i].label, rows.filter((row) => row.axis === axis.id), 2, high));
  }

  // The lines of axes that moved clearly in some run, and those of the others.
  function distances() {
    const every = lines(found.distances.map((row) => ({ axis: row.axis,
      ...mark(row, { value: row.w1, ci: row.w1_ci, floor: { q95: row.null_q95 } }, share(row.probability_closest, "closest in")) })));
    const moved = (i) => model.differences.some((one) => one.drawing.nodes[i].change !== "chance");
    return [every.filter((_, i) => moved(i)), every.filter((_, i) => !moved(i))];
  }

  function strengths(end) {
    return lines(found.strengths.map((row) => ({ axis: row.axis, ...mark(row, row[end], share(row[end].lowest_of_runs, "least in")) })));
  }

  function amplification() {
    const rows = found.amplification.map((row) => mark(row, row, share(row.lowest_of_runs, "least in")));
    return runLine(null, rows, 1, reach(rows));
  }

  // The panel

  function pairPanel(k) {
    const [source, target] = [Math.floor(k / size), k % size];
    const head = [name(axes[source].label), " → ", name(axes[target].label)];
    const rows = runs.map((run, i) => {
      const pair = run.pairs[k];
      return el("tr", null, el("th", { scope: "row" }, name(run.label), i === 0 && el("small", null, " baseline")),
        el("td", { class: "num" }, withInterval(pair.is, pair.is_ci_low, pair.is_ci_high, { signed: true, brief: true, reason: pair.status })),
        el("td", { class: "num" }, pValue(pair.p, pair.status, true)),
        el("td", null, pair.edge ? `edge, ${biasgraph.SIGNS[pair.sign || "undetermined"].words}` : "no edge"));
    });
    const changes = found.comparisons.map((comparison, i) => {
      const pair = model.changes[i][k];
      const why = { brief: true, reason: pair.reason };
      return el("tr", null, el("th", { scope: "row" }, name(label(comparison.run))),
        el("td", { class: "num" }, number(pair.is_baseline, { signed: true, ...why })),
        el("td", { class: "num" }, number(pair.is_run, { signed: true, ...why })),
        el("td", { class: "num" }, withInterval(pair.difference, ...interval(pair.difference_ci), { signed: true, ...why })),
        el("td", { class: "num" }, withInterval(pair.difference_matched, ...interval(pair.difference_matched_ci), { signed: true, ...why })),
        el("td", { class: "num" }, pValue(pair.p, pair.reason, true)),
        el("td", { class: "num" }, pValue(pair.p_adjusted, pair.reason, true)),
        el("td", { class: `class ${pair.class === "changed" ? "changed" : ""}` }, classWords(pair)),
        el("td", { class: "num" }, pair.n_initial === null ? "" : [count(pair.n_initial), " + ", count(pair.n_interventions), pair.at_common_size && el("small", null, " the smaller run’s")]));
    });
    const verdicts = found.comparisons.map((comparison, i) => (found.comparisons.length > 1 ? `${label(comparison.run)}: ` : "") + verdictOf(model.changes[i][k])).join("; ");
    return panel(head, verdicts, [
      table(["Run", "IS in its own graph", "p", "Edge"], rows),
      el("h3", null, "Change from the baseline"),
      table(["Run", "IS of the baseline", "IS of the run", "Change of IS", "At matched sizes (decides)", "p", "p adjusted", "Verdict", "Images"], changes)]);
  }

  function axisPanel(i) {
    const id = found.axes[i].id;
    const rows = found.runs.map((run) => {
      const distance = found.distances.find((row) => row.run === run.name && row.axis === id);
      const strength = found.strengths.find((row) => row.run === run.name && row.axis === id);
      const comparison = found.comparisons.find((one) => one.run === run.name);
      const growth = comparison && comparison.distances.find((row) => row.axis === id);
      const sum = (one) => number(one.value, { brief: true, reason: strength.reason });
      return el("tr", null, el("th", { scope: "row" }, name(label(run.name)), !comparison && el("small", null, " baseline")),
        el("td", { class: "num" }, withInterval(distance.w1, ...interval(distance.w1_ci), { brief: true, reason: distance.reason })),
        el("td", { class: "num" }, growth ? withInterval(growth.growth, ...interval(growth.growth_ci), { signed: true, brief: true, reason: growth.reason }) : ""),
        el("td", { class: "num" }, sum(strength.in), el("small", null, ` ${strength.in.edges} edges`)),
        el("td", { class: "num" }, sum(strength.out), el("small", null, ` ${strength.out.edges} edges`)));
    });
    return panel([name(axes[i].label)], `distance from the ideal in ${runs.length} runs`,
      [table(["Run", "Distance to the ideal", "Growth", "Influenced, sum of |IS|", "Influences, sum of |IS|"], rows)]);
  }

  function panel(head, verdict, content) {
    return [el("h2", { tabindex: -1, id: "detail-title" }, head), el("p", { class: "verdict" }, verdict), ...content];
  }

  function table(titles, rows) {
    return el("div", { class: "scroll", tabindex: 0 }, el("table", { class: "side" },
      el("thead", null, el("tr", null, titles.map((title) => el("th", { scope: "col" }, title)))), el("tbody", null, rows)));
  }

  // All pairs of all comparisons, sortable; first those that changed.
  function pairTable(pick) {
    const several = found.comparisons.length > 1;
    const all = found.comparisons.flatMap((comparison, i) => Object.entries(model.changes[i]).map(([k, pair]) => ({ pair, k: Number(k), run: label(comparison.run) })));
    const why = (pair, options) => ({ brief: true, reason: pair.reason, ...options });
    const columns = [
      ...(several ? [{ title: "Run", text: (one) => one.run }] : []),
      { title: "Diversifying", text: (one) => axes[Math.floor(one.k / size)].label },
      { title: "changes", text: (one) => axes[one.k % size].label },
      { title: "IS, baseline", key: "is_baseline", value: (one) => one.pair.is_baseline, show: (one) => number(one.pair.is_baseline, why(one.pair, { signed: true })) },
      { title: "IS, run", key: "is_run", value: (one) => one.pair.is_run, show: (one) => number(one.pair.is_run, why(one.pair, { signed: true })) },
      { title: "Change", value: (one) => one.pair.difference, show: (one) => withInterval(one.pair.difference, ...interval(one.pair.difference_ci), why(one.pair, { signed: true })) },
      { title: "p adjusted", key: "p_adjusted", value: (one) => one.pair.p_adjusted, show: (one) => pValue(one.pair.p_adjusted, one.pair.reason, true) },
      { title: "Verdict", text: (one) => classWords(one.pair) },
    ];
    const order = ["changed", "undecided in the other", "in both", "in neither", "not comparable"];
    all.sort((a, b) => order.indexOf(classWords(a.pair)) - order.indexOf(classWords(b.pair)) || (a.pair.p_adjusted ?? 2) - (b.pair.p_adjusted ?? 2));
    const rows = new Map(all.map((one) => [one, el("tr", { class: one.pair.class === "changed" ? "changed" : one.pair.class === "in neither" ? "pruned" : null, onclick: () => pick({ pair: one.k }) },
      columns.map((column, i) => (i === 0
        ? el("th", { scope: "row" }, el("button", { type: "button", class: "link" }, name(column.text(one))))
        : el("td", { class: column.text ? "class" : "num", "data-key": column.key }, column.text ? name(column.text(one)) : column.show(one)))))]));
    const body = el("tbody", null, [...rows.values()]);
    const heads = columns.map((column) => el("th", { scope: "col", "aria-sort": "none", class: column.text ? null : "num", "data-key": column.key }, el("button", { type: "button", onclick: () => sort(column) }, column.title)));

    function sort(column) {
      const head = heads[columns.indexOf(column)];
      const down = head.getAttribute("aria-sort") === "none" ? !column.text : head.getAttribute("aria-sort") === "ascending";
      const sign = down ? -1 : 1;
      const ordered = [...all].sort((a, b) => {
        if (column.text) return sign * column.text(a).localeCompare(column.text(b));
        const [x, y] = [column.value(a), column.value(b)];
        if (x === null || y === null) return (x === null) - (y === null); // undefined stays last
        return sign * (x - y);
      });
      heads.forEach((one) => one.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.replaceChildren(...ordered.map((one) => rows.get(one)));
    }

    return {
      element: el("table", { class: "pairs" }, el("thead", null, el("tr", null, heads)), body),
      select(selection) {
        for (const [one, row] of rows) {
          const here = selection !== null && selection.pair === one.k;
          row.classList.toggle("selected", here);
          if (here) row.setAttribute("aria-current", "true");
          else row.removeAttribute("aria-current");
        }
      },
    };
  }

  biasgraph.compared = { distances, strengths, amplification, pairPanel, axisPanel, pairTable };
})(window.biasgraph);
