// All pairs beside the graph: the matrix, and the table that can be sorted.
(function (biasgraph) {
  "use strict";

  const { el, name, number, withInterval, pValue, shown, count, growing } = biasgraph.dom;
  const { model, looks, strip } = biasgraph;

  const short = (value) => shown(value, 2, true).replace(/^(\D?)0\./, "$1.");

  const CELLS = 1000; // of the matrix, drawn at a time
  const ROWS = 150; // of the table

  // Every pair as a cell of its IS; the diagonal says how well naming the attributes worked.
  function matrix(pick) {
    const size = model.axes.length;
    const cells = new Map();
    const marked = marker(cells);
    const reach = Math.max(0.1, ...model.pairs.filter((pair) => pair.source !== pair.target && pair.is !== null).map((pair) => Math.abs(pair.is)));

    function row(i) {
      return el("tr", null,
        el("th", { scope: "row" }, el("button", { type: "button", onclick: () => pick({ axis: i }) }, name(model.axes[i].label))),
        model.axes.map((_, j) => el("td", null, cell(i * size + j))));
    }

    function cell(k) {
      const pair = model.pairs[k];
      const own = pair.source === pair.target;
      const ends = `${model.axes[pair.source].label} to ${model.axes[pair.target].label}`;
      const value = own ? pair.cramers_v : pair.is;
      const said = value === null ? `not defined: ${biasgraph.why(pair, "is")}` : own ? `V ${shown(value, 2)}` : `IS ${shown(value, 3, true)}`;
      const button = el("button", {
        type: "button",
        class: own ? "own" : [pair.edge ? "edge" : "pruned", biasgraph.linked(pair) ? pair.sign || "undetermined" : ""].join(" "),
        "aria-label": `${ends}: ${said}, ${own ? "the check that naming it worked" : biasgraph.verdict(pair)}`,
        "data-k": k,
        onclick: () => pick({ pair: k }),
      }, value === null ? "n/d" : el("data", { value: String(value) }, own ? shown(value, 2) : short(value)));
      if (!own && ["towards", "away"].includes(pair.sign)) {
        button.style.setProperty("--strength", Math.min(Math.abs(pair.is) / reach, 1).toFixed(3));
        button.classList.add(pair.is < 0 ? "minus" : "plus");
      }
      cells.set(k, button);
      marked.drawn(k);
      return button;
    }

    const body = el("tbody");
    const rows = growing(body, row, Math.ceil(CELLS / size));
    rows.show(model.axes.map((_, i) => i));
    const find = (k) => {
      rows.reach(Math.floor(k / size));
      return cells.get(k);
    };
    const table = el("table", { class: "matrix" },
      el("thead", null, el("tr", null, el("td", { class: "corner" }, "diversifying ↓ changes →"),
        model.axes.map((axis) => el("th", { scope: "col" }, name(axis.label))))),
      body);
    table.addEventListener("keydown", (event) => arrowKeys(event, find, size));
    return { element: table, select: marked.select, cell: find };
  }

  function arrowKeys(event, find, size) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: size, ArrowUp: -size }[event.key];
    const here = event.target.closest("[data-k]");
    const next = step && here && find(Number(here.dataset.k) + step);
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  // Marks the element of the pair that is selected, as soon as it is drawn.
  function marker(elements) {
    let chosen = null;
    function mark(k, here) {
      const element = elements.get(k);
      if (!element) return;
      element.classList.toggle("selected", here);
      if (here) element.setAttribute("aria-current", "true");
      else element.removeAttribute("aria-current");
    }
    return {
      select(selection) {
        mark(chosen, false);
        chosen = selection === null || selection.pair === undefined ? null : selection.pair;
        mark(chosen, true);
      },
      drawn: (k) => k === chosen && mark(k, true),
    };
  }

  const COLUMNS = [
    { title: "Diversifying", key: "source", text: (pair) => model.axes[pair.source].label },
    { title: "changes", key: "target", text: (pair) => model.axes[pair.target].label },
    { title: "IS", key: "is", value: (pair) => pair.is, show: (pair) => number(pair.is, { signed: true, brief: true, reason: biasgraph.why(pair, "is") }) },
    { title: `${model.words.confidence} interval`, key: "low", value: (pair) => pair.is_ci_low, show: interval },
    { title: "Verdict", key: "verdict", text: (pair) => model.words.verdict_names[pair.verdict] || biasgraph.verdict(pair) },
    ...(looks.length ? [{ title: "Decided", key: "look", value: (pair) => (pair.decided ? pair.look : looks.length + 1), show: strip }] : []),
    { title: "p", key: "p", value: (pair) => pair.p, show: (pair) => pValue(pair.p, biasgraph.why(pair, "p"), true) },
    { title: "p adjusted", key: "p_adjusted", value: (pair) => pair.p_adjusted, show: (pair) => pValue(pair.p_adjusted, biasgraph.why(pair, "p_adjusted"), true) },
    { title: "V", key: "v", value: (pair) => pair.cramers_v, show: (pair) => number(pair.cramers_v, { digits: 2, brief: true, reason: biasgraph.why(pair, "cramers_v") }) },
    { title: "W1 before", key: "before", value: (pair) => pair.w1_before, show: (pair) => number(pair.w1_before, { brief: true, reason: biasgraph.why(pair, "w1_before") }) },
    { title: "W1 after", key: "after", value: (pair) => pair.w1_after, show: (pair) => number(pair.w1_after, { brief: true, reason: biasgraph.why(pair, "w1_after") }) },
    { title: "Edge", key: "edge", value: (pair) => (pair.edge ? 1 : 0), show: (pair) => (pair.edge ? "edge" : "no") },
  ];

  function interval(pair) {
    if (pair.is_ci_low === null) return number(null, { brief: true, reason: biasgraph.why(pair, "is_ci_low") });
    return [number(pair.is_ci_low, { signed: true }), " to ", number(pair.is_ci_high, { signed: true })];
  }

  // Every pair of different axes as a row; first the edges by |IS|.
  function pairTable(pick, sorted) {
    const between = model.pairs.map((pair, k) => ({ pair, k })).filter(({ pair }) => pair.source !== pair.target);
    between.sort((a, b) => b.pair.edge - a.pair.edge || Math.abs(b.pair.is || 0) - Math.abs(a.pair.is || 0));
    const elements = new Map();
    const marked = marker(elements);
    const body = el("tbody");
    const rows = growing(body, ({ pair, k }) => {
      elements.set(k, row(pair, k));
      marked.drawn(k);
      return elements.get(k);
    }, ROWS);
    let ordered = between;
    let kept = () => true;
    const heads = COLUMNS.map((column) => el("th", { scope: "col", "aria-sort": "none", "data-key": column.key },
      el("button", { type: "button", onclick: () => sort(column.key) }, column.title)));
    const state = { key: null, down: false };

    function row(pair, k) {
      return el("tr", { class: pair.edge ? "edge" : "pruned", onclick: () => pick({ pair: k }) },
        COLUMNS.map((column, i) => {
          const shownText = column.text ? name(column.text(pair)) : column.show(pair);
          if (i > 0) return el("td", { class: column.text ? null : "num", "data-key": column.key }, shownText);
          return el("th", { scope: "row" }, el("button", { type: "button", class: "link" }, shownText));
        }));
    }

    function show() {
      rows.show(ordered.filter(({ k }) => kept(k)));
    }

    function sort(key, down) {
      const column = COLUMNS.find((one) => one.key === key);
      if (!column) return;
      const first = down !== undefined ? down : state.key === key ? !state.down : Boolean(column.value);
      Object.assign(state, { key, down: first });
      const sign = first ? -1 : 1;
      ordered = [...between].sort((a, b) => {
        if (column.text) return sign * column.text(a.pair).localeCompare(column.text(b.pair));
        const [x, y] = [column.value(a.pair), column.value(b.pair)];
        if (x === null || y === null) return (x === null) - (y === null); // undefined stays last
        return sign * (x - y);
      });
      show();
      heads.forEach((head) => head.setAttribute("aria-sort",
        head.dataset.key !== key ? "none" : first ? "descending" : "ascending"));
      sorted(key, first);
    }

    return {
      element: el("table", { class: "pairs" }, el("thead", null, el("tr", null, heads)), body),
      select: marked.select,
      sort,
      // Shows the pairs for which `keep(pair number)` holds.
      only(keep) {
        kept = keep;
        show();
      },
    };
  }

  // Every axis as a row: what its images show, how far that is from the ideal, and its edges.
  function axisTable(pick) {
    const titles = ["Axis", "Initial images", "Distance to the ideal", "By chance up to", "Valid answers", "Changes others", "Is changed"];
    const reason = (node) => model.words.status[node.status];
    return el("table", { class: "axes-table" },
      el("thead", null, el("tr", null, titles.map((title, i) => el("th", { scope: "col", class: i > 1 ? "num" : null }, title)))),
      el("tbody", null, model.document.nodes.map((node, i) => el("tr", null,
        el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => pick({ axis: i }) }, name(model.axes[i].label))),
        el("td", null, stack(node, model.axes[i])),
        el("td", { class: "num" }, withInterval(node.w1, ...(node.w1_ci || [null, null]), { brief: true, reason: reason(node) })),
        el("td", { class: "num" }, number(node.w1_null.q95, { brief: true, reason: reason(node) })),
        el("td", { class: "num" }, count(node.initial.n_valid), " of ", count(node.initial.n_total)),
        el("td", { class: "num" }, strength(node.out_degree, node.out_strength, "source", i)),
        el("td", { class: "num" }, strength(node.in_degree, node.in_strength, "target", i))))));
  }

  // The edges at one end of an axis. That none was found says something only where one was looked for.
  function strength(degree, value, end, axis) {
    if (degree) return [`${degree} ${degree === 1 ? "edge" : "edges"}, |IS| `, number(value)];
    const pairs = model.pairs.filter((pair) => pair[end] === axis && pair.source !== pair.target);
    return pairs.every((pair) => pair.flags.includes("no_intervention")) ? "not tested" : "no edge";
  }

  function stack(node, axis) {
    const shares = node.initial.distribution;
    if (shares === null) return number(null, { brief: true, reason: "no valid answers" });
    return biasgraph.charts.stack(shares, axis.attributes);
  }

  // The amplification beside what it would be with no effect anywhere.
  function amplification() {
    const total = model.document.graph.amplification;
    const floor = total.noise_floor;
    if (total.value === null) return null;
    return biasgraph.charts.numberLine({
      low: 0, high: Math.max(total.value, floor.q95 || 0) * 1.05, digits: 1,
      band: floor.q95 === null ? null : [0, floor.q95],
      marks: [
        { label: "sum of |IS|", kind: "plain", value: total.value, text: number(total.value, { digits: 2 }) },
        { label: "with no effect", kind: "reference", value: floor.mean, text: floor.mean === null ? "not defined" : ["about ", number(floor.mean, { digits: 2 })] },
      ],
    });
  }

  Object.assign(biasgraph, { matrix, pairTable, axisTable, amplification });
})(window.biasgraph);
