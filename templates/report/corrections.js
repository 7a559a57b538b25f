// Where the judge is wrong: what is right instead, kept in this browser, downloaded as a table that
// `biasgraph agreement` reads. Who corrects looks where the judge looks wrong, so the file says that
// its pictures are no sample.
(function (biasgraph) {
  "use strict";

  const { el, csv, download } = biasgraph.dom;
  const { model } = biasgraph;
  const STORE = `biasgraph-corrections:${model.run}`;
  const COLUMNS = ["image", "target", "answer", "judge_said", "file", "sample"];
  const LOST = [["cannot tell", "unknown"], ["nobody in the image", "gated"]];
  const images = new Map(model.images.map((image) => [image.file || image.id, image]));
  const axes = new Map(model.document.nodes.map((node, x) => [node.id, x]));
  const statuses = []; // what tells of every change
  let right = new Map(); // JSON of [file or image, axis] -> the answer that is right, in the run's own words
  let kept = true; // whether this browser keeps anything for this page
  let exported = true;

  // A picture is known by its file: another run may have another one under the same number.
  const keyOf = (image, x) => JSON.stringify([image.file || image.id, model.document.nodes[x].id]);

  // The answers to an axis: what the page calls each, and the run's own word.
  function offered(x) {
    return [...model.axes[x].attributes.map((label, a) => [label, model.document.nodes[x].attributes[a]]), ...LOST];
  }

  function judged(image, x) {
    const answer = image.answers[x];
    if (answer === null || answer === undefined) return "";
    return answer < 0 ? LOST[-1 - answer][1] : model.document.nodes[x].attributes[answer];
  }

  // A list of what is right: at first, what the judge says.
  function choice(image, x) {
    const now = right.get(keyOf(image, x));
    return el("select", { "aria-label": `What is right about ${model.axes[x].label}`, class: now === undefined ? null : "corrected",
      onchange: (event) => correct(keyOf(image, x), event.target) },
    el("option", { value: "" }, "as the judge says"),
    offered(x).filter(([, word]) => word !== judged(image, x)).map(([label, word]) => el("option", { value: word, selected: word === now }, label)));
  }

  function correct(key, select) {
    read(); // another tab may have added to it
    if (select.value === "") right.delete(key);
    else right.set(key, select.value);
    select.classList.toggle("corrected", select.value !== "");
    exported = false;
    write();
    tell();
  }

  // What the browser keeps

  function read() {
    if (!kept) return; // what it has is older than what this page has
    try {
      right = new Map(JSON.parse(localStorage.getItem(STORE) || "[]"));
    } catch {
      kept = false;
    }
  }

  function write() {
    try {
      localStorage.setItem(STORE, JSON.stringify([...right]));
    } catch {
      kept = false;
    }
  }

  // Of a key; of a damaged one, nothing that any image has.
  function parsed(key) {
    try {
      return [...JSON.parse(key)];
    } catch {
      return [];
    }
  }

  // The file: corrections of images and axes that this page has.

  function rows() {
    return [...right].flatMap(([key, answer]) => {
      const [file, axis] = parsed(key);
      const [image, x] = [images.get(file), axes.get(axis)];
      if (!image || x === undefined || !offered(x).some(([, word]) => word === answer)) return [];
      return [[image.id, axis, answer, judged(image, x), image.file || "", "corrections"]];
    });
  }

  function finish() {
    download(new Blob([csv([COLUMNS, ...rows()])], { type: "text/csv;charset=utf-8" }), "corrections.csv");
    exported = true;
  }

  function tell() {
    for (const one of statuses) one();
  }

  // How many there are, and the way to the file.
  function status() {
    const words = el("p", { class: "note", role: "status" });
    const button = el("button", { type: "button", onclick: finish }, "Download corrections.csv");
    statuses.push(() => {
      const number = rows().length;
      button.disabled = !number;
      words.textContent = number
        ? `${number.toLocaleString("en")} ${number === 1 ? "correction" : "corrections"}, ${kept ? "kept in this browser" : "not kept by this browser: download them before you close the page"}. `
          + "They show where the judge errs, not how often."
        : "Where the judge is wrong, say what is right.";
    });
    statuses[statuses.length - 1]();
    return el("div", { class: "corrections" }, words, button);
  }

  read();
  window.addEventListener("storage", (event) => {
    if (event.key !== STORE) return;
    read();
    tell();
  });
  window.addEventListener("beforeunload", (event) => {
    if (!kept && !exported) event.preventDefault();
  });
  Object.assign(biasgraph, { corrections: { choice, status } });
})(window.biasgraph);
