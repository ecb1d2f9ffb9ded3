// Runs before the first paint, so that a chosen theme never flashes the other one.
try {
  // What stands in a page of another site is dressed by that page.
  const theme = location.pathname.startsWith("/embed/")
    ? new URLSearchParams(location.search).get("theme")
    : localStorage.getItem("gangway.theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
  }
} catch {
  // Storage may be forbidden; the system's theme is used then.
}

// The window of a request is connected from its first moment on: when it is closed, however early, the request is dismissed.
if (location.pathname === "/permit") {
  const ask = new URLSearchParams(location.search).get("ask");
  if (ask !== null) {
    const query = new URLSearchParams({ ask });
    const server = location.origin.replace(/^http/, "ws");
    new WebSocket(`${server}/ws/asks?${query}`);
  }
}
