// Runs before the first paint, so that a chosen theme does not flash. The app itself takes over in services/theme.ts.
try {
  var chosen = localStorage.getItem("towpath.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch (_) {
  // Storage may be forbidden; the system's choice is used then.
}
