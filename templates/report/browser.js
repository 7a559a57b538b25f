// All pictures of a run, drawn when they are scrolled to, by what was asked for and what the judge said.
(function (biasgraph) {
  "use strict";

  const { el, growing } = biasgraph.dom;
  const { model, pictures, corrections } = biasgraph;
  const STEP = 60;
  const all = model.images.map((_, i) => i).filter((i) => pictures.source(model.images[i]));
  const grid = el("div", { class: "browser-grid" });
  const status = el("p", { class: "note", role: "status" });
  let drawn = null; // until the section is opened

  // What to show: the numbers of a set, of an axis, and of an answer to it, each with its name.
  const sets = model.sets.map((set, s) => ({ label: pictures.setWords(set), keep: (image) => image.set === s }));
  const lost = [["unknown", pictures.UNKNOWN], ["nobody in the image", pictures.GATED]];
  const anyAxis = lost.map(([label, code]) => ({ label: `${label}, about any axis`, keep: (image) => image.answers.includes(code) }));
  const byAxis = model.axes.map((axis, x) => ({
    label: axis.label,
    options: [...axis.attributes.map((label, a) => [label, a]), ...lost]
      .map(([label, code]) => ({ label: `${axis.label}: ${label}`, keep: (image) => image.answers[x] === code })),
  }));
  const said = [...anyAxis, ...byAxis.flatMap((group) => group.options)];

  function option(one, i) {
    return el("option", { value: i }, one.label);
  }

  const askedFor = el("select", { onchange: filter }, el("option", { value: "" }, "anything"), sets.map(option));
  const judgeSaid = el("select", { onchange: filter }, el("option", { value: "" }, "anything"), anyAxis.map(option),
    byAxis.map((group) => el("optgroup", { label: group.label }, group.options.map((one) => option(one, said.indexOf(one))))));

  function draw(i) {
    const button = pictures.picture(i);
    button.tabIndex = -1;
    return button;
  }

  function filter() {
    const filters = [[sets, askedFor], [said, judgeSaid]].filter(([, select]) => select.value !== "").map(([options, select]) => options[select.value]);
    const kept = all.filter((i) => filters.every((one) => one.keep(model.images[i])));
    const label = filters.map((one) => one.label).join("; ") || "all pictures";
    pictures.register(grid, label, kept, (place) => drawn.reach(place));
    drawn.show(kept);
    for (const button of grid.children) button.tabIndex = -1;
    if (grid.firstElementChild) grid.firstElementChild.tabIndex = 0;
    status.textContent = `${kept.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} pictures`;
  }

  function begin() {
    if (drawn) return;
    drawn = growing(grid, draw, STEP);
    filter();
  }

  const section = document.getElementById("browser");
  if (section && all.length) {
    section.hidden = false;
    section.append(
      el("details", { ontoggle: begin }, el("summary", null, `Look through ${all.length.toLocaleString("en")} pictures${all.length < model.images.length ? `; of ${model.images.length.toLocaleString("en")}, the others are not in this page` : ""}`),
        el("p", { class: "browser-filters" }, el("label", null, "asked for ", askedFor), " ", el("label", null, "the judge said ", judgeSaid)),
        status, grid),
      corrections.status());
  }
})(window.biasgraph);
