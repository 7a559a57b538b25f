// The comparison: graphs that share their selection, scale and thresholds.
(function (biasgraph) {
  "use strict";

  const { el, name, download, shown } = biasgraph.dom;
  const { model, drawGraph, compared } = biasgraph;
  const { isDark, showTheme, watchTheme } = biasgraph.theme;
  const byId = (id) => document.getElementById(id);

  Object.assign(biasgraph.SIGNS, {
    rose: { words: "changed: IS rose", head: "arrow", dashes: () => null },
    fell: { words: "changed: IS fell", head: "bar", dashes: () => null },
    both: { words: "in both graphs, not changed", head: "vee", dashes: () => null },
    undecided: { words: "in one graph, undecided in the other", head: "vee", dashes: () => [2, 5] },
  });
  for (const sign of ["rose", "fell", "both", "undecided"]) {
    biasgraph.SIGNS[sign].says = (source, target) => `${source} to ${target}, ${biasgraph.SIGNS[sign].words}`;
  }

  const state = { selected: null, is: 0, pruned: false, focus: null, incoming: false, view: "both", theme: null };

  const figures = [
    ...model.runs.map((run, i) => figure("own", run.drawing, [name(run.label), i === 0 && el("small", null, " baseline")])),
    ...model.differences.map((one, i) => figure("changes", one.drawing, ["Changes: ", name(model.runs[0].label), " → ", name(model.runs[i + 1].label)])),
  ];
  byId("side-by-side").append(...figures.map((one) => one.element));
  const graphs = [];
  let opener = null; // what had the focus when the panel was opened
  graphs.push(...figures.map((one) => drawGraph(one.canvas, one.data, { click: pick, resized: fitAll })));
  const table = compared.pairTable(pick);
  byId("pairs").append(table.element);
  const [clear, within] = compared.distances();
  byId("distances").append(...clear);
  byId("unchanged").hidden = !within.length;
  byId("unchanged").querySelector("summary").textContent = `Within chance: ${within.length} ${within.length === 1 ? "axis" : "axes"}`;
  byId("unchanged").querySelector(".lines").append(...within);
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
    const canvas = el("div", { class: "canvas" });
    return { kind, data, canvas, element: el("figure", null, el("figcaption", null, caption), canvas) };
  }

  // All graphs at the scale at which the widest of them fits.
  function fitAll() {
    const visible = graphs.filter((_, i) => !figures[i].element.hidden);
    const scale = Math.min(...visible.map((graph) => graph.fit()));
    visible.forEach((graph) => graph.fit(scale));
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
    if ("theme" in changes) showTheme(state.theme);
  }

  function pick(selection) {
    if (!byId("panel").contains(document.activeElement)) opener = document.activeElement;
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

  // The panel closes, and whoever opened it stands where they were, if that can still be seen.
  function close() {
    const last = state.selected;
    pick(null);
    const folded = byId("pairs").closest("details");
    const row = folded.open ? document.querySelector("#pairs tbody button") : folded.querySelector("summary");
    const back = opener && opener !== document.body && opener.checkVisibility() ? opener : last.axis === undefined ? row : chips[last.axis];
    back.focus({ preventScroll: true });
  }

  function showView() {
    figures.forEach((one) => { one.element.hidden = state.view !== "both" && state.view !== one.kind; });
    for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
    fitAll();
  }

  function listen() {
    byId("is").addEventListener("input", (event) => change({ is: Number(event.target.value) }));
    byId("pruned").addEventListener("change", (event) => change({ pruned: event.target.checked }));
    byId("focus").addEventListener("change", (event) => change({ focus: event.target.value === "" ? null : Number(event.target.value) }));
    byId("incoming").addEventListener("change", (event) => change({ incoming: event.target.checked }));
    byId("reset").addEventListener("click", () => {
      pick(null);
      change({ is: 0, pruned: false, focus: null, incoming: false });
    });
    byId("close").addEventListener("click", close);
    byId("theme").addEventListener("click", () => change({ theme: isDark(state.theme) ? "light" : "dark" }));
    byId("json").addEventListener("click", () => download(new Blob([JSON.stringify(model.document, null, 1)], { type: "application/json" }), "compare.json"));
    for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => change({ view: button.dataset.view }));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.selected !== null) close(); });
    watchTheme(() => change({ theme: state.theme }));
  }

  listen();
  biasgraph.page = { graphs, state, pick };
  change({ theme: null, view: "both" });
  showPanel();
  fitAll();
  document.documentElement.dataset.ready = "true";
})(window.biasgraph);
