// The report: graph, panel, matrix and table share one state, which stands in the address.
(function (biasgraph) {
  "use strict";

  const { el, download } = biasgraph.dom;
  const { model, drawGraph, passes } = biasgraph;
  const { isDark, showTheme, watchTheme } = biasgraph.theme;
  const byId = (id) => document.getElementById(id);
  const DEFAULT = { is: 0, p: 1, pruned: false, focus: null, incoming: false, find: "", selected: null, sort: null, theme: null };
  const SMALLEST_P = 12; // the slider ends at p = 1e-12

  const state = { ...DEFAULT };
  const phone = window.matchMedia("(max-width: 600px)");
  let opener = null; // what had the focus when the panel was opened
  const size = model.axes.length;
  const strongestIs = Math.max(0.05, ...model.pairs.filter((pair) => pair.edge).map((pair) => Math.abs(pair.is || 0)));

  const graph = drawGraph(byId("graph"), model.drawing, { click: pick, hover: showTip });
  const matrix = biasgraph.matrix(pick);
  const table = biasgraph.pairTable(pick, (key, down) => change({ sort: `${key}${down ? "-" : "+"}` }));
  byId("matrix").append(matrix.element);
  byId("pairs").append(table.element);
  byId("axis-table").append(biasgraph.axisTable(pick));
  const amplification = byId("amplification");
  if (amplification) amplification.append(...[biasgraph.amplification()].filter(Boolean));
  byId("legend").append(biasgraph.legend());
  byId("focus").append(...model.axes.map((axis, i) => el("option", { value: i }, axis.label)));
  const found = biasgraph.findings.folded(model.findings.graph);
  byId("graph-findings").append(...found);
  byId("graph-findings-section").hidden = !found.length;
  const seen = biasgraph.seen();
  byId("seen-here").append(...seen);
  byId("seen").hidden = !seen.length;
  const agreement = biasgraph.agreement();
  byId("agreement").append(...agreement);
  byId("agreement-section").hidden = !agreement.length;

  // State

  function change(changes) {
    Object.assign(state, changes);
    graph.show(state);
    matrix.select(state.selected);
    table.select(state.selected);
    table.only((k) => !byId("only-shown").checked || isShown(k));
    showControls();
    if ("find" in changes) showFound();
    if ("theme" in changes) showTheme(state.theme);
    writeHash();
  }

  function isShown(k) {
    const pair = model.pairs[k];
    const near = state.focus === null || pair.source === state.focus || (state.incoming && pair.target === state.focus);
    return near && passes(pair, state) && (pair.edge || state.pruned);
  }

  function pick(selection) {
    if (!byId("panel").contains(document.activeElement)) opener = document.activeElement;
    change({ selected: selection });
    hideTip();
    showPanel();
  }

  function showPanel() {
    const { selected } = state;
    byId("panel").hidden = selected === null;
    byId("detail").replaceChildren(...(selected === null ? []
      : [selected.pair === undefined ? biasgraph.axisPanel(selected.axis, pick) : biasgraph.pairPanel(selected.pair)]));
    byId("panel").scrollTop = 0;
    if (selected === null) return;
    const head = byId("detail").querySelector("h2");
    byId("said").textContent = `${head.textContent}: ${byId("detail").querySelector(".verdict").textContent}`;
    if (document.activeElement && document.activeElement !== document.body) head.focus({ preventScroll: true });
  }

  // On a phone the matrix takes the place of the graph.
  function placeMatrix() {
    const section = byId("matrix-section");
    if (phone.matches) byId("graph-section").before(section);
    else byId("pairs").closest("section").before(section);
  }

  // Controls

  function showControls() {
    byId("is").value = byId("is-number").value = state.is;
    byId("p").value = state.p >= 1 ? 0 : Math.min(-Math.log10(state.p), SMALLEST_P);
    byId("p-number").value = state.p >= 1 ? "1" : biasgraph.dom.pText(state.p);
    byId("pruned").checked = state.pruned;
    byId("focus").value = state.focus === null ? "" : state.focus;
    byId("incoming").checked = state.incoming;
    byId("incoming").disabled = state.focus === null;
    if (byId("find").value !== state.find) byId("find").value = state.find;
    const shown = graph.shown();
    const all = model.document.links.length;
    byId("shown").textContent = `${shown.edges} of ${all} ${all === 1 ? "edge" : "edges"} shown`
      + (state.pruned ? `, and ${shown.pruned} pairs without an edge, faintly` : "");
  }

  function number(text, otherwise) {
    const value = Number(String(text).replace(",", "."));
    return Number.isFinite(value) && String(text).trim() !== "" ? value : otherwise;
  }

  function listen() {
    phone.addEventListener("change", placeMatrix);
    byId("is").max = byId("is-number").max = (Math.ceil(strongestIs * 20) / 20).toFixed(2);
    byId("is").addEventListener("input", (event) => change({ is: number(event.target.value, 0) }));
    byId("is-number").addEventListener("change", (event) => change({ is: Math.max(number(event.target.value, state.is), 0) }));
    byId("p").addEventListener("input", (event) => change({ p: Number(event.target.value) === 0 ? 1 : 10 ** -Number(event.target.value) }));
    byId("p-number").addEventListener("change", (event) => change({ p: Math.min(Math.max(number(event.target.value, state.p), 0), 1) }));
    byId("pruned").addEventListener("change", (event) => change({ pruned: event.target.checked }));
    byId("focus").addEventListener("change", (event) => change({ focus: event.target.value === "" ? null : Number(event.target.value) }));
    byId("incoming").addEventListener("change", (event) => change({ incoming: event.target.checked }));
    byId("only-shown").addEventListener("change", () => change({}));
    byId("find").addEventListener("input", (event) => change({ find: event.target.value }));
    byId("reset").addEventListener("click", reset);
    byId("close").addEventListener("click", () => close());
    byId("png").addEventListener("click", savePicture);
    byId("json").addEventListener("click", saveGraph);
    byId("theme").addEventListener("click", () => change({ theme: isDark(state.theme) ? "light" : "dark" }));
    for (const button of document.querySelectorAll("[data-pair]")) button.addEventListener("click", () => pick({ pair: Number(button.dataset.pair) }));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && state.selected !== null) close();
    });
    window.addEventListener("hashchange", () => readHash());
    watchTheme(() => showTheme(state.theme));
  }

  function reset() {
    change({ ...DEFAULT, theme: state.theme });
    showPanel();
  }

  // The panel closes, and whoever opened it stands where they were.
  function close() {
    const last = state.selected;
    pick(null);
    const back = opener && opener !== document.body && opener.isConnected ? opener : last.pair === undefined ? graph.element.querySelector(".node") : matrix.cell(last.pair);
    back.focus({ preventScroll: true });
  }

  // Search

  function showFound() {
    const words = state.find.trim().toLowerCase();
    const hits = !words ? [] : model.axes.flatMap((axis, i) => [
      ...(axis.label.toLowerCase().includes(words) ? [{ axis: i, text: axis.label }] : []),
      ...axis.attributes.filter((one) => one.toLowerCase().includes(words)).map((one) => ({ axis: i, text: `${axis.label}: ${one}` })),
    ]);
    const list = byId("found");
    list.hidden = !words;
    list.replaceChildren(...(hits.length ? hits.slice(0, 12).map((hit) => el("li", null,
      el("button", { type: "button", class: "link", onclick: () => { change({ find: "" }); pick({ axis: hit.axis }); } }, biasgraph.dom.name(hit.text))))
      : words ? [el("li", { class: "note" }, "no axis or attribute of this name")] : []));
  }

  // Tooltip

  function showTip(selection, point) {
    if (selection === null) return hideTip();
    const tip = byId("tip");
    tip.replaceChildren(biasgraph.tip(selection));
    tip.hidden = false;
    const width = byId("graph").clientWidth;
    tip.style.setProperty("left", `${Math.min(Math.max(point.x + 14, 4), width - tip.offsetWidth - 4)}px`);
    tip.style.setProperty("top", `${Math.max(point.y - tip.offsetHeight - 14, 4)}px`);
    return undefined;
  }

  function hideTip() {
    byId("tip").hidden = true;
  }

  // Files

  function savePicture() {
    const facts = [...document.querySelectorAll(".facts > div")].map((fact) => `${fact.firstElementChild.textContent}: ${fact.lastElementChild.textContent}`);
    const half = Math.ceil(facts.length / 2);
    const toy = document.querySelector(".toy");
    const lines = [facts.slice(0, half).join("; "), facts.slice(half).join("; "), ...(toy ? [toy.textContent.trim().replace(/\s+/g, " ")] : [])];
    biasgraph.graphPicture(graph, { title: document.querySelector("h1").textContent.trim(), lines })
      .then((canvas) => canvas.toBlob((blob) => download(blob, "biasgraph.png")));
  }

  function saveGraph() {
    download(new Blob([JSON.stringify(model.document, null, 1)], { type: "application/json" }), "graph.json");
  }

  // The address: names of axes rather than numbers, so that a link survives a new axis.

  function writeHash() {
    const words = new URLSearchParams();
    const axis = (i) => model.document.nodes[i].id;
    if (state.is > 0) words.set("is", state.is);
    if (state.p < 1) words.set("p", state.p);
    if (state.pruned) words.set("pruned", "1");
    if (state.focus !== null) words.set("focus", axis(state.focus));
    if (state.incoming) words.set("incoming", "1");
    if (state.selected !== null && state.selected.pair === undefined) words.set("axis", axis(state.selected.axis));
    if (state.selected !== null && state.selected.pair !== undefined) {
      words.set("from", axis(Math.floor(state.selected.pair / size)));
      words.set("to", axis(state.selected.pair % size));
    }
    if (state.sort !== null) words.set("sort", state.sort);
    if (state.theme !== null) words.set("theme", state.theme);
    const hash = words.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  function readHash() {
    const words = new URLSearchParams(location.hash.slice(1));
    const axis = (key) => model.document.nodes.findIndex((node) => node.id === words.get(key));
    const [only, from, to, focus] = [axis("axis"), axis("from"), axis("to"), axis("focus")];
    const theme = words.get("theme");
    const sort = words.get("sort");
    if (sort && /^\w+[+-]$/.test(sort)) table.sort(sort.slice(0, -1), sort.endsWith("-"));
    change({
      is: Math.max(number(words.get("is") || "", 0), 0),
      p: Math.min(Math.max(number(words.get("p") || "", 1), 0), 1),
      pruned: words.get("pruned") === "1",
      focus: focus < 0 ? null : focus,
      incoming: words.get("incoming") === "1",
      selected: only >= 0 ? { axis: only } : from >= 0 && to >= 0 ? { pair: from * size + to } : null,
      theme: theme === "dark" || theme === "light" ? theme : null,
    });
    showPanel();
  }

  listen();
  placeMatrix();
  biasgraph.page = { graph, state, pick };
  readHash();
  document.documentElement.dataset.ready = "true";
})(window.biasgraph);
