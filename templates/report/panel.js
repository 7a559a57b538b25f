// What stands beside the graph when an edge or an axis is selected.
(function (biasgraph) {
  "use strict";

  const { el, name, unbroken, number, withInterval, pValue, pText, shown, percent, count } = biasgraph.dom;
  const { heatTable, shareBars, numberLine } = biasgraph.charts;
  const { model, looks, strip } = biasgraph;
  const nodes = model.document.nodes;

  const METHODS = { asymptotic: "asymptotic", monte_carlo: "drawn tables (Monte Carlo)",
    cmh: "within prompts (Cochran-Mantel-Haenszel)", cmh_monte_carlo: "within prompts, drawn tables (Monte Carlo)" };

  // Why a number of a pair is undefined.
  function why(pair, field) {
    if (pair.reason) return pair.reason;
    if (field.startsWith("is_matched") && pair.flags.includes("too_few_to_match")) return model.words.flags.too_few_to_match;
    if (field === "p_adjusted" || field === "shift_p_adjusted") return "the adjustment covers pairs of different axes only";
    return "it could not be computed";
  }

  function heading(...children) {
    return el("h3", null, children);
  }

  function definitions(rows) {
    return el("dl", { class: "numbers" }, rows.filter(Boolean).map(([term, ...value]) =>
      el("div", null, el("dt", null, term), el("dd", null, value))));
  }

  function flagList(flags) {
    if (!flags.length) return null;
    return [heading("To keep in mind"), el("ul", { class: "flags" },
      flags.map((flag) => el("li", { class: "flag" }, sentence(model.words.flags[flag] || flag))))];
  }

  function sentence(text) {
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }

  // An edge, or any other ordered pair

  function pairPanel(k) {
    const pair = model.pairs[k];
    const [source, target] = [model.axes[pair.source], model.axes[pair.target]];
    const rows = model.sets.filter((set) => set.axis === pair.source);
    const own = pair.source === pair.target;
    return el("article", { class: "pair" },
      el("h2", { tabindex: "-1" }, name(source.label), own ? " itself" : [" → ", name(target.label)]),
      el("p", { class: `verdict ${linked(pair) ? pair.sign || "undetermined" : "none"}` },
        own ? "Did naming the attributes work?" : verdict(pair)),
      own ? null : decided(pair),
      el("p", null, unbroken(pair.text)),
      beforeAfter(pair, target),
      strips(pair, rows, source),
      table(pair, rows, source, target),
      el("details", { class: "more" }, el("summary", null, "Details: sensitivity, p and how sure that is"),
        pair.evidence && el("p", null, unbroken(pair.evidence)),
        effect(pair),
        heading("Test"),
        definitions(testRows(pair))),
      mediation(pair),
      flagList(pair.flags));
  }

  // Whether something was found: an edge, or a shift that all interventions share.
  function linked(pair) {
    return pair.edge || pair.verdict === "common_shift";
  }

  function verdict(pair) {
    if (pair.verdict === null) return pair.edge ? "edge" : pair.status === "insufficient" ? "could not be decided" : "no edge";
    const direction = pair.verdict === "common_shift" && ["towards", "away"].includes(pair.sign) ? `; ${biasgraph.SIGNS[pair.sign].words}` : "";
    return model.words.verdicts[pair.verdict] + direction;
  }

  // When the pair was decided: a cell for each look.
  function decided(pair) {
    if (!looks.length || typeof pair.decided !== "boolean") return null;
    return el("p", { class: "decided" }, strip(pair), " ", strip.words(pair));
  }

  // The share that changes most: initial images, and all arms mixed.
  function beforeAfter(pair, target) {
    if (pair.moved === null || pair.moved === undefined || pair.source === pair.target) return null;
    const place = nodes[pair.target].attributes.indexOf(pair.moved);
    const goal = nodes[pair.target].ideal[place];
    return el("figure", { class: "before-after" },
      el("figcaption", null, "Images called ", name(target.attributes[place]), ", before and after"),
      shareBars({ labels: ["initial images", "all arms mixed"],
        shares: [pair.share_before, pair.share_after],
        intervals: ["before", "after"].map((when) => [pair[`share_${when}_ci_low`], pair[`share_${when}_ci_high`]]),
        ideal: [goal, goal] }));
  }

  function effect(pair) {
    const node = nodes[pair.target];
    const get = (field) => pair[field];
    if (pair.is === null) {
      return [heading("Effect on the distance to the ideal"),
        definitions([["IS", number(null, { reason: why(pair, "is") })],
          ["Distance before", number(pair.w1_before, { reason: why(pair, "w1_before") })],
          ["Distance after", number(pair.w1_after, { reason: why(pair, "w1_after") })]])];
    }
    const ends = ["is", "is_ci_low", "is_ci_high", "is_matched_ci_low", "is_matched_ci_high"].map(get).filter((one) => one !== null);
    const fixed = pair.is_corrected === null || pair.is_corrected === undefined ? [] : [{
      label: "corrected", kind: "plain", value: pair.is_corrected, low: pair.is_corrected_ci_low, high: pair.is_corrected_ci_high,
      text: withInterval(pair.is_corrected, pair.is_corrected_ci_low, pair.is_corrected_ci_high, { signed: true }) }];
    if (pair.is_controlled !== null && pair.is_controlled !== undefined) fixed.push({
      label: "from rewordings", kind: "plain", value: pair.is_controlled, low: pair.is_controlled_ci_low, high: pair.is_controlled_ci_high,
      text: withInterval(pair.is_controlled, pair.is_controlled_ci_low, pair.is_controlled_ci_high, { signed: true }) });
    ends.push(...fixed.flatMap((mark) => [mark.value, mark.low, mark.high]));
    const reach = Math.max(0.1, ...ends.map(Math.abs));
    const chance = node.w1_null.q95;
    const far = Math.max(pair.w1_before, pair.w1_after, chance || 0, 0.2);
    return [heading("Effect on the distance to the ideal"),
      numberLine({
        low: -reach, high: reach, zero: true, signed: true,
        marks: [
          { label: "IS", kind: pair.sign || "undetermined", value: pair.is, low: pair.is_ci_low, high: pair.is_ci_high,
            text: withInterval(pair.is, pair.is_ci_low, pair.is_ci_high, { signed: true }) },
          { label: "at equal sizes", kind: "plain", value: pair.is_matched, low: pair.is_matched_ci_low, high: pair.is_matched_ci_high,
            text: withInterval(pair.is_matched, pair.is_matched_ci_low, pair.is_matched_ci_high,
              { signed: true, reason: why(pair, "is_matched") }) },
          ...fixed,
        ],
      }),
      numberLine({
        low: 0, high: far, band: chance === null ? null : [0, chance],
        marks: [
          { label: "before", kind: "plain", value: pair.w1_before, text: number(pair.w1_before) },
          { label: "after", kind: "plain", value: pair.w1_after, text: number(pair.w1_after) },
        ],
      }),
      el("p", { class: "note" },
        "IS is what diversifying takes off (+) or adds to (−) the distance. A direction is claimed where the interval at equal sample sizes is clear of 0 ",
        "and the images of all interventions together differ from the initial ones: ",
        pair.sign_probability === null ? "not decided" : [number(pair.sign_probability, { digits: 3 }), " of the resamples lie above 0"],
        ". ", chance === null ? null : ["Grey: distances up to ", number(chance), " occur by chance when images come from the ideal itself."],
        fixed.some((mark) => mark.label === "corrected") ? " Corrected: without the judge’s errors." : null,
        fixed.some((mark) => mark.label === "from rewordings") ? " From rewordings: with images of neutral rewordings in the place of the initial ones." : null)];
  }

  function table(pair, rows, source, target) {
    if (!rows.length) return null;
    const size = target.attributes.length;
    const of = model.mixed[pair.source];
    const mixture = of && of[pair.target];
    const split = (set) => ({ counts: set.counts[pair.target].slice(0, size), lost: set.counts[pair.target].slice(size) });
    const all = [...rows, model.sets[0]];
    const lost = all.some((set) => split(set).lost.some(Boolean));
    return [heading("What the judge saw"),
      heatTable({
        source: el("span", null, name(source.label), " asked for"),
        columns: target.attributes,
        rows: rows.map((set) => ({ label: name(source.attributes[set.attribute]), ...split(set) })),
        mixed: mixture && { label: "all arms mixed", shares: mixture },
        before: { label: "initial images", ...split(model.sets[0]) },
        ideal: nodes[pair.target].ideal,
        lost,
      }),
      el("p", { class: "note" }, "Images by what was asked for (rows) and what the judge saw (columns); shares of each row. ",
        "The test compares the rows above the line", looks.length && pair.look ? `, in the first ${pair.look_images} images of each prompt only.` : ".")];
  }

  function testRows(pair) {
    const at = (field, options) => number(pair[field], { reason: why(pair, field), ...options });
    return [
      ["χ² (degrees of freedom)", at("statistic", { digits: 2 }), pair.dof === null ? null : [" (", count(pair.dof), ")"]],
      ["p", pValue(pair.p, why(pair, "p")), pair.method ? `, ${METHODS[pair.method] || pair.method}` : null],
      ["p, adjusted for all pairs", pValue(pair.p_adjusted, why(pair, "p_adjusted"))],
      ["Cramér's V", at("cramers_v")],
      ["V, bias-corrected", at("cramers_v_corrected")],
      ["V needed to be found", at("detectable_v", { digits: 2 }), " at all, ", at("detectable_v_80", { digits: 2, brief: true }), " in 80 % of cases",
        pair.detectable_v > 1 ? ": out of reach" : null],
      ["p of the shift from the initial images", pValue(pair.shift_p, why(pair, "shift_p")),
        pair.shift_p_adjusted === null ? null : [", adjusted for all pairs ", pValue(pair.shift_p_adjusted, why(pair, "shift_p_adjusted"))]],
      ["V at most", at("v_high", { digits: 2 }), pair.v_high === null ? null : `, with ${model.words.confidence} confidence`],
      ["Distance", pair.metric],
      pair.n_prompts === undefined ? null : ["Prompts", pair.n_prompts === null ? number(null, { reason: why(pair, "n_prompts") }) : count(pair.n_prompts)],
      pair.is_mean_prompt === undefined ? null : ["Mean IS of the prompts", at("is_mean_prompt", { signed: true }), pair.n_mean_prompts ? [" of ", count(pair.n_mean_prompts)] : null],
    ];
  }

  function mediation(pair) {
    if (!pair.mediation.length) return null;
    return [heading("Direct, or through another axis?"),
      pair.mediation.map((check) => el("div", { class: "mediation" },
        el("p", null, el("strong", null, "Through ", name(model.axes[check.axis].label), ": "), name(check.words), "."),
        definitions([
          ["p within its answers", pValue(check.stratified.p, "no answer leaves enough to compare")],
          check.explained ? ["Share of the differences that the chain gives", number(check.explained.share, { digits: 2, reason: "an answer was never intervened on" }), check.explained.low === null ? null : [", at least ", number(check.explained.low, { digits: 2 })]] : null,
          ["Left over by the chain", number(check.chain.residual, { reason: "an answer was never intervened on" }), band(check.chain)],
          ["The same for the initial images", number(check.falsifier.residual, { reason: "an answer was never intervened on" }), band(check.falsifier)],
        ]))),
      el("p", { class: "note" }, "Assumed: ", model.document.graph.mediation_assumptions.join(" "))];
  }

  function band(check) {
    return check.band === null ? null : [", by chance up to ", number(check.band)];
  }

  // Pictures of the initial images and of every arm, with what the judge saw in all of each.
  function strips(pair, rows, source) {
    const controls = model.sets.filter((set) => set.axis === -2).map((set) => ["neutral rewordings", set]);
    const shown = [["initial images", model.sets[0]], ...rows.map((set) => [source.attributes[set.attribute], set]), ...controls]
      .map(([label, set]) => biasgraph.pictures.row(set, pair.target, set.axis < 0 ? label : `asked for ${label}`))
      .filter(Boolean);
    return shown.length ? shown : null;
  }

  // An axis

  function axisPanel(i, pick) {
    const node = nodes[i];
    const axis = model.axes[i];
    const initial = node.initial;
    return el("article", { class: "axis" },
      el("h2", { tabindex: "-1" }, name(axis.label)),
      el("p", { class: "verdict none" }, most(node, axis)),
      heading("Initial images against the ideal"),
      shareBars({ labels: axis.attributes, counts: initial.counts, shares: initial.distribution,
        intervals: node.distribution_ci, bounds: node.distribution_bounds, ideal: node.ideal }),
      biasgraph.pictures.row(model.sets[0], i, "initial images"),
      el("p", { class: "note" }, `Bar: share of the images; whisker: its ${model.words.confidence} interval; upright mark: ideal`,
        initial.n_unknown ? "; hatched: what unknown answers could hide." : "."),
      definitions([
        ["Valid answers", count(initial.n_valid), " of ", count(initial.n_total),
          initial.n_unknown || initial.n_gated ? `, ${initial.n_unknown} unknown, ${initial.n_gated} without a person or withheld` : ""],
        ["Distance to the ideal", withInterval(node.w1, ...(node.w1_ci || [null, null]), { reason: model.words.status[node.status] }), `, ${node.metric}`],
        node.w1_mean_prompt !== undefined && ["Mean of the prompts’ own", withInterval(node.w1_mean_prompt, ...(node.w1_mean_prompt_ci || [null, null]), { reason: model.words.status.insufficient })],
        node.corrected && ["Without the judge’s errors", withInterval(node.corrected.w1, ...node.corrected.w1_ci)],
        ["By chance", node.w1_null.q95 === null ? number(null, { reason: model.words.status[node.status] })
          : ["up to ", number(node.w1_null.q95), node.near_ideal ? `: ${node.w1_mean_prompt === undefined ? "" : "their sum "}cannot be told from the ideal` : ""]],
        node.control && ["Neutral rewordings", node.control.is === null ? number(null, { reason: "too few valid answers" })
          : withInterval(node.control.is, node.control.is_ci_low, node.control.is_ci_high, { signed: true }),
          ", p ", pValue(node.control.shift_p, "it could not be computed"), ", ", count(node.control.n_valid), " images"],
        ["Naming it worked", number(node.diagonal.accuracy, { digits: 2, reason: "no images of an intervention have valid answers" }),
          " of the answers, V = ", number(node.diagonal.cramers_v, { digits: 2, brief: true })],
      ]),
      edgesOf(i, pick),
      flagList(node.flags),
      model.findings.nodes[i].length ? [heading("What other methods found"), biasgraph.findings(model.findings.nodes[i])] : null);
  }

  function most(node, axis) {
    const shares = node.initial.distribution;
    if (shares === null) return "No valid answers in the initial images.";
    const top = shares.indexOf(Math.max(...shares));
    return [`${percent(shares[top])} of the initial images: `, name(axis.attributes[top])];
  }

  function edgesOf(i, pick) {
    const links = model.pairs.map((pair, k) => [pair, k]).filter(([pair]) => pair.edge && (pair.source === i || pair.target === i));
    const list = (kept, other) => el("ul", { class: "edge-list" }, kept.map(([pair, k]) => el("li", null,
      el("button", { type: "button", class: `link ${pair.sign || "undetermined"}`, onclick: () => pick({ pair: k }) },
        name(model.axes[other(pair)].label), " ", number(pair.is, { signed: true, brief: true })))));
    const out = links.filter(([pair]) => pair.source === i);
    const into = links.filter(([pair]) => pair.target === i);
    return [heading("Its edges"),
      el("div", { class: "in-out" },
        el("div", null, el("h4", null, "Diversifying it changes"), out.length ? list(out, (pair) => pair.target) : el("p", { class: "note" }, "nothing that was found")),
        el("div", null, el("h4", null, "It is changed by"), into.length ? list(into, (pair) => pair.source) : el("p", { class: "note" }, "nothing that was found")))];
  }

  // What the pointer rests on, in a line or two

  function tip(selection) {
    if (selection.axis !== undefined) {
      const node = nodes[selection.axis];
      return el("div", null, el("strong", null, name(model.axes[selection.axis].label)), el("br"), most(node, model.axes[selection.axis]),
        el("br"), "distance to the ideal ", number(node.w1, { brief: true }));
    }
    const pair = model.pairs[selection.pair];
    return el("div", null, el("strong", null, name(model.axes[pair.source].label), " → ", name(model.axes[pair.target].label)),
      el("br"), verdict(pair),
      el("br"), "IS ", pair.is === null ? "not defined" : shown(pair.is, 3, true), ", p = ", pair.p === null ? "not defined" : pText(pair.p));
  }

  Object.assign(biasgraph, { pairPanel, axisPanel, tip, why, linked, verdict });
})(window.biasgraph);
