// Points by arrow keys: one Tab stop for all of them.
(function () {
  "use strict";

  const points = [...document.querySelectorAll("#population .point")];
  let current = 0;
  points.forEach((point, place) => point.setAttribute("tabindex", place === 0 ? "0" : "-1"));

  function reach(place) {
    points[current].setAttribute("tabindex", "-1");
    current = place;
    points[current].setAttribute("tabindex", "0");
  }

  points.forEach((point, place) => {
    point.addEventListener("focus", () => reach(place));
    point.addEventListener("keydown", (event) => {
      const next = {
        ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1,
        Home: 0, End: points.length - 1,
      }[event.key];
      if (next === undefined || !points[next]) return;
      event.preventDefault();
      points[next].focus();
    });
  });
})();
