// Pictures of a run: buttons that open large, in strips that the arrow keys walk. A strip is one
// stop of the Tab key.
(function (biasgraph) {
  "use strict";

  const { el, name } = biasgraph.dom;
  const { model } = biasgraph;
  const UNKNOWN = -1;
  const GATED = -2;
  const SMALL = 96; // pixels up to which a picture is an icon: enlarged, its pixels stay sharp
  const strips = new WeakMap(); // element -> what it shows

  function answerWords(axis, answer) {
    if (answer === null || answer === undefined) return "not asked";
    if (answer === UNKNOWN) return "unknown";
    if (answer === GATED) return "nobody in the image";
    return model.axes[axis].attributes[answer];
  }

  // Where the run's file is, and what a page shows of it; null where neither is to be had.
  function file(image) {
    return model.files && image.file ? `${model.files}${image.file}.png` : null;
  }

  function source(image) {
    return image.src || file(image);
  }

  function prompt(image) {
    return model.texts[image.text];
  }

  // What the images of a set were asked for.
  function setWords(set) {
    if (!set) return "";
    if (set.axis === -1) return "initial images";
    return set.axis === -2 ? "neutral rewordings" : `${model.axes[set.axis].label}: ${model.axes[set.axis].attributes[set.attribute]}`;
  }

  function about(image) {
    const said = image.answers.map((one, i) => `${model.axes[i].label}: ${answerWords(i, one)}`).join(", ");
    return `${prompt(image)}. The judge says ${said}`;
  }

  function img(image, properties) {
    return el("img", { src: source(image), alt: about(image), decoding: "async", ...properties,
      onload: (event) => event.target.classList.toggle("pixels", Math.max(event.target.naturalWidth, event.target.naturalHeight) <= SMALL) });
  }

  // note: what stands below the picture; the axis whose answer that is, a text, or nothing.
  function picture(i, note) {
    const image = model.images[i];
    const words = typeof note === "number" ? answerWords(note, image.answers[note]) : note;
    return el("button", { type: "button", class: "picture", "data-image": i, "aria-haspopup": "dialog" },
      img(image, { loading: image.src ? null : "lazy",
        onerror: (event) => event.target.replaceWith(el("span", { class: "missing" }, "a file of the run, not beside this page")) }),
      words ? el("span", { class: "picture-note", "aria-hidden": "true" }, name(words)) : null);
  }

  // Pictures of the images with these numbers, those that are there; null where none is.
  function strip(images, { label, note, kind = "film", notes = null }) {
    const shown = images.filter((i) => i !== null && source(model.images[i]));
    if (!shown.length) return null;
    const buttons = shown.map((i) => picture(i, notes ? notes.get(i) : note));
    buttons.slice(1).forEach((button) => { button.tabIndex = -1; });
    return register(el("div", { class: kind }, buttons), label, shown);
  }

  // reach: draws the picture at a place among those of the strip, where they are drawn later.
  function register(element, label, images, reach = null) {
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", `Pictures: ${label}`);
    element.dataset.strip = "";
    strips.set(element, { label, images, reach });
    return element;
  }

  function stripOf(button) {
    const element = button.closest("[data-strip]");
    return { element, ...strips.get(element) };
  }

  function focus(button) {
    for (const other of button.closest("[data-strip]").querySelectorAll(".picture[tabindex='0'], .picture:not([tabindex])")) other.tabIndex = -1;
    button.tabIndex = 0;
    button.focus();
    button.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    const here = event.target instanceof Element && event.target.closest("[data-strip] .picture");
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = [...here.closest("[data-strip]").querySelectorAll(".picture")];
    const at = all.indexOf(here);
    const next = { ArrowRight: all[at + 1], ArrowLeft: all[at - 1], Home: all[0], End: all[all.length - 1] }[event.key];
    if (!next) return;
    event.preventDefault();
    focus(next);
  });

  // The images behind a row of a table: what the judge saw of an axis in all of them, and some of them.
  function row(set, axis, label) {
    const answers = set.counts[axis].slice(0, -2);
    const valid = answers.reduce((sum, one) => sum + one, 0);
    const all = set.counts[axis].reduce((sum, one) => sum + one, 0);
    const pictures = strip(set.images, { label, note: axis });
    if (!pictures) return null;
    const shown = pictures.children.length;
    return el("section", { class: "film-row" },
      el("h3", null, label, shown < all && el("small", null, ` ${shown} of ${all.toLocaleString("en")} images`)),
      valid ? biasgraph.charts.stack(answers.map((one) => one / valid), model.axes[axis].attributes)
        : el("p", { class: "note" }, "no valid answers"),
      pictures);
  }

  Object.assign(biasgraph, { pictures: { answerWords, file, focus, img, picture, prompt, register, row, setWords, source, strip, stripOf, UNKNOWN, GATED } });
})(window.biasgraph);
