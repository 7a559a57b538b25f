// Light or dark: what a page was told ("light", "dark"), or the browser's choice (null).
(function (biasgraph) {
  "use strict";

  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  function isDark(theme) {
    return theme === null ? dark.matches : theme === "dark";
  }

  function showTheme(theme) {
    if (theme === null) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    document.getElementById("theme").textContent = isDark(theme) ? "Light theme" : "Dark theme";
  }

  biasgraph.theme = { isDark, showTheme, watchTheme: (listener) => dark.addEventListener("change", listener) };
})(window.biasgraph);
