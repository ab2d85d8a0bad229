"use strict";
// Light or dark: what was chosen here before, else what the system prefers. Runs before anything is drawn.
const Theme = {
  now() { return document.documentElement.dataset.theme; },
  set(theme) { document.documentElement.dataset.theme = theme; },
  kept() { try { return localStorage.getItem("pnono-theme"); } catch { return null; } },
  keep(theme) { try { localStorage.setItem("pnono-theme", theme); } catch { /* a file may have no storage */ } },
};
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
Theme.set(Theme.kept() || (prefersDark.matches ? "dark" : "light"));
