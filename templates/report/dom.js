// Elements and numbers. Everything a page shows becomes a text node or an attribute here, never
// markup: names in `biasgraph.model` come from prompts, files and models that nobody has checked.
(function () {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const EXACT = 40; // digits more than any number that ends in a half has
  const RISKY = /^'*[=+\-@\t\r\n]/; // a spreadsheet would run it; an apostrophe keeps it a text

  // An element with properties and children. Properties: on... are listeners, `style` holds custom
  // properties, the rest are attributes (true: empty, null or false: left out).
  function el(tag, properties, ...children) {
    return filled(document.createElement(tag), properties, children);
  }

  function svg(tag, properties, ...children) {
    return filled(document.createElementNS(SVG, tag), properties, children);
  }

  function filled(element, properties, children) {
    for (const [name, value] of Object.entries(properties || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "style") {
        for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
      } else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  }

  // Children that are drawn when they are scrolled to, and all of them before printing.
  // draw: the element of an item, made once. {show(items), reach(how many of them)}.
  function growing(parent, draw, step) {
    const made = new Map();
    let items = [];
    let count = 0;
    const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && reach(count + step));

    function element(item) {
      if (!made.has(item)) made.set(item, draw(item));
      return made.get(item);
    }

    function reach(wanted) {
      const next = items.slice(count, Math.max(wanted, count));
      count += next.length;
      parent.append(...next.map(element));
      watcher.disconnect();
      if (count < items.length) watcher.observe(parent.lastElementChild);
    }

    function show(wanted) {
      if (wanted.length === items.length && wanted.every((one, i) => one === items[i])) return;
      items = wanted;
      count = 0;
      parent.replaceChildren();
      reach(step);
    }

    window.addEventListener("beforeprint", () => reach(items.length));
    return { show, reach: (place) => place >= count && reach(place + 1) };
  }

  // A name that somebody else chose; its writing direction stays inside. A long one breaks behind
  // its separators: html.py has the same rule.
  function name(text) {
    const pieces = text.split(/(?<=[:/_-])(?=\S)/);
    return el("bdi", { title: text.length > 20 ? text : null }, pieces.map((piece, i) => [i > 0 && el("wbr"), piece]));
  }

  // A sentence whose numbers and intervals stay in one line; html.py has the same rule.
  function unbroken(sentence) {
    const pieces = sentence.split(/(\[[\d.,+% -]{1,30}\]|(?:\b[pV] = )?\d[\d.,]{0,9}(?:e-\d{2,3}| %)|\b[pV] = \d[\d.]{0,9})/);
    return pieces.map((piece, i) => (i % 2 ? el("span", { class: "unbroken" }, piece) : piece));
  }

  // A number as the page shows it, with the whole number behind it; or that it is not defined.
  function number(value, options) {
    const { digits = 3, signed = false, reason = null, brief = false } = options || {};
    if (value === null || value === undefined) return undefinedNumber(reason, brief);
    return el("data", { value: String(value) }, shown(value, digits, signed));
  }

  function shown(value, digits, signed) {
    const text = fixed(Math.abs(value), digits);
    if (value < 0) return `\u2212${text}`;
    return signed ? `+${text}` : text;
  }

  // A positive number to so many digits; exact halves go to the even digit, as in the sentences.
  function fixed(value, digits) {
    const [cut, rest] = [value.toFixed(digits + EXACT).slice(0, -EXACT), value.toFixed(digits + EXACT).slice(-EXACT)];
    return /^50*$/.test(rest) && /[02468]\.?$/.test(cut) ? cut.replace(/\.$/, "") : value.toFixed(digits);
  }

  function undefinedNumber(reason, brief) {
    const why = reason || "it could not be computed";
    return el("span", { class: "undefined", title: why }, brief ? "not defined" : `not defined: ${why}`);
  }

  // A number with its 95 % interval.
  function withInterval(value, low, high, options) {
    const point = number(value, options);
    if (value === null || value === undefined || low === null || low === undefined) return [point];
    return [point, " ", el("span", { class: "interval" },
      "[", number(low, options), ", ", number(high, options), "]")];
  }

  // A p-value to two or three digits, as the terminal and the sentences have it.
  function pValue(value, reason, brief) {
    if (value === null || value === undefined) return undefinedNumber(reason, brief);
    return el("data", { value: String(value) }, pText(value));
  }

  function pText(value) {
    if (value >= 0.001) return fixed(value, 3);
    const [digits, exponent] = value.toExponential(1).split("e");
    const power = Math.abs(Number(exponent));
    return `${digits}e-${power < 10 ? "0" : ""}${power}`;
  }

  function percent(share) {
    return `${whole(share)}\u00a0%`;
  }

  // A share as a whole percentage; halves go to the even number, as in the sentences.
  function whole(share) {
    const floor = Math.floor(share * 100);
    const rest = share * 100 - floor;
    return rest === 0.5 ? floor + (floor % 2) : Math.round(share * 100);
  }

  function count(value) {
    return el("data", { value: String(value) }, value.toLocaleString("en"));
  }

  // The colour of a custom property under the present theme, as canvas wants it.
  function colour(property) {
    const probe = el("span", { class: "probe", style: { color: `var(--${property})` } });
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }

  // Rows of texts as the bytes of a CSV file that a spreadsheet reads and does not run.
  function csv(rows) {
    return `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;
  }

  function cell(text) {
    const safe = RISKY.test(text) ? `'${text}` : text;
    return /[,;\t"\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  }

  function download(blob, filename) {
    const url = URL.createObjectURL(blob);
    el("a", { href: url, download: filename }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  window.biasgraph = {
    model: JSON.parse(document.getElementById("model").textContent),
    dom: { el, svg, growing, name, unbroken, number, withInterval, pValue, pText, shown, fixed, percent, whole, count, colour, csv, download },
  };
})();
