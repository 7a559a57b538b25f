// The graph on a canvas: drawGraph(container, data, handlers), and its legend.
//
// data: {nodes, edges, options} as biasgraph/report/vis_network.py makes them. A selection is
// {axis: node id} or {pair: edge id} or null.
// handlers, each optional: click(selection), hover(selection, event), dragged(id, position),
// viewed({position, scale}).
(function (biasgraph) {
  "use strict";

  const { el, svg, shown, colour } = biasgraph.dom;

  const SIGNS = {
    towards: { words: "moves towards the ideal", head: "arrow", dashes: () => false },
    away: { words: "moves away from the ideal", head: "bar", dashes: () => false },
    undetermined: { words: "direction undetermined", head: "vee", dashes: (w) => [w * 0.6 + 1, w + 3] },
  };
  const MEDIATED = "consistent with mediation by another axis";
  const mediatedDashes = (sign, w) =>
    sign === "undetermined" ? [w * 2 + 8, w + 4, w * 0.6 + 1, w + 4] : [w * 2 + 8, w + 5];
  const FAINT = 0.5;
  const DIM = 0.2;
  const NARROW = 560; // pixels; below it, names stand under their nodes
  const CROWDED = 20; // with more axes than this, names that would cover another are left out
  const LABELLED = 24; // more edges than this carry no number unless they are looked at

  // Whether a pair passes the thresholds on |IS| and on p; what is undefined passes no threshold.
  function passes(edge, filter) {
    if (filter.is > 0 && (edge.is === null || Math.abs(edge.is) < filter.is)) return false;
    return !(filter.p < 1 && (edge.p === null || edge.p > filter.p));
  }

  function drawGraph(container, data, handlers) {
    const on = handlers || {};
    const filter = { is: 0, p: 1, pruned: false };
    const focused = { axis: null, incoming: false };
    let selected = null;
    let hovered = null;
    let palette = readPalette();

    const places = new Map(data.nodes.map((node) => [node.id, { x: node.x, y: node.y }]));
    const nodes = new vis.DataSet(data.nodes.map((node) => nodeItem(node, 1)));
    const edges = new vis.DataSet();
    const looks = new Map(); // how an edge is drawn, of those that were ever shown
    const network = new vis.Network(container, { nodes, edges }, data.options);
    const labels = new Map(data.nodes.map((node) => [node.id, node]));
    const drawn = new Map(data.edges.map((edge) => [edge.id, edge]));
    let strong = new Set(); // edges whose numbers are written
    let bright = null; // nodes that stand out, null for all

    network.on("afterDrawing", (context) => {
      writeNumbers(context);
      writeNames(context);
    });
    network.on("click", (event) => on.click && on.click(at(event.pointer.DOM)));
    network.on("hoverNode", (event) => hover({ axis: event.node }, event));
    network.on("hoverEdge", (event) => hover({ pair: event.edge }, event));
    network.on("blurNode", (event) => hover(null, event));
    network.on("blurEdge", (event) => hover(null, event));
    network.on("dragEnd", (event) => {
      for (const id of event.nodes) moved(id);
      viewed();
    });
    network.on("dragging", (event) => event.nodes.forEach(moved));
    network.on("resize", () => fit());
    container.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    }, { passive: false });

    function at(point) {
      const node = network.getNodeAt(point);
      if (node !== undefined) return { axis: node };
      const edge = network.getEdgeAt(point);
      return edge === undefined ? null : { pair: edge };
    }

    function hover(selection, event) {
      hovered = selection;
      update();
      if (on.hover) on.hover(selection, event.event);
    }

    function moved(id) {
      const position = network.getPositions([id])[id];
      if (position && on.dragged) on.dragged(id, position);
    }

    function viewed() {
      if (on.viewed) on.viewed({ position: network.getViewPosition(), scale: network.getScale() });
    }

    // What is shown, and how strongly

    function visible(edge) {
      if (focused.axis !== null && edge.from !== focused.axis
        && !(focused.incoming && edge.to === focused.axis)) return false;
      return passes(edge, filter) && (edge.edge || filter.pruned);
    }

    function touched(selection) {
      if (selection === null) return null;
      if (selection.pair !== undefined) {
        const edge = drawn.get(selection.pair);
        return edge ? { nodes: new Set([edge.from, edge.to]), edge: (one) => one.id === edge.id } : null;
      }
      const touches = (edge) => edge.from === selection.axis || edge.to === selection.axis;
      const near = data.edges.filter((edge) => visible(edge) && touches(edge));
      return {
        nodes: new Set([selection.axis, ...near.flatMap((edge) => [edge.from, edge.to])]),
        edge: touches,
      };
    }

    function update() {
      const focus = focused.axis === null ? null : touched({ axis: focused.axis });
      const look = touched(hovered) || touched(selected) || focus;
      strong = new Set();
      const items = data.edges.flatMap((edge) => {
        const chosen = selected !== null && selected.pair === edge.id;
        const seen = visible(edge) || chosen;
        const lit = !look || look.edge(edge);
        if (seen && lit && edge.edge) strong.add(edge.id);
        if (seen && look && lit) strong.add(edge.id);
        const opacity = (edge.edge ? 1 : FAINT) * (lit ? 1 : DIM);
        const item = { hidden: !seen, opacity: seen ? opacity : 0, chosen, palette };
        const before = looks.get(edge.id);
        if (before ? Object.keys(item).every((key) => item[key] === before[key]) : !seen) return [];
        looks.set(edge.id, item);
        return [edgeItem(edge, item)];
      });
      if (!look && strong.size > LABELLED) strong = new Set();
      bright = look && look.nodes;
      edges.update(items);
      nodes.update(data.nodes.map((node) => nodeItem(node, !bright || bright.has(node.id) ? 1 : 0.35)));
    }

    function nodeItem(node, opacity) {
      const chosen = selected !== null && selected.axis === node.id;
      const fill = node.distance === null ? palette.paper : mix(palette.near, palette.far, node.distance);
      const look = { background: fill, border: chosen ? palette.accent : palette.ink };
      return {
        id: node.id, x: places.get(node.id).x, y: places.get(node.id).y, size: node.size,
        shape: "dot", label: undefined, opacity,
        borderWidth: chosen ? 5 : 1.5,
        shapeProperties: { borderDashes: node.distance === null ? [4, 4] : false },
        color: { ...look, hover: look, highlight: look },
      };
    }

    function edgeItem(edge, { hidden, opacity, chosen }) {
      const sign = SIGNS[edge.sign];
      const width = edge.edge ? edge.width : 1.5;
      const dashes = edge.mediated ? mediatedDashes(edge.sign, width)
        : edge.edge ? sign.dashes(width) : [2, 5];
      const tint = palette[edge.sign];
      return {
        id: edge.id, from: edge.from, to: edge.to, hidden, width, dashes,
        hoverWidth: 0, selectionWidth: 0,
        color: { color: tint, hover: tint, highlight: tint, opacity, inherit: false },
        arrows: { to: { enabled: true, type: sign.head, scaleFactor: edge.edge ? 0.7 : 0.5 } },
        background: { enabled: chosen, color: palette.halo, size: width + 12, dashes: false },
      };
    }

    // Names and numbers, in pixels of the screen whatever the zoom

    function writeNames(context) {
      const scale = network.getScale();
      const now = network.getPositions();
      const narrow = container.clientWidth < NARROW;
      const faded = (node) => Boolean(bright && !bright.has(node.id));
      const taken = [];
      for (const node of [...data.nodes].sort((a, b) => faded(a) - faded(b))) {
        const place = placeOfName(node, now[node.id], scale, narrow);
        const box = boxOfName(context, node, place, scale);
        if (data.nodes.length > CROWDED && !taken.every((other) => apart(box, other))) continue;
        taken.push(box);
        context.globalAlpha = faded(node) ? 0.45 : 1;
        write(context, node.label, place, `600 ${place.px / scale}px ${palette.font}`, palette.ink, scale);
        write(context, node.detail, { ...place, y: place.y + (place.px * 1.2) / scale },
          `${(place.px - 2) / scale}px ${palette.font}`, palette.soft, scale);
      }
      context.globalAlpha = 1;
    }

    function placeOfName(node, position, scale, narrow) {
      const px = narrow ? 12 : 14.5;
      const gap = node.size + 7 / scale;
      const { x, y } = position;
      const aside = !narrow && Math.abs(x) > Math.abs(y) * (data.nodes.length > 10 ? 0.1 : 0.4);
      if (aside) {
        const side = Math.sign(x);
        return { px, x: x + side * gap, y: y - (px * 0.6) / scale, align: side > 0 ? "left" : "right" };
      }
      const up = y < -1;
      return { px, x, y: up ? y - gap - (px * 1.75) / scale : y + gap + (px * 0.55) / scale, align: "center" };
    }

    function write(context, text, place, font, ink, scale) {
      context.font = font;
      context.textAlign = place.align;
      context.textBaseline = "middle";
      context.lineJoin = "round";
      context.lineWidth = 4.5 / scale;
      context.strokeStyle = palette.paper;
      context.strokeText(text, place.x, place.y);
      context.fillStyle = ink;
      context.fillText(text, place.x, place.y);
    }

    function writeNumbers(context) {
      const scale = network.getScale();
      const narrow = container.clientWidth < NARROW;
      const px = narrow ? 11 : 12.5;
      const now = network.getPositions();
      const taken = data.nodes.flatMap((node) => {
        const { x, y } = now[node.id];
        return [{ x, y, w: node.size + 3 / scale, h: node.size + 3 / scale },
          boxOfName(context, node, placeOfName(node, now[node.id], scale, narrow), scale)];
      });
      for (const id of strong) {
        const edge = drawn.get(id);
        if (edge.is === null) continue;
        const text = shown(edge.is, 2, true);
        context.font = `600 ${px / scale}px ${palette.font}`;
        const half = context.measureText(text).width / 2 + 3 / scale;
        const spots = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73].map((t) => pointOn(id, t));
        const box = { w: half, h: (px * 0.8) / scale };
        const spot = spots.find((one) => taken.every((other) => apart({ ...one, ...box }, other))) || (strong.size > 1 ? null : spots[0]);
        if (!spot) continue;
        taken.push({ ...spot, ...box });
        context.fillStyle = palette.paper;
        context.beginPath();
        context.roundRect(spot.x - half, spot.y - (px * 0.72) / scale, 2 * half, (px * 1.44) / scale, 4 / scale);
        context.fill();
        write(context, text, { ...spot, align: "center" }, context.font, palette[edge.sign], scale);
      }
    }

    // The middle, half the width and half the height of what is written beside a node.
    function boxOfName(context, node, place, scale) {
      context.font = `600 ${place.px / scale}px ${palette.font}`;
      const w = Math.max(context.measureText(node.label).width, context.measureText(node.detail).width * 0.87) / 2;
      const side = { left: 1, right: -1, center: 0 }[place.align];
      return { x: place.x + side * w, y: place.y + (place.px * 0.6) / scale, w, h: (place.px * 1.3) / scale };
    }

    function apart(one, other) {
      return Math.abs(one.x - other.x) > one.w + other.w || Math.abs(one.y - other.y) > one.h + other.h;
    }

    function pointOn(id, t) {
      const edge = network.body.edges[id];
      if (edge && edge.edgeType && edge.edgeType.getPoint) return edge.edgeType.getPoint(t);
      const ends = drawn.get(id);
      const { [ends.from]: a, [ends.to]: b } = network.getPositions([ends.from, ends.to]);
      return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t };
    }

    // The view

    function fit() {
      const width = container.clientWidth;
      const height = container.clientHeight;
      if (!width || !height) return;
      const narrow = width < NARROW;
      const context = document.createElement("canvas").getContext("2d");
      let scale = 1.5;
      for (const node of data.nodes) {
        const place = placeOfName(node, places.get(node.id), 1, narrow);
        context.font = `600 ${place.px}px ${palette.font}`;
        const name = context.measureText(node.label).width;
        context.font = `${place.px - 2}px ${palette.font}`;
        const text = Math.max(name, context.measureText(node.detail).width);
        const { x, y } = places.get(node.id);
        const aside = place.align !== "center";
        scale = Math.min(
          scale,
          (width / 2 - 10 - (aside ? text + 7 : text / 2)) / (Math.abs(x) + (aside ? node.size : 0) || 1),
          (height / 2 - 10 - (aside ? 18 : place.px * 2.4 + 7)) / (Math.abs(y) + node.size),
        );
      }
      network.moveTo({ position: { x: 0, y: 0 }, scale: Math.max(scale, 0.1) });
      viewed();
    }

    function zoom(factor) {
      const scale = Math.min(Math.max(network.getScale() * factor, 0.1), 5);
      network.moveTo({ scale });
      viewed();
    }

    function place(id, position) {
      places.set(id, position);
      network.moveNode(id, position.x, position.y);
    }

    const graph = {
      network,
      // What is shown, and what of it is marked; tells nobody. is, p: thresholds; pruned: pairs
      // without an edge, too; focus: an axis whose outgoing edges (`incoming`: and incoming ones)
      // are shown alone, or null; selected: a selection.
      show(wanted) {
        Object.assign(filter, { is: wanted.is, p: wanted.p, pruned: wanted.pruned });
        Object.assign(focused, { axis: wanted.focus, incoming: Boolean(wanted.incoming) });
        selected = wanted.selected;
        update();
      },
      moveTo({ position, scale }) { network.moveTo({ position, scale }); },
      place,
      fit,
      zoom,
      // All axes back to their places, the whole graph in view.
      reset() { for (const node of data.nodes) place(node.id, { x: node.x, y: node.y }); fit(); },
      // {edges, pruned}: how many of each are shown.
      shown() {
        const seen = data.edges.filter(visible);
        const kept = seen.filter((edge) => edge.edge).length;
        return { edges: kept, pruned: seen.length - kept };
      },
      // Where something is, in pixels of the container: a point of an edge, or an axis.
      where(selection, t) {
        const point = selection.pair === undefined
          ? network.getPositions([selection.axis])[selection.axis]
          : pointOn(selection.pair, t === undefined ? 0.5 : t);
        return network.canvasToDOM(point);
      },
      // Reads the colours again after the theme changed.
      refresh() { palette = readPalette(); update(); },
      // The view as a canvas with a heading above and the legend below it.
      picture: (heading) => picture(network.canvas.frame.canvas, palette, heading),
    };
    update();
    fit();
    return graph;
  }

  // Colours

  function readPalette() {
    const names = ["paper", "ink", "soft", "accent", "halo", "near", "far", ...Object.keys(SIGNS)];
    const found = Object.fromEntries(names.map((name) => [name, colour(name)]));
    return { ...found, font: getComputedStyle(document.body).fontFamily };
  }

  function mix(near, far, share) {
    const t = Math.min(Math.max(share, 0), 1);
    const channels = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
    const [a, b] = [channels(near), channels(far)];
    return `rgb(${a.map((one, i) => Math.round(one + (b[i] - one) * t)).join(",")})`;
  }

  // The legend, as elements for the page and on a canvas for a picture

  const ENTRIES = [
    { sign: "towards", text: SIGNS.towards.words },
    { sign: "away", text: SIGNS.away.words },
    { sign: "undetermined", text: SIGNS.undetermined.words },
    { sign: "towards", mediated: true, text: MEDIATED },
  ];

  function legend(entries = ENTRIES) {
    const sample = ({ sign, mediated }) => svg("svg", { viewBox: "0 0 46 14", class: `sample ${sign}`, "aria-hidden": true },
      svg("path", { d: "M1 7H37", class: "line", "stroke-dasharray": dashText(sign, mediated) }),
      head(sign));
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

  function dashText(sign, mediated) {
    const dashes = mediated ? mediatedDashes(sign, 2) : SIGNS[sign].dashes(2);
    return dashes ? dashes.join(" ") : null;
  }

  function head(sign) {
    const shapes = { arrow: "M45 7 35 2.5V11.5Z", bar: "M36 1.5H39V12.5H36Z", vee: "M45 7 34 2 37 7 34 12Z" };
    return svg("path", { d: shapes[SIGNS[sign].head], class: "head" });
  }

  function picture(view, palette, heading) {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(view.width / ratio, 640);
    const lines = [heading.title, ...heading.lines];
    const top = 30 + lines.length * 18;
    const canvas = el("canvas");
    canvas.width = width * ratio;
    canvas.height = (top + view.height / ratio + 74) * ratio;
    const context = canvas.getContext("2d");
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(view, ((width - view.width / ratio) / 2) * ratio, top * ratio);
    context.scale(ratio, ratio);
    context.textBaseline = "middle";
    lines.forEach((line, i) => {
      context.font = `${i ? "13px" : "600 18px"} ${palette.font}`;
      context.fillStyle = i ? palette.soft : palette.ink;
      context.fillText(line, 16, 22 + i * 19, width - 32);
    });
    ENTRIES.forEach((entry, i) => {
      const x = 16 + (i % 2) * (width / 2);
      const y = top + view.height / ratio + 14 + Math.floor(i / 2) * 20;
      drawSample(context, entry, x, y, palette);
      context.font = `12px ${palette.font}`;
      context.fillStyle = palette.ink;
      context.fillText(entry.text, x + 54, y, width / 2 - 74);
    });
    context.fillStyle = palette.soft;
    context.fillText("Width: |IS|. Size: strength of the outgoing edges. Fill: distance from the ideal, 0 (pale) to 1.",
      16, top + view.height / ratio + 56, width - 32);
    return canvas;
  }

  function drawSample(context, { sign, mediated }, x, y, palette) {
    context.save();
    context.strokeStyle = context.fillStyle = palette[sign];
    context.translate(x, y - 7);
    context.lineWidth = 2.5;
    const dashes = mediated ? mediatedDashes(sign, 2) : SIGNS[sign].dashes(2);
    context.setLineDash(dashes || []);
    context.stroke(new Path2D("M1 7H37"));
    context.fill(new Path2D(head(sign).getAttribute("d")));
    context.restore();
  }

  Object.assign(biasgraph, { drawGraph, legend, passes, SIGNS, MEDIATED });
})(window.biasgraph);
