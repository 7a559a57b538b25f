// What methods found, drawn from its parts alone: no method is known here.
(function (biasgraph) {
  "use strict";

  const { el, name, number, withInterval, count } = biasgraph.dom;

  const PARTS = {
    number: (part) => el("p", { class: "finding-number" }, el("span", null, name(part.label)), " ",
      withInterval(part.value, part.low, part.high, { reason: part.reason }),
      part.n !== null && el("small", null, " n\u00a0=\u00a0", count(part.n))),
    table: (part) => el("figure", null, caption(part), el("div", { class: "scroll" }, el("table", null,
      el("thead", null, el("tr", null, part.columns.map((one) => el("th", { scope: "col" }, name(one))))),
      el("tbody", null, part.rows.map((row) => el("tr", null, row.map((cell) =>
        el("td", null, lines(cell))))))))),
    ranking: (part) => el("figure", null, caption(part),
      part.items.some((item) => item.low !== null) ? bars(part.items) : el("ol", { class: "ranking" },
        part.items.map((item) => el("li", null, name(item.label), " ", withInterval(item.value, item.low, item.high))))),
    bars: (part) => el("figure", null, caption(part), bars(part.items)),
    images: (part) => el("figure", { class: "pictures" }, caption(part), part.items.map(picture)),
    text: (part) => el("p", { class: part.tone === "warning" ? "flag" : null }, name(part.text)),
  };

  function findings(found) {
    return found.map((finding) => el("section", { class: "finding" },
      el("h4", null, name(finding.title)), el("p", { class: "note" }, name(finding.about)),
      finding.show.map((part) => (PARTS[part.kind] || unknownPart)(part))));
  }

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

  function picture(item) {
    const image = item.image === null ? null : biasgraph.model.images[item.image];
    if (!image || !image.src) return el("span", { class: "undefined" }, "a picture that is not in the run");
    const text = item.caption ? `${image.text}. ${item.caption}` : image.text;
    return el("div", { class: "captioned" },
      el("img", { src: image.src, alt: text, title: text }),
      item.caption ? el("small", null, name(item.caption)) : null);
  }

  function unknownPart() {
    return el("p", { class: "note" }, "A part that this page cannot draw; its numbers stand in graph.json.");
  }

  biasgraph.findings = findings;
})(window.biasgraph);
