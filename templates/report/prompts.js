// Many prompts: the grid of prompts and axes, ranked by any of them, and how each axis is spread.
(function (biasgraph) {
  "use strict";

  const { el, svg, name, unbroken, shown, percent, whole, withInterval, growing } = biasgraph.dom;
  const { model } = biasgraph;
  const found = model.prompts;
  if (!found) return;
  const byId = (id) => document.getElementById(id);
  const ROWS = 50; // drawn at a time
  const NAMED = 5; // prompts that a dot names
  const size = model.axes.length;
  const heads = [];
  const lines = found.rows.map((row, place) => ({ ...row, place, cells: row.cells.map(withShares) }));
  const together = found.sum.map(withShares);
  let ranked = lines;
  let at = [0, 0]; // the cell that the Tab key reaches

  function withShares(cell) {
    const valid = cell.counts.reduce((sum, one) => sum + one, 0);
    return { ...cell, valid, shares: valid ? cell.counts.map((one) => one / valid) : null };
  }

  // What a cell says, in a sentence; the same for eyes and for screen readers.
  function words(label, cell, i) {
    const { label: axis, attributes } = model.axes[i];
    const images = `${cell.valid.toLocaleString("en")} of ${cell.total.toLocaleString("en")} images with a valid answer`;
    if (cell.w1 === null) return `${label}, ${axis}: undecidable, ${cell.why} (${images}).`;
    const ends = cell.most_ci === null ? "" : ` [${cell.most_ci.map(whole).join(", ")}]`;
    const most = `${percent(cell.shares[cell.most])} ${attributes[cell.most]}${ends}, ideal ${percent(found.ideals[i][cell.most])}`;
    const range = cell.ci === null ? "" : ` [${cell.ci.map((end) => shown(end, 3)).join(", ")}]`;
    const chance = cell.near ? ", within chance of the ideal" : "";
    return `${label}, ${axis}: ${most}; distance to the ideal ${shown(cell.w1, 3)}${range}${chance}; ${images}.`;
  }

  function look(cell) {
    return cell.w1 === null ? "few" : cell.near ? "near" : "far";
  }

  function cellOf(row, i) {
    const cell = row.cells[i];
    const say = () => showRow(row, words(row.label, cell, i));
    return el("button", {
      type: "button", class: `cell ${look(cell)}`, tabindex: -1, "data-axis": i,
      "aria-label": words(row.label, cell, i), onfocus: say, onmouseenter: say, onclick: say,
      style: { "--share": cell.near || cell.w1 === null ? 0 : (cell.w1 / found.reach).toFixed(3) },
    }, cell.w1 === null ? "n/d" : shown(cell.w1, 2).replace(/^0/, ""));
  }

  function rowOf(row) {
    const title = row.href ? el("a", { href: row.href }, name(row.label)) : name(row.label);
    return el("tr", { "data-prompt": row.place },
      el("th", { scope: "row" }, title),
      row.cells.map((_, i) => el("td", null, cellOf(row, i))),
      el("td", { class: "edges", title: row.why }, row.edges, el("span", { class: "hidden" }, `. ${row.why}`)));
  }

  // The line below the grid, and the prompt's dots in all charts.
  function showRow(row, text) {
    const line = byId("grid-said");
    line.hidden = false;
    line.replaceChildren(...[text, row.href && " ", row.href && el("a", { href: row.href }, "Its report")].filter(Boolean));
    for (const dot of document.querySelectorAll(".dot.here")) dot.classList.remove("here");
    for (const chart of document.querySelectorAll("#multiples svg")) {
      const { shares } = row.cells[chart.dataset.axis];
      const dot = shares && chart.querySelector(`.dot[data-at="${at100(shares[chart.dataset.attribute])}"]`);
      if (!dot) continue;
      dot.classList.add("here");
      dot.parentNode.append(dot); // above the others
    }
  }

  const body = el("tbody");
  const rows = growing(body, rowOf, ROWS);

  function cellAt(line, i) {
    rows.reach(line);
    const row = body.children[line];
    return row ? row.querySelector(`[data-axis="${i}"]`) : null;
  }

  function reachable(line, i) {
    const [before, after] = [cellAt(...at), cellAt(line, i)];
    if (!after) return null;
    if (before) before.tabIndex = -1;
    at = [line, i];
    after.tabIndex = 0;
    return after;
  }

  function move(event) {
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const cell = event.target.closest(".cell");
    const step = steps[event.key];
    if (!cell || !step) return;
    event.preventDefault();
    const line = ranked.indexOf(lines[Number(cell.closest("tr").dataset.prompt)]) + step[0];
    const i = Number(cell.dataset.axis) + step[1];
    const next = line >= 0 && line < ranked.length && i >= 0 && i < size ? reachable(line, i) : null;
    if (next) next.focus();
  }

  // value: of a row; null stays last whichever way.
  function rank(head, value, text) {
    const down = head.getAttribute("aria-sort") === "none" ? !text : head.getAttribute("aria-sort") === "ascending";
    const sign = down ? -1 : 1;
    ranked = [...lines].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
      return sign * (text ? x.localeCompare(y) : x - y) || a.place - b.place;
    });
    for (const one of heads) one.setAttribute("aria-sort", one === head ? (down ? "descending" : "ascending") : "none");
    const before = body.querySelector('.cell[tabindex="0"]');
    if (before) before.tabIndex = -1;
    rows.show(ranked);
    at = [0, 0];
    reachable(0, 0);
  }

  function headOf(label, value, text) {
    const head = el("th", { scope: "col", "aria-sort": "none" },
      el("button", { type: "button", onclick: () => rank(head, value, text) }, label));
    heads.push(head);
    return head;
  }

  function grid() {
    const all = el("tr", null, el("th", { scope: "row" }, "all together"),
      together.map((cell, i) => el("td", { class: `sum ${look(cell)}`, title: words("All prompts together", cell, i) },
        cell.w1 === null ? "n/d" : shown(cell.w1, 2).replace(/^0/, ""))), el("td"));
    const table = el("table", { class: "grid" },
      el("thead", null, el("tr", null,
        headOf("Prompt", (row) => row.label, true),
        model.axes.map((axis, i) => headOf(name(axis.label), (row) => row.cells[i].w1)),
        el("th", { scope: "col" }, "Its graph"))),
      body, el("tfoot", null, all));
    table.addEventListener("keydown", move);
    return table;
  }

  function legend() {
    const sample = (look_, text) => el("li", null, el("i", { class: `cell sample-cell ${look_}`, style: { "--share": 0.6 } }), text);
    return [
      el("li", null, el("span", { class: "scale" }, "ideal ", el("i"), ` ${shown(found.reach, 2)} away`)),
      sample("near", "within chance of the ideal"),
      sample("few", "undecidable: too few valid answers"),
    ];
  }

  // Where a share stands: prompts within a third of a percent are one dot.
  function at100(share) {
    return Math.round(share * 300) / 3;
  }

  // One axis: a line for each attribute; the more prompts have a share, the larger its dot.
  function multiple(axis, i) {
    const [left, wide, high] = [6, 220, 22];
    const x = (share) => left + share * (wide - 2 * left);
    const seen = lines.filter((row) => row.cells[i].shares !== null);
    const chart = (attribute, a) => {
      const shares = seen.map((row) => row.cells[i].shares[a]);
      const ends = shares.length ? `from ${percent(least(shares))} to ${percent(-least(shares.map((one) => -one)))}` : "no valid answers";
      const whole = together[i].shares;
      return el("div", { class: "bar-row" }, el("span", { class: "bar-label" }, name(attribute)),
        svg("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "data-axis": i, "data-attribute": a, "aria-label": `${axis.label}, ${attribute}: ${ends} of a prompt’s images; ideal ${percent(found.ideals[i][a])}` },
          svg("line", { class: "base", x1: left, x2: wide - left, y1: high / 2, y2: high / 2 }),
          svg("line", { class: "ideal", x1: x(found.ideals[i][a]), x2: x(found.ideals[i][a]), y1: 1, y2: high - 1 }),
          whole && svg("line", { class: "whole", x1: x(whole[a]), x2: x(whole[a]), y1: 3, y2: high - 3 }),
          dots(seen, i, a).map(([place, rows, radius]) => svg("circle", { class: "dot", "data-at": place, cx: x(place / 100), cy: high / 2, r: radius },
            svg("title", null, dotTitle(rows, attribute, i, a))))));
    };
    return el("figure", null, el("h3", null, name(axis.label)), axis.attributes.map(chart),
      el("figcaption", { class: "note" }, unbroken(found.differ[i])));
  }

  function least(values) {
    return values.reduce((low, one) => Math.min(low, one), Infinity);
  }

  function dots(rows, i, a) {
    const places = new Map();
    for (const row of rows) {
      const place = at100(row.cells[i].shares[a]);
      if (!places.has(place)) places.set(place, []);
      places.get(place).push(row);
    }
    const scale = Math.log(Math.max(8, lines.length));
    return [...places].map(([place, all]) => [place, all, (3 + (6 * Math.log(all.length)) / scale).toFixed(1)]);
  }

  function dotTitle(rows, attribute, i, a) {
    const named = rows.slice(0, NAMED).map((row) => `${row.label}: ${percent(row.cells[i].shares[a])} ${attribute}`);
    const all = rows.length > 1 ? [`${rows.length.toLocaleString("en")} prompts`] : [];
    return [...all, ...named, ...(rows.length > NAMED ? ["\u2026"] : [])].join("\n");
  }

  // The numbers of an axis: a row for each prompt, drawn when the table is opened.
  function numbers(i, title) {
    const { attributes } = model.axes[i];
    const columns = [...attributes, "Valid answers", "Distance to the ideal"];
    const row = (label, cell) => el("tr", null, el("th", { scope: "row" }, label),
      cell.counts.map((count, a) => el("td", { class: "num" }, cell.shares === null ? "–" : `${percent(cell.shares[a])} (${count.toLocaleString("en")})`)),
      el("td", { class: "num" }, `${cell.valid.toLocaleString("en")} of ${cell.total.toLocaleString("en")}`),
      el("td", { class: "num" }, withInterval(cell.w1, ...(cell.ci || [null, null]), { reason: cell.why, brief: true })));
    const rows = el("tbody");
    const table = el("table", null,
      el("thead", null, el("tr", null, el("th", { scope: "col" }, "Prompt"), columns.map((one) => el("th", { scope: "col", class: "num" }, name(one))))),
      rows, el("tfoot", null, row("all prompts together", together[i])));
    const drawn = growing(rows, (one) => row(one.href ? el("a", { href: one.href }, name(one.label)) : name(one.label), one.cells[i]), ROWS);
    const open = ({ target }) => target.open && drawn.show(lines);
    return el("details", { ontoggle: open }, el("summary", null, unbroken(title)), el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": title }, table));
  }

  byId("grid").append(grid());
  byId("grid-legend").append(...legend());
  rows.show(ranked);
  reachable(0, 0);
  growing(byId("multiples"), (i) => multiple(model.axes[i], i), 12).show(model.axes.map((_, i) => i));
  document.querySelector("#compared .compared").append(...found.tables.map(([i, title]) => numbers(i, title)));
  byId("compared").hidden = !found.tables.length;
})(window.biasgraph);
