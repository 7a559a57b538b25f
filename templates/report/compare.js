// The comparison: graphs that share their selection, places, zoom and thresholds.
(function (biasgraph) {
  "use strict";

  const { el, name, download, shown } = biasgraph.dom;
  const { model, drawGraph, compared } = biasgraph;
  const byId = (id) => document.getElementById(id);

  Object.assign(biasgraph.SIGNS, {
    rose: { words: "changed: IS rose", head: "arrow", dashes: () => false },
    fell: { words: "changed: IS fell", head: "bar", dashes: () => false },
    both: { words: "in both graphs, not changed", head: "vee", dashes: () => false },
    undecided: { words: "in one graph, undecided in the other", head: "vee", dashes: () => [2, 5] },
  });

  const state = { selected: null, is: 0, pruned: false, focus: null, incoming: false, view: "both", theme: null };
  let resized = performance.now(); // when the graphs last fitted themselves to a new size

  const figures = [
    ...model.runs.map((run, i) => figure("own", run.drawing, [name(run.label), i === 0 && el("small", null, " baseline")])),
    ...model.differences.map((one, i) => figure("changes", one.drawing, ["Changes: ", name(model.runs[0].label), " → ", name(model.runs[i + 1].label)])),
  ];
  byId("side-by-side").append(...figures.map((one) => one.element));
  const graphs = [];
  figures.forEach((one, i) => graphs.push(drawGraph(one.canvas, one.data, {
    click: pick,
    dragged: (id, position) => graphs.forEach((graph, j) => j !== i && graph.place(id, position)),
    viewed: (view) => link(view, i),
  })));
  graphs.forEach((graph, i) => graph.network.on("dragging", () => link({ position: graph.network.getViewPosition(), scale: graph.network.getScale() }, i)));
  const table = compared.pairTable(pick);
  byId("pairs").append(table.element);
  byId("distances").append(...compared.distances());
  byId("incoming-lines").append(...compared.strengths("in"));
  byId("outgoing-lines").append(...compared.strengths("out"));
  byId("amplification").append(compared.amplification());
  byId("legend").append(biasgraph.legend());
  byId("change-legend").append(el("ul", { class: "legend", "aria-label": "Legend of the changes" },
    [...biasgraph.legend(["rose", "fell", "both", "undecided"].map((sign) => ({ sign, text: biasgraph.SIGNS[sign].words }))).children].slice(0, 4)));
  byId("focus").append(...model.axes.map((axis, i) => el("option", { value: i }, axis.label)));
  const chips = model.axes.map((axis, i) => el("button", { type: "button", class: "chip", onclick: () => pick({ axis: i }) }, name(axis.label)));
  byId("axes").append(...chips);

  function figure(kind, data, caption) {
    const canvas = el("div", { class: "canvas", role: "img", "aria-label": "The axes on a circle, with an arrow for each edge. The buttons and tables below hold the same." });
    return { kind, data, canvas, element: el("figure", null, el("figcaption", null, caption), canvas) };
  }

  // One view for all: what one graph shows, every other shows too.
  function link(view, from) {
    if (performance.now() - resized < 400) return;
    graphs.forEach((graph, i) => i !== from && graph.moveTo(view));
  }

  // All graphs at the scale at which the widest of them fits.
  function fitAll() {
    resized = performance.now();
    const visible = graphs.filter((_, i) => !figures[i].element.hidden);
    visible.forEach((graph) => graph.fit());
    const scale = Math.min(...visible.map((graph) => graph.network.getScale()));
    graphs.forEach((graph) => graph.moveTo({ position: { x: 0, y: 0 }, scale }));
  }

  function change(changes) {
    Object.assign(state, changes);
    for (const graph of graphs) graph.show({ ...state, p: 1 });
    table.select(state.selected);
    byId("is").value = state.is;
    byId("is-shown").textContent = shown(state.is, 3);
    byId("pruned").checked = state.pruned;
    byId("focus").value = state.focus === null ? "" : state.focus;
    byId("incoming").checked = state.incoming;
    byId("incoming").disabled = state.focus === null;
    chips.forEach((chip, i) => chip.setAttribute("aria-pressed", String(state.selected !== null && state.selected.axis === i)));
    if ("view" in changes) showView();
    if ("theme" in changes) showTheme();
  }

  function pick(selection) {
    change({ selected: selection });
    showPanel();
  }

  function showPanel() {
    const { selected } = state;
    byId("panel").hidden = selected === null;
    byId("close").hidden = selected === null;
    byId("detail").replaceChildren(...(selected === null ? []
      : selected.pair === undefined ? compared.axisPanel(selected.axis) : compared.pairPanel(selected.pair)));
    if (selected === null) return;
    const head = byId("detail-title");
    byId("said").textContent = `${head.textContent}: ${byId("detail").querySelector(".verdict").textContent}`;
    const { top } = byId("panel").getBoundingClientRect();
    if (top < 0 || top > window.innerHeight * 0.8) byId("panel").scrollIntoView({ block: "nearest" });
    if (document.activeElement && document.activeElement !== document.body) head.focus({ preventScroll: true });
  }

  function close() {
    const last = state.selected;
    pick(null);
    const row = document.querySelector(".pairs tbody button");
    (last.axis === undefined ? row : chips[last.axis]).focus({ preventScroll: true });
  }

  function showView() {
    figures.forEach((one) => { one.element.hidden = state.view !== "both" && state.view !== one.kind; });
    for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
    requestAnimationFrame(fitAll);
  }

  function dark() {
    return state.theme === null ? window.matchMedia("(prefers-color-scheme: dark)").matches : state.theme === "dark";
  }

  function showTheme() {
    if (state.theme === null) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = state.theme;
    byId("theme").textContent = dark() ? "Light theme" : "Dark theme";
    graphs.forEach((graph) => graph.refresh());
  }

  function zoom(factor) {
    graphs.find((_, i) => !figures[i].element.hidden).zoom(factor);
  }

  function listen() {
    byId("is").addEventListener("input", (event) => change({ is: Number(event.target.value) }));
    byId("pruned").addEventListener("change", (event) => change({ pruned: event.target.checked }));
    byId("focus").addEventListener("change", (event) => change({ focus: event.target.value === "" ? null : Number(event.target.value) }));
    byId("incoming").addEventListener("change", (event) => change({ incoming: event.target.checked }));
    byId("larger").addEventListener("click", () => zoom(1.2));
    byId("smaller").addEventListener("click", () => zoom(1 / 1.2));
    byId("reset").addEventListener("click", () => {
      pick(null);
      change({ is: 0, pruned: false, focus: null, incoming: false });
      graphs.forEach((graph) => graph.reset());
      fitAll();
    });
    byId("close").addEventListener("click", close);
    byId("theme").addEventListener("click", () => change({ theme: dark() ? "light" : "dark" }));
    byId("json").addEventListener("click", () => download(new Blob([JSON.stringify(model.document, null, 1)], { type: "application/json" }), "compare.json"));
    for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => change({ view: button.dataset.view }));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.selected !== null) close(); });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => change({ theme: state.theme }));
    new ResizeObserver(() => requestAnimationFrame(fitAll)).observe(byId("side-by-side"));
  }

  listen();
  biasgraph.page = { graphs, state, pick };
  change({ theme: null, view: "both" });
  showPanel();
  fitAll();
  document.documentElement.dataset.ready = "true";
})(window.biasgraph);
