// The graph as SVG: drawGraph(container, data, handlers).
//
// data: {nodes, edges, bends, radius} as biasgraph/report/graph_drawing.py makes them. A selection
// is {axis: node id} or {pair: edge id} or null.
// handlers, each optional: click(selection), hover(selection, {x, y} in pixels of the container),
// resized().
(function (biasgraph) {
  "use strict";

  const { el, svg, shown } = biasgraph.dom;
  const { route, pointOn, headPath, round } = biasgraph.curves;

  // The look and the words of an edge; `says` is read out.
  const SIGNS = {
    towards: { words: "moves towards the ideal", head: "arrow", dashes: () => null,
      says: (source, target) => `${source} moves ${target} towards its ideal` },
    away: { words: "moves away from the ideal", head: "bar", dashes: () => null,
      says: (source, target) => `${source} moves ${target} away from its ideal` },
    undetermined: { words: "direction undetermined", head: "vee", dashes: (w) => [w * 0.6 + 1, w + 3],
      says: (source, target) => `${source} moves ${target}, direction undetermined` },
  };
  const MEDIATED = "consistent with mediation by another axis";
  const PRUNED = { width: 1.5, dashes: [2, 5] };
  const NARROW = 560; // pixels; below it, names stand under their nodes
  const ROTATED = 16; // with more axes than this, names stand along the circle's rays
  const LABELLED = 24; // more edges than this carry no number unless they are looked at
  const ALONG = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74]; // where on an edge its number may stand
  const COVERED = 36; // pixels of an edge, at least, that its number leaves free
  const LARGEST_SCALE = 1.5;

  function dashesOf(sign, width, mediated) {
    if (!mediated) return SIGNS[sign].dashes(width);
    return sign === "undetermined" ? [width * 2 + 8, width + 4, width * 0.6 + 1, width + 4] : [width * 2 + 8, width + 5];
  }

  // Whether a pair passes the thresholds on |IS| and on p; what is undefined passes no threshold.
  function passes(edge, filter) {
    if (filter.is > 0 && (edge.is === null || Math.abs(edge.is) < filter.is)) return false;
    return !(filter.p < 1 && (edge.p === null || edge.p > filter.p));
  }

  function apart(one, other) {
    return Math.abs(one.x - other.x) > one.w + other.w || Math.abs(one.y - other.y) > one.h + other.h;
  }

  function drawGraph(container, data, handlers) {
    const on = handlers || {};
    const size = data.nodes.length;
    const rotated = size > ROTATED;
    const filter = { is: 0, p: 1, pruned: false };
    const focused = { axis: null, incoming: false };
    let [selected, hovered, scale, bright, strong] = [null, null, 1, null, []];

    const byId = new Map(data.edges.map((edge) => [edge.id, edge]));
    const outgoing = data.nodes.map((node) => data.edges.filter((edge) => edge.from === node.id)
      .sort((a, b) => b.edge - a.edge || Math.abs(b.is || 0) - Math.abs(a.is || 0)));
    const routes = new Map(); // from rim to rim, of edges that were ever looked at
    const parts = new Map(); // elements of edges that were ever drawn
    const items = svg("g");
    const names = svg("g", { class: "names" });
    const numbers = svg("g", { class: "numbers-of-edges" });
    const world = svg("g", null, items);
    const words = svg("g", { class: "words", "aria-hidden": true }, numbers, names);
    const picture = svg("svg", { class: "graph-picture", role: "group", "aria-label": "The graph: axes on a circle, an arrow for each edge. Arrow keys move, Enter opens." }, world, words);
    const circles = data.nodes.map(drawNode);
    const written = data.nodes.map(() => svg("text", null, svg("tspan", { class: "name" }), svg("tspan", { class: "detail" })));
    const measure = el("canvas").getContext("2d");
    names.append(...written);
    container.classList.toggle("crowded", rotated);
    container.append(picture);
    listen();
    update();
    fit();

    // Elements

    function drawNode(node) {
      const circle = svg("circle", { cx: node.x, cy: node.y, r: node.size, style: { "--distance": node.distance === null ? 0 : Math.min(Math.max(node.distance, 0), 1) } });
      const told = node.says || (node.distance === null ? "distance to its ideal not defined" : `distance to its ideal ${shown(node.distance, 3)}`);
      return svg("g", { class: `node${node.distance === null ? " unknown" : ""} ${node.change || ""}`.trim(), role: "button", tabindex: -1, "data-axis": node.id,
        "aria-label": `${node.name}, ${node.detail}, ${told}, open its numbers` }, circle);
    }

    function drawEdge(edge) {
      const sign = SIGNS[edge.sign];
      const width = edge.edge ? edge.width : PRUNED.width;
      const whole = routeOf(edge);
      const [a, control, b] = sign.head === "arrow" ? route(data, edge, 4 + 1.4 * width) : whole;
      const line = `M${round(a.x)} ${round(a.y)}Q${round(control.x)} ${round(control.y)} ${round(b.x)} ${round(b.y)}`;
      const dashes = edge.edge || edge.mediated ? dashesOf(edge.sign, width, edge.mediated) : PRUNED.dashes;
      return svg("g", { class: `edge ${edge.sign}${edge.edge ? "" : " pruned"}`, role: "button", tabindex: -1, "data-pair": edge.id, "aria-label": saysOf(edge) },
        svg("path", { class: "halo", d: line, "stroke-width": width + 12 }),
        svg("path", { class: "line", d: line, "stroke-width": width, "stroke-dasharray": dashes && dashes.map(round).join(" ") }),
        svg("path", { class: "head", d: headPath(sign.head, whole, width) }));
    }

    function saysOf(edge) {
      const [source, target] = [data.nodes[edge.from].name, data.nodes[edge.to].name];
      const found = edge.edge ? SIGNS[edge.sign].says(source, target) : `no edge from ${source} to ${target}`;
      return `${found}, IS ${edge.is === null ? "not defined" : shown(edge.is, 2, true)}, open the table`;
    }

    function routeOf(edge) {
      if (!routes.has(edge.id)) routes.set(edge.id, route(data, edge, 0));
      return routes.get(edge.id);
    }

    function part(edge) {
      if (!parts.has(edge.id)) parts.set(edge.id, drawEdge(edge));
      return parts.get(edge.id);
    }

    // What the pointer and the keys do

    function selectionOf(target) {
      const item = target instanceof Element ? target.closest("[data-axis], [data-pair]") : null;
      if (!item) return null;
      return item.dataset.axis === undefined ? { pair: Number(item.dataset.pair) } : { axis: Number(item.dataset.axis) };
    }

    function listen() {
      picture.addEventListener("click", (event) => on.click && on.click(selectionOf(event.target)));
      picture.addEventListener("pointerover", (event) => {
        const box = container.getBoundingClientRect();
        hover(selectionOf(event.target), { x: event.clientX - box.left, y: event.clientY - box.top });
      });
      picture.addEventListener("pointerleave", () => hover(null));
      // At the container: a listener at the SVG itself would make it a stop of the Tab key.
      container.addEventListener("focusin", (event) => {
        const selection = selectionOf(event.target);
        rove(event.target);
        if (event.target.matches(":focus-visible")) hover(selection, where(selection));
      });
      container.addEventListener("focusout", () => hover(null));
      picture.addEventListener("keydown", keyed);
      new ResizeObserver(() => (on.resized ? on.resized() : fit())).observe(container);
    }

    function hover(selection, point) {
      hovered = selection;
      update();
      if (on.hover) on.hover(selection, point);
    }

    function keyed(event) {
      const all = [...items.children];
      const here = all.indexOf(event.target);
      if (here < 0) return;
      const next = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1,
        ArrowDown: axisBeside(all, here, 1), ArrowUp: axisBeside(all, here, -1) }[event.key];
      if (next !== undefined) all.at(next % all.length).focus();
      else if ((event.key === "Enter" || event.key === " ") && on.click) on.click(selectionOf(event.target));
      else return;
      event.preventDefault();
    }

    // The place of the next axis among all that is drawn, or of the one before.
    function axisBeside(all, here, step) {
      let next = here;
      do next = (next + step + all.length) % all.length; while (all[next].dataset.axis === undefined);
      return next;
    }

    // One item at a time can be reached with the Tab key.
    function rove(item) {
      for (const one of items.children) one.setAttribute("tabindex", one === item ? 0 : -1);
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
        const edge = byId.get(selection.pair);
        return edge ? { nodes: new Set([edge.from, edge.to]), edge: (one) => one.id === edge.id } : null;
      }
      const touches = (edge) => edge.from === selection.axis || edge.to === selection.axis;
      const near = data.edges.filter((edge) => visible(edge) && touches(edge));
      return { nodes: new Set([selection.axis, ...near.flatMap((edge) => [edge.from, edge.to])]), edge: touches };
    }

    function update() {
      const focus = focused.axis === null ? null : touched({ axis: focused.axis });
      const look = touched(hovered) || touched(selected) || focus;
      const chosen = (one) => selected !== null && (one.from === undefined ? selected.axis : selected.pair) === one.id;
      bright = look && look.nodes;
      strong = [];
      const drawn = data.nodes.flatMap((node) => [circles[node.id], ...outgoing[node.id].filter((edge) => visible(edge) || chosen(edge)).map((edge) => {
        const lit = !look || look.edge(edge);
        if (lit && (edge.edge || look)) strong.push(edge);
        mark(part(edge), !lit, chosen(edge));
        return part(edge);
      })]);
      data.nodes.forEach((node) => mark(circles[node.id], bright && !bright.has(node.id), chosen(node)));
      place(drawn);
      if (!look && strong.length > LABELLED) strong = [];
      write();
    }

    function mark(item, dim, chosen) {
      item.classList.toggle("dim", Boolean(dim));
      item.classList.toggle("selected", chosen);
      if (chosen) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }

    // Those stay where they are that are drawn already: one of them may have the focus.
    function place(drawn) {
      const wanted = new Set(drawn);
      for (const item of [...items.children]) if (!wanted.has(item)) item.remove();
      let at = items.firstChild;
      for (const item of drawn) {
        if (item === at) at = at.nextSibling;
        else items.insertBefore(item, at);
      }
      if (!items.querySelector("[tabindex='0']") && drawn.length) rove(drawn[0]);
    }

    // Names and numbers, in pixels whatever the scale

    function write() {
      const narrow = container.clientWidth < NARROW;
      const taken = [];
      const points = pointsOfEdges();
      const isCrossed = (spot) => points.some((point) => !apart(spot.box, { ...point, w: 1, h: 1 }));
      const faded = (node) => Boolean(bright && !bright.has(node.id));
      for (const node of [...data.nodes].sort((a, b) => faded(a) - faded(b))) {
        const text = written[node.id];
        const isFree = (spot) => taken.every((other) => (rotated ? Math.hypot(spot.x - other.x, spot.y - other.y) > spot.px : apart(spot.box, other.box)));
        const whole = placeOfName(node, scale, narrow);
        const other = narrow && !rotated && Math.abs(node.y) < Math.abs(node.x) * 0.4 && isCrossed(whole) ? placeOfName(node, scale, narrow, 2, true) : whole;
        const spot = [...(other === whole || isCrossed(other) ? [] : [other]), whole].find(isFree)
          || placeOfName(node, scale, narrow, 1); // the name alone
        const free = isFree(spot);
        text.classList.toggle("dim", faded(node));
        text.classList.toggle("covered", !free);
        if (!free) continue;
        taken.push(spot);
        setName(text, node, spot);
      }
      writeNumbers(taken, points, narrow ? 11 : 12.5);
    }

    // Places on the edges that are drawn.
    function pointsOfEdges() {
      const drawn = [...items.children].flatMap((item) => (item.dataset.pair === undefined ? [] : [byId.get(Number(item.dataset.pair))]));
      return drawn.flatMap((edge) => [...Array(25).keys()].map((i) => ({ id: edge.id, ...onScreen(edge, i / 24) })));
    }

    function setName(text, node, { x, y, px, align, turn, lines }) {
      const [first, second] = text.children;
      text.setAttribute("transform", `translate(${round(x)} ${round(y)}) rotate(${round(turn)})`);
      text.setAttribute("text-anchor", align);
      text.setAttribute("font-size", px);
      first.textContent = node.label;
      first.setAttribute("y", lines > 1 ? px * -0.2 : px * 0.35);
      second.textContent = lines > 1 ? node.detail : "";
      second.setAttribute("x", 0);
      second.setAttribute("y", px);
      second.setAttribute("font-size", px - 2);
    }

    // Where a node's name stands: its anchor, turn and lines, and of level names the box.
    function placeOfName(node, s, narrow, lines = 2, flipped = false) {
      const px = narrow || rotated ? 12 : 14.5;
      const gap = node.size * s + 7;
      const long = Math.hypot(node.x, node.y) || 1;
      const [ux, uy] = [node.x / long, node.y / long];
      if (rotated) {
        const arc = (Math.PI * 2 * (data.radius * s + gap)) / size;
        const turn = (Math.atan2(uy, ux) * 180) / Math.PI;
        return { px, x: node.x * s + ux * gap, y: node.y * s + uy * gap, align: ux < -1e-6 ? "end" : "start",
          turn: ux < -1e-6 ? turn + 180 : turn, lines: arc > px * 2.6 ? 2 : 1 };
      }
      const aside = !narrow && Math.abs(ux) > Math.abs(uy) * (size > 10 ? 0.1 : 0.4);
      const x = node.x * s + (aside ? Math.sign(ux) * gap : 0);
      const high = px * (lines > 1 ? 0.9 : 0.5);
      const y = node.y * s + (aside ? uy * high : uy < -0.01 !== flipped ? -gap - high : gap + high);
      const w = lengthOf(node, px, lines) / 2;
      return { px, x, y, align: !aside ? "middle" : ux > 0 ? "start" : "end", turn: 0, lines,
        box: { x: x + (aside ? Math.sign(ux) * w : 0), y, w, h: px * (lines > 1 ? 1.25 : 0.65) } };
    }

    // How long a node's name is, and with two lines the longer one of name and detail.
    function lengthOf(node, px, lines = 2) {
      const { fontFamily } = getComputedStyle(container);
      measure.font = `600 ${px}px ${fontFamily}`;
      const name = measure.measureText(node.label).width;
      if (lines < 2) return name;
      measure.font = `${px - 2}px ${fontFamily}`;
      return Math.max(name, measure.measureText(node.detail).width);
    }

    function writeNumbers(places, points, px) {
      const taken = [...places.map((one) => one.box).filter(Boolean),
        ...data.nodes.map((node) => ({ x: node.x * scale, y: node.y * scale, w: node.size * scale + 3, h: node.size * scale + 3 }))];
      measure.font = `600 ${px}px ${getComputedStyle(container).fontFamily}`;
      numbers.replaceChildren(...[...strong].sort((a, b) => Math.abs(b.is) - Math.abs(a.is)).flatMap((edge) => {
        if (edge.is === null) return [];
        const text = shown(edge.is, 2, true);
        const box = { w: measure.measureText(text).width / 2 + 3, h: px * 0.75 };
        const spots = spotsOn(edge, box).filter((spot) => taken.every((other) => apart(spot, other)));
        const clear = spots.find((spot) => points.every((point) => point.id === edge.id || apart(spot, { ...point, w: 2, h: 2 })));
        const spot = clear || spots[0] || (strong.length > 1 ? null : { ...onScreen(edge, 0.5), ...box });
        if (!spot) return [];
        taken.push(spot);
        return [svg("g", { class: `number ${edge.sign}` },
          svg("rect", { x: round(spot.x - box.w), y: round(spot.y - box.h), width: round(2 * box.w), height: round(2 * box.h), rx: 4 }),
          svg("text", { x: round(spot.x), y: round(spot.y + px * 0.35), "text-anchor": "middle", "font-size": px }, text))];
      }));
    }

    // Where an edge's number may stand: on the edge, or beside one that it would cover.
    function spotsOn(edge, box) {
      const [start, end] = [onScreen(edge, 0), onScreen(edge, 1)];
      const long = Math.hypot(end.x - start.x, end.y - start.y) || 1;
      if (long > 2 * box.w + COVERED) return ALONG.map((t) => ({ ...onScreen(edge, t), ...box }));
      const [nx, ny] = [(start.y - end.y) / long, (end.x - start.x) / long];
      const away = Math.abs(nx) * box.w + Math.abs(ny) * box.h + edge.width / 2 + 2;
      return [away, -away].flatMap((far) => ALONG.map((t) => {
        const { x, y } = onScreen(edge, t);
        return { x: x + nx * far, y: y + ny * far, ...box };
      }));
    }

    function onScreen(edge, t) {
      const { x, y } = pointOn(routeOf(edge), t);
      return { x: x * scale, y: y * scale };
    }

    // The view

    // The largest scale at which everything fits, at most `limit`; returns it.
    function fit(limit = LARGEST_SCALE) {
      const [width, height] = [container.clientWidth, container.clientHeight];
      if (!width || !height) return limit;
      const narrow = width < NARROW;
      scale = Math.max(0.05, Math.min(limit, ...data.nodes.map((node) => {
        const { px, align } = placeOfName(node, 1, narrow);
        const text = lengthOf(node, px) + 9;
        const long = Math.hypot(node.x, node.y) || 1;
        const [ux, uy] = [Math.abs(node.x) / long, Math.abs(node.y) / long];
        const aside = rotated ? ux * text + uy * px : align === "middle" ? text / 2 : text;
        const above = rotated ? uy * text + ux * px : align === "middle" ? px * 2.6 + 7 : px * 1.9;
        return Math.min((width / 2 - 8 - aside) / (Math.abs(node.x) + (align === "middle" ? 0 : node.size) || 1),
          (height / 2 - 4 - above) / (Math.abs(node.y) + node.size));
      })));
      const middle = `translate(${width / 2} ${height / 2})`;
      world.setAttribute("transform", `${middle} scale(${scale.toFixed(4)})`);
      words.setAttribute("transform", middle);
      write();
      return scale;
    }

    // Where something is, in pixels of the container: a point of an edge, or an axis.
    function where(selection, t = 0.5) {
      const node = data.nodes[selection.axis];
      const { x, y } = node ? { x: node.x * scale, y: node.y * scale } : onScreen(byId.get(selection.pair), t);
      return { x: x + container.clientWidth / 2, y: y + container.clientHeight / 2 };
    }

    return {
      element: picture,
      // What is shown, and what of it is marked; tells nobody. is, p: thresholds; pruned: pairs
      // without an edge, too; focus: an axis whose outgoing edges (`incoming`: and incoming ones)
      // are shown alone, or null; selected: a selection.
      show(wanted) {
        Object.assign(filter, { is: wanted.is, p: wanted.p, pruned: wanted.pruned });
        Object.assign(focused, { axis: wanted.focus, incoming: Boolean(wanted.incoming) });
        selected = wanted.selected;
        update();
      },
      fit,
      where,
      // {edges, pruned}: how many of each are shown.
      shown() {
        const seen = data.edges.filter(visible);
        const kept = seen.filter((edge) => edge.edge).length;
        return { edges: kept, pruned: seen.length - kept };
      },
    };
  }

  Object.assign(biasgraph, { drawGraph, passes, dashesOf, SIGNS, MEDIATED });
})(window.biasgraph);
