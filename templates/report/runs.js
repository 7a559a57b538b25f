// The table of runs, sorted by its heads and filtered. Without this it stands as it was written.
(function (biasgraph) {
  "use strict";

  const { el } = biasgraph.dom;
  const table = document.getElementById("runs");
  const body = table && table.tBodies[0];
  const rows = body ? [...body.rows] : [];
  const texts = rows.map((row) => row.textContent.toLocaleLowerCase());
  const heads = table ? [...table.tHead.rows[0].cells] : [];

  // What a row is sorted by; null, the undefined, stays last whichever way.
  function valueOf(row, place, kind) {
    const cell = row.cells[place];
    const text = cell.dataset.value ?? cell.textContent;
    if (text === "") return null;
    return kind === "number" ? Number(text) : text;
  }

  function sort(head, place) {
    const { kind, key } = head.dataset;
    const before = head.getAttribute("aria-sort");
    const down = before === null ? kind === "number" || key === "date" : before === "ascending";
    const sign = down ? -1 : 1;
    const values = new Map(rows.map((row, i) => [row, [valueOf(row, place, kind), i]]));
    const sorted = [...rows].sort((a, b) => {
      const [[x, i], [y, j]] = [values.get(a), values.get(b)];
      if (x === null || y === null) return (x === null) - (y === null) || i - j;
      return sign * (kind === "number" ? x - y : x.localeCompare(y)) || i - j;
    });
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.replaceChildren(...sorted);
  }

  heads.forEach((head, place) => {
    const text = head.textContent;
    head.replaceChildren(el("button", { type: "button", onclick: () => sort(head, place) }, text));
  });

  const fields = document.getElementById("filter");
  function filter() {
    const wanted = document.getElementById("words").value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const state = document.getElementById("state");
    let shown = 0;
    rows.forEach((row, i) => {
      const fits = wanted.every((word) => texts[i].includes(word)) && (!state || !state.value || row.dataset.state === state.value);
      row.hidden = !fits;
      shown += fits;
    });
    document.getElementById("shown").value = shown === rows.length ? "" : `${shown} of ${rows.length}`;
    document.getElementById("none").hidden = shown > 0;
  }

  if (fields) {
    fields.hidden = false;
    fields.addEventListener("input", filter);
    filter(); // a browser may keep what was typed
  }

  document.documentElement.dataset.ready = "true";
})(window.biasgraph);
