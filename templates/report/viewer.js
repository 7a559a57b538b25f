// One picture large: what it was asked for, what the judge said of it, and what is right. The arrow
// keys go on within the strip that it was opened from.
(function (biasgraph) {
  "use strict";

  const { el, name, count } = biasgraph.dom;
  const { model, pictures, corrections } = biasgraph;

  const state = { label: "", images: [], at: 0, opener: null, strip: null, reach: null };
  const title = el("h2", { id: "viewer-title", tabindex: "-1" });
  const place = el("div", { class: "viewer-picture" });
  const facts = el("dl", { class: "numbers" });
  const answers = el("tbody");
  const back = el("button", { type: "button", onclick: () => go(-1) }, "← Back");
  const next = el("button", { type: "button", onclick: () => go(1) }, "Next →");
  const dialog = el("dialog", { class: "viewer", "aria-labelledby": "viewer-title" },
    el("div", { class: "viewer-top" }, title, back, next,
      el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close ", el("kbd", null, "Esc"))),
    el("div", { class: "viewer-parts" }, place, el("div", { class: "viewer-words" }, facts,
      el("table", null, el("thead", null, el("tr", null, ["Axis", "The judge says", "What is right"].map((text) => el("th", { scope: "col" }, text)))), answers),
      corrections.status())));
  let filesThere = true; // until one of them was not

  function open(button) {
    const { element, label, images, reach } = pictures.stripOf(button);
    Object.assign(state, { label, images, at: images.indexOf(Number(button.dataset.image)), opener: button, strip: element, reach });
    show();
    dialog.showModal();
    title.focus();
  }

  function go(step) {
    const at = state.at + step;
    if (at < 0 || at >= state.images.length) return;
    state.at = at;
    show();
  }

  function show() {
    const i = state.images[state.at];
    const image = model.images[i];
    title.replaceChildren(name(state.label), ` · ${(state.at + 1).toLocaleString("en")} of `, count(state.images.length));
    place.replaceChildren(picture(image));
    facts.replaceChildren(...[
      ["Prompt", pictures.prompt(image)], ["Set", pictures.setWords(model.sets[image.set])], ["Seed", image.seed], ["Model", model.model],
    ].filter(([, words]) => words !== null && words !== undefined && words !== "").map(([term, words]) =>
      el("div", null, el("dt", null, term), el("dd", null, name(String(words))))));
    answers.replaceChildren(...model.axes.map((axis, x) => el("tr", null,
      el("th", { scope: "row" }, name(axis.label)),
      el("td", { class: image.answers[x] === null || image.answers[x] < 0 ? "undefined" : null }, name(pictures.answerWords(x, image.answers[x]))),
      el("td", null, corrections.choice(image, x)))));
    back.disabled = state.at === 0;
    next.disabled = state.at === state.images.length - 1;
  }

  // The run's file, once it is loaded; what stands in the page until then, and where there is no run.
  function picture(image) {
    const shown = pictures.img(image, {});
    const file = pictures.file(image);
    if (file && image.src && filesThere) {
      const whole = new Image();
      whole.onload = () => { shown.src = file; };
      whole.onerror = () => { filesThere = false; };
      whole.src = file;
    }
    return shown;
  }

  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // what is behind the dialog hears none of it
    if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    go(step);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside the box
  });
  dialog.addEventListener("close", () => {
    if (state.reach) state.reach(state.at);
    const last = state.strip.querySelector(`[data-image="${state.images[state.at]}"]`);
    pictures.focus(last || state.opener);
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-strip] .picture");
    if (button) open(button);
  });
  document.body.append(dialog);
})(window.biasgraph);
