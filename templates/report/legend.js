// What the looks of a graph mean, and the graph as a picture to keep.
(function (biasgraph) {
  "use strict";

  const { el, svg } = biasgraph.dom;
  const { SIGNS, MEDIATED, dashesOf } = biasgraph;
  const ENTRIES = [
    { sign: "towards", text: SIGNS.towards.words },
    { sign: "away", text: SIGNS.away.words },
    { sign: "undetermined", text: SIGNS.undetermined.words },
    { sign: "towards", mediated: true, text: MEDIATED },
  ];
  const HEADS = { arrow: "M45 7 35 2.5V11.5Z", bar: "M36 1.5H39V12.5H36Z", vee: "M45 7 34 2 37 7 34 12Z" };
  const SHOWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "paint-order", "stroke-linejoin"];

  function sample({ sign, mediated }) {
    const dashes = dashesOf(sign, 2, mediated);
    return svg("svg", { viewBox: "0 0 46 14", class: `sample ${sign}`, "aria-hidden": true },
      svg("path", { d: "M1 7H37", class: "line", "stroke-dasharray": dashes && dashes.join(" ") }),
      svg("path", { d: HEADS[SIGNS[sign].head], class: "head" }));
  }

  function legend(entries = ENTRIES) {
    return el("ul", { class: "legend", "aria-label": "Legend" },
      entries.map((entry) => el("li", null, sample(entry), entry.text)),
      el("li", null,
        svg("svg", { viewBox: "0 0 46 14", class: "sample widths", "aria-hidden": true },
          svg("path", { d: "M1 7H14", "stroke-width": 1.5 }), svg("path", { d: "M17 7H29", "stroke-width": 4 }),
          svg("path", { d: "M32 7H45", "stroke-width": 8 })),
        "wider: larger effect |IS|"),
      el("li", null,
        svg("svg", { viewBox: "0 0 46 14", class: "sample sizes", "aria-hidden": true },
          svg("circle", { cx: 7, cy: 7, r: 3 }), svg("circle", { cx: 20, cy: 7, r: 4.6 }),
          svg("circle", { cx: 36, cy: 7, r: 6.3 })),
        "larger: stronger outgoing effects"),
      el("li", null, el("span", { class: "scale" }, "0", el("i", { "aria-hidden": true }), "1"),
        "distance of the axis from its ideal"));
  }

  // A copy that looks the same without the page's style, as `width` x `height` pixels of SVG.
  function styled(element, width, height) {
    const copy = element.cloneNode(true);
    const [originals, copies] = [element, copy].map((one) => [one, ...one.querySelectorAll("*")]);
    originals.forEach((one, i) => {
      const look = getComputedStyle(one);
      copies[i].removeAttribute("style");
      if (look.display === "none") copies[i].setAttribute("display", "none");
      for (const property of SHOWN) copies[i].setAttribute(property, look.getPropertyValue(property));
    });
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    return copy;
  }

  // The graph with a heading above and the legend below it: a promise of a canvas.
  // heading: {title, lines}.
  async function graphPicture(graph, heading) {
    const { clientWidth, clientHeight } = graph.element.parentElement;
    const width = Math.max(clientWidth, 640);
    const lines = [heading.title, ...heading.lines];
    const [top, below] = [30 + lines.length * 18, 74];
    const look = getComputedStyle(document.body);
    const colour = (name) => biasgraph.dom.colour(name);
    const text = (words, x, y, size, ink, weight = 400) => svg("text", { x, y, fill: ink, "font-size": size, "font-weight": weight, "font-family": look.fontFamily }, words);
    const drawing = styled(graph.element, clientWidth, clientHeight);
    drawing.setAttribute("x", (width - clientWidth) / 2);
    drawing.setAttribute("y", top);
    const foot = top + clientHeight;
    const samples = ENTRIES.flatMap((entry, i) => {
      const [x, y] = [16 + (i % 2) * (width / 2), foot + 14 + Math.floor(i / 2) * 20];
      const [line, head] = sample(entry).children;
      for (const [property, value] of Object.entries({ fill: "none", stroke: colour(entry.sign), "stroke-width": 2.5 })) line.setAttribute(property, value);
      head.setAttribute("fill", colour(entry.sign));
      return [svg("g", { transform: `translate(${x} ${y - 7})` }, line, head), text(entry.text, x + 54, y + 4, 12, colour("ink"))];
    });
    const whole = svg("svg", { width, height: foot + below },
      svg("rect", { width, height: foot + below, fill: colour("paper") }),
      lines.map((line, i) => text(line, 16, 26 + i * 19, i ? 13 : 18, colour(i ? "soft" : "ink"), i ? 400 : 600)),
      drawing, samples,
      text("Width: |IS|. Size: strength of the outgoing edges. Fill: distance from the ideal, 0 (pale) to 1.", 16, foot + 60, 12, colour("soft")));
    return rastered(whole, width, foot + below);
  }

  async function rastered(picture, width, height) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
    await image.decode();
    const ratio = Math.max(window.devicePixelRatio || 1, 2);
    const canvas = el("canvas", { width: width * ratio, height: height * ratio });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  Object.assign(biasgraph, { legend, graphPicture });
})(window.biasgraph);
