// Escape closes an opened picture.
(function () {
  "use strict";

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const open of document.querySelectorAll(".shot[open]")) open.open = false;
  });

  document.documentElement.dataset.ready = "true";
})();
