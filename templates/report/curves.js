// The curves of a graph's edges, from rim to rim, and the heads at their ends.
(function (biasgraph) {
  "use strict";

  // An edge's quadratic curve from rim to rim, less `short` before its end: its three points.
  function route(data, edge, short) {
    const [a, b] = [data.nodes[edge.from], data.nodes[edge.to]];
    const bend = data.bends[(edge.to - edge.from + data.nodes.length) % data.nodes.length];
    const control = { x: (a.x + b.x) / 2 - bend * (b.y - a.y), y: (a.y + b.y) / 2 + bend * (b.x - a.x) };
    const at = (s, t) => blend(blend(a, control, s), blend(control, b, s), t); // the curve's blossom
    const away = (node, t) => Math.hypot(at(t, t).x - node.x, at(t, t).y - node.y);
    const first = bisect((t) => away(a, t) > a.size + 2);
    const last = 1 - bisect((t) => away(b, 1 - t) > b.size + 2 + short);
    return [at(first, first), at(first, last), at(last, last)];
  }

  // The smallest t for which a condition holds that holds from some t on.
  function bisect(holds) {
    let [low, high] = [0, 1];
    for (let i = 0; i < 20; i += 1) {
      const middle = (low + high) / 2;
      if (holds(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  function blend(a, b, t) {
    return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t };
  }

  function pointOn([a, control, b], t) {
    return blend(blend(a, control, t), blend(control, b, t), t);
  }

  // A head at the end of a curve, as a path.
  function headPath(kind, [, control, tip], width) {
    const angle = Math.atan2(tip.y - control.y, tip.x - control.x);
    const [long, half] = [5 + 1.7 * width, 2.5 + 0.75 * width];
    const at = (back, side) => `${round(tip.x - back * Math.cos(angle) - side * Math.sin(angle))} ${round(tip.y - back * Math.sin(angle) + side * Math.cos(angle))}`;
    if (kind === "bar") return `M${at(0, half + 2)}L${at(0, -half - 2)}L${at(2 + width / 3, -half - 2)}L${at(2 + width / 3, half + 2)}Z`;
    return kind === "arrow" ? `M${at(0, 0)}L${at(long, half)}L${at(long, -half)}Z` : `M${at(0, 0)}L${at(long, half)}L${at(long * 0.6, 0)}L${at(long, -half)}Z`;
  }

  function round(value) {
    return Math.round(value * 10) / 10;
  }

  Object.assign(biasgraph, { curves: { route, pointOn, headPath, round } });
})(window.biasgraph);
