// One picture after the other, its questions, and the labels as a file. Nothing leaves the page but
// that file; the answers are kept in the browser, where it allows that: one record for each, so that
// two tabs of a page add to each other, and written to the disk before the page says "saved".
(function (biasgraph) {
  "use strict";

  const { el, name, csv, download } = biasgraph.dom;
  const { key, images, questions } = biasgraph.model;
  const byId = (id) => document.getElementById(id);
  const STORE = "biasgraph-labels";
  const UNKNOWN = -1;
  const NO = 1; // the gate question's second choice
  const COLUMNS = ["picture", "question", "answer", "target", "image", "annotator"];

  // answers[picture][question]: a choice, UNKNOWN, or nothing.
  const state = { at: 0, here: 0, annotator: "", answers: images.map(() => ({})) };
  let database = null; // null: this browser keeps nothing
  let tabs = null; // the other tabs of this page
  let unsaved = 0; // answers on their way to the disk
  let exported = true;

  // Which questions a picture leaves open: where nobody is in it, no other is asked.

  function isGated(i) {
    return state.answers[i][0] === NO;
  }

  function isAsked(i, q) {
    return q === 0 || !isGated(i);
  }

  function isOpen(i, q) {
    return isAsked(i, q) && state.answers[i][q] === undefined;
  }

  function isDone(i) {
    return questions.every((_, q) => !isOpen(i, q));
  }

  // The form

  const fields = questions.map((question, q) => {
    const choice = (label, value, digit, kind) => el("label", { class: `choice ${kind || ""}` },
      el("input", { type: "radio", name: `q${q}`, value, onchange: () => answer(q, value), onfocus: () => mark(q) }),
      kind ? label : name(label), el("kbd", { "aria-hidden": "true" }, digit));
    return el("fieldset", { onpointerdown: () => mark(q) },
      el("legend", null, name(question.shown)),
      el("div", { class: "choices" },
        question.labels.map((label, c) => choice(label, c, c < 9 ? String(c + 1) : "")),
        choice("cannot tell", UNKNOWN, "0", "unsure")));
  });

  const places = images.map((_, i) => el("button", { type: "button", onclick: () => go(i) }, String(i + 1)));

  function answer(q, value) {
    state.answers[state.at][q] = value;
    exported = false;
    keep(answerPath(state.at, q), value === UNKNOWN ? null : questions[q].choices[value]);
    const later = questions.findIndex((_, other) => other > q && isOpen(state.at, other));
    const any = later >= 0 ? later : questions.findIndex((_, other) => isOpen(state.at, other));
    state.here = any >= 0 ? any : q;
    show();
  }

  function mark(q) {
    state.here = q;
    fields.forEach((field, other) => field.classList.toggle("here", other === q));
  }

  function go(i) {
    state.at = Math.min(Math.max(i, 0), images.length - 1);
    const first = questions.findIndex((_, q) => isOpen(state.at, q));
    state.here = Math.max(first, 0);
    keep(["at"], state.at);
    show();
    fields[state.here].scrollIntoView({ block: "nearest" });
  }

  function forward() {
    if (state.at < images.length - 1) go(state.at + 1);
    else byId("download").focus();
  }

  function toOpen() {
    const order = images.map((_, i) => (state.at + 1 + i) % images.length);
    const found = order.find((i) => !isDone(i));
    if (found === undefined) byId("download").focus();
    else go(found);
  }

  function show() {
    const image = images[state.at];
    const picture = byId("picture");
    picture.src = image.src;
    picture.alt = `Picture ${state.at + 1}`;
    picture.classList.toggle("pixels", image.pixels);
    byId("caption").textContent = `Picture ${state.at + 1} of ${images.length}`;
    fields.forEach((field, q) => {
      field.disabled = !isAsked(state.at, q);
      for (const input of field.querySelectorAll("input")) {
        input.checked = !field.disabled && state.answers[state.at][q] === Number(input.value);
      }
    });
    mark(state.here);
    const done = images.filter((_, i) => isDone(i)).length;
    byId("progress").value = done;
    byId("done").textContent = done === images.length ? "All pictures are done: download the labels." : `${done} of ${images.length} done`;
    byId("back").disabled = state.at === 0;
    byId("next").disabled = state.at === images.length - 1;
    byId("open").disabled = done === images.length;
    places.forEach((place, i) => {
      place.classList.toggle("done", isDone(i));
      place.setAttribute("aria-label", `Picture ${i + 1}${isDone(i) ? ", done" : ""}`);
      if (i === state.at) place.setAttribute("aria-current", "true");
      else place.removeAttribute("aria-current");
    });
    const given = rows().length;
    byId("how-many").textContent = given ? `${given.toLocaleString("en")} ${given === 1 ? "answer" : "answers"}` : "no answers yet";
    byId("download").disabled = !given;
  }

  // The file

  function rows() {
    return images.flatMap((image, i) => questions.flatMap((question, q) => {
      const chosen = state.answers[i][q];
      if (chosen === undefined || !isAsked(i, q)) return [];
      return [[image.picture, question.text, chosen === UNKNOWN ? "unknown" : question.choices[chosen], question.axis, image.image, state.annotator.trim()]];
    }));
  }

  function finish() {
    download(new Blob([csv([COLUMNS, ...rows()])], { type: "text/csv;charset=utf-8" }), "labels.csv");
    exported = true;
  }

  // What the browser keeps

  function answerPath(i, q) {
    return ["answer", images[i].image, questions[q].axis, questions[q].text];
  }

  function openDatabase() {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(STORE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  function keep(path, value) {
    if (!database) return;
    const write = database.transaction(STORE, "readwrite", { durability: "strict" });
    unsaved += 1;
    write.objectStore(STORE).put(value, [key, ...path]);
    write.oncomplete = () => {
      unsaved -= 1;
      byId("saved").textContent = `Saved in this browser at ${new Date().toLocaleTimeString("en-GB")}`;
      if (path[0] === "answer") tabs.postMessage(key);
    };
    write.onabort = loseDatabase; // a full disk, or a profile that is gone
  }

  function loseDatabase() {
    database = null;
    unsaved = 0;
    showKept();
  }

  function showKept() {
    byId("kept").textContent = database
      ? "Your answers are kept in this browser, on this computer only: close the page and come back later."
      : "This browser keeps nothing for this page: download the labels before you close it.";
    if (!database) byId("saved").textContent = "Not saved";
  }

  function readKept() {
    return new Promise((resolve, reject) => {
      const read = database.transaction(STORE).objectStore(STORE);
      const range = IDBKeyRange.bound([key], [key, []]); // an array is greater than any text
      const keys = read.getAllKeys(range);
      const values = read.getAll(range);
      values.onsuccess = () => resolve(new Map(keys.result.map((path, i) => [JSON.stringify(path.slice(1)), values.result[i]])));
      values.onerror = () => reject(values.error);
    });
  }

  function takeAnswers(kept) {
    images.forEach((_, i) => questions.forEach((question, q) => {
      const choice = kept.get(JSON.stringify(answerPath(i, q)));
      const value = choice === null ? UNKNOWN : question.choices.indexOf(choice);
      if (choice === null || value >= 0) state.answers[i][q] = value;
    }));
  }

  async function restore() {
    try {
      database = await openDatabase();
      database.onclose = loseDatabase;
      tabs = new BroadcastChannel(STORE);
      tabs.onmessage = async ({ data }) => {
        if (data !== key || !database) return;
        takeAnswers(await readKept());
        show();
      };
      const kept = await readKept();
      takeAnswers(kept);
      state.annotator = String(kept.get('["annotator"]') || "");
      state.at = Number(kept.get('["at"]')) || 0;
    } catch {
      database = null; // a browser that keeps nothing for a page from the disk
    }
  }

  function press(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.tagName === "INPUT" && target.type === "text") return;
    const button = target.closest("button, summary");
    if (event.key === "Enter" && !button) {
      event.preventDefault();
      forward();
    } else if (event.key === "b" || event.key === "B") {
      go(state.at - 1);
    } else if (/^[0-9]$/.test(event.key)) {
      const value = Number(event.key) - 1;
      if (value < questions[state.here].choices.length && isAsked(state.at, state.here)) {
        event.preventDefault();
        if (document.activeElement && document.activeElement.type === "radio") document.activeElement.blur();
        answer(state.here, value);
      }
    }
  }

  byId("questions").append(...fields);
  byId("all").append(...places);
  byId("back").addEventListener("click", () => go(state.at - 1));
  byId("next").addEventListener("click", forward);
  byId("open").addEventListener("click", toOpen);
  byId("download").addEventListener("click", finish);
  byId("questions").addEventListener("submit", (event) => event.preventDefault());
  byId("annotator").addEventListener("input", (event) => {
    state.annotator = event.target.value;
    keep(["annotator"], state.annotator);
  });
  document.addEventListener("keydown", press);
  window.addEventListener("beforeunload", (event) => {
    if (unsaved || (!database && !exported)) event.preventDefault();
  });
  restore().then(() => {
    byId("annotator").value = state.annotator;
    showKept();
    go(state.at);
    document.documentElement.dataset.ready = "true";
  });
})(window.biasgraph);
