// What methods found, drawn from its parts alone: no method is known here.
(function (biasgraph) {
  "use strict";

  const { el, name, number, withInterval, count } = biasgraph.dom;

  const PARTS = {
    number: (part) => el("p", { class: "finding-number" }, el("span", null, name(part.label)), " ",
      withInterval(part.value, part.low, part.high, { reason: part.reason }),
      part.n !== null && el("small", null, " n\u00a0=\u00a0", count(part.n))),
    table: (part) => el("figure", null, caption(part), el("div", { class: "scroll", tabindex: 0 }, el("table", null,
      el("thead", null, el("tr", null, part.columns.map((one) => (one ? el("th", { scope: "col" }, name(one)) : el("td"))))),
      el("tbody", null, part.rows.map((row) => el("tr", null, row.map((cell) =>
        el("td", null, lines(cell))))))))),
    ranking: (part) => el("figure", null, caption(part),
      part.items.some((item) => item.low !== null) ? bars(part.items) : el("ol", { class: "ranking" },
        part.items.map((item) => el("li", null, name(item.label), " ", withInterval(item.value, item.low, item.high))))),
    bars: (part) => el("figure", null, caption(part), bars(part.items)),
    images: (part) => el("figure", null, caption(part), shownPictures(part)),
    marked_text: markedText,
    text: (part) => el("p", { class: part.tone === "warning" ? "flag" : null }, name(part.text)),
  };

  const MANY_VIEWS = 8;
  const MARKS = { first: "the first", tied: "cannot be told from the first" };

  function findings(found) {
    return found.map((finding) => el("section", { class: "finding" },
      el("h4", null, name(finding.title)), el("p", { class: "note" }, name(finding.about)),
      finding.show.map((part) => (PARTS[part.kind] || unknownPart)(part))));
  }

  // The same, each folded into a line.
  findings.folded = (found) => found.map((finding) => el("details", { class: "finding" },
    el("summary", null, el("strong", null, name(finding.title)), " ", el("span", { class: "note" }, name(finding.about))),
    finding.show.map((part) => (PARTS[part.kind] || unknownPart)(part))));

  function caption(part) {
    return part.caption ? el("figcaption", null, name(part.caption)) : null;
  }

  function lines(cell) {
    return [cell].flat().map((one) => el("div", null, typeof one === "string" ? name(one) : plain(one)));
  }

  function plain(cell) {
    return Number.isInteger(cell) ? count(cell) : number(cell, { brief: true });
  }

  function bars(items) {
    const values = items.flatMap((item) => [item.value, item.low, item.high, item.reference]).filter((one) => one !== null);
    const low = Math.min(0, ...values);
    const high = Math.max(...values, low + 1e-9);
    return biasgraph.charts.numberLine({
      low, high, zero: low < 0,
      marks: items.map((item) => ({ ...item, label: name(item.label), kind: "plain",
        text: [withInterval(item.value, item.low, item.high, { brief: true }),
          item.reference === null ? null : [" against ", number(item.reference)]] })),
    });
  }

  function shownPictures({ caption: words, items }) {
    const images = items.map((item) => item.image).filter((i) => i !== null);
    const notes = new Map(items.map((item) => [item.image, item.caption]));
    const shown = biasgraph.pictures.strip(images, { label: words || "of this finding", notes });
    const gone = items.length - (shown ? shown.children.length : 0);
    return [shown, gone > 0 && el("p", { class: "undefined" }, `${gone} ${gone === 1 ? "picture is" : "pictures are"} not in this page`)];
  }

  // Words shaded by their shares. A radio's label and the view it opens stand beside each other, so
  // that style alone switches; a form of its own keeps the radios apart from those of other parts.
  // Views too many for a row of radios are folded away below each other.
  function markedText(part) {
    const count = part.views.length;
    return el("figure", null, el("form", { class: "marked", method: "dialog" },
      part.views.map((view, i) => count > MANY_VIEWS
        ? el("details", { class: "view", open: i === 0 }, el("summary", { class: "view-name" }, name(view.label)), markedView(view))
        : [count > 1 ? el("label", { class: "view-name" }, el("input", { type: "radio", name: "view", checked: i === 0 }), " ", name(view.label))
          : view.label && el("strong", { class: "view-name" }, name(view.label)),
        el("div", { class: "view" }, markedView(view))]),
      legend()), caption(part));
  }

  function markedView(view) {
    return [el("p", { class: "marked-words" }, view.words.map((word) => [markedWord(word), el("bdi", null, word.after)])),
      el("p", { class: "note hint" }, "Point at a word, or go to it with the Tab key, for its numbers."),
      view.note && el("p", null, name(view.note))];
  }

  function markedWord(word) {
    return el("span", { class: `marked-word ${word.value === null ? "unranked" : shade(word.value)} ${word.mark}`, tabindex: 0 },
      el("bdi", null, word.text),
      el("span", { class: "readout" }, el("strong", null, el("bdi", null, word.text)), " ",
        word.value === null ? el("span", { class: "undefined" }, "not ranked: ", name(word.note))
          : [withInterval(word.value, word.low, word.high), word.mark && [", ", el("strong", null, MARKS[word.mark])],
            word.note && ["; ", name(word.note)]]));
  }

  function legend() {
    const sample = (kind, text) => el("li", null, el("span", { class: `marked-word ${kind}` }, "word"), ` ${text}`);
    return el("ul", { class: "legend marked-legend" },
      el("li", null, "share 0 % ", el("span", { class: "shades" },
        Array.from({ length: 11 }, (_, level) => el("i", { class: `shade-${level}` }))), " 100 %"),
      sample("shade-4 first", MARKS.first), sample("shade-3 tied", MARKS.tied), sample("unranked", "not ranked"));
  }

  function shade(value) {
    return `shade-${Math.ceil(10 * value)}`;
  }

  function unknownPart() {
    return el("p", { class: "note" }, "A part that this page cannot draw; its numbers are in graph.json.");
  }

  biasgraph.findings = findings;
})(window.biasgraph);
