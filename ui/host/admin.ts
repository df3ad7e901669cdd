/**
 * Runs before anything is drawn: sets the theme, hides the first picture where it is not of the page that was
 * asked for (what stands behind the `#` the server is not told), and starts the application.
 */
import { route } from "./address.ts";
import { restoreTheme } from "./theme.ts";

/** Whoever has seen no picture by then, for whatever reason, waits no longer for it. */
const PATIENCE_MS = 1_000;

restoreTheme();
const isOther = route() !== "/";
if (isOther) {
  document.documentElement.dataset["loading"] = "";
  preload();
}
addEventListener("DOMContentLoaded", async () => {
  if (!isOther) {
    if (document.querySelector("#app[data-facts]")) await painted();
    preload();
  }
  // Under this name the server has it, in the folder of this script.
  const application = "./admin_ui.js";
  await import(application);
});

/**
 * Resolves when the first picture is on the screen: loading and compiling the application would take both
 * cores from the drawing of it, and the numbers come a fifth later (npm run bench:page).
 */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve();
    setTimeout(done, PATIENCE_MS);
    // A page in the background paints nothing.
    if (document.hidden) done();
    addEventListener("visibilitychange", done, { once: true });
    // The first paint may be that of the background alone.
    new PerformanceObserver((seen) => {
      if (seen.getEntriesByName("first-contentful-paint").length > 0) done();
    }).observe({ type: "paint", buffered: true });
  });
}

/** The application and what it asks for first are fetched side by side. */
function preload(): void {
  const files = [
    { href: "assets/admin_ui.js", rel: "modulepreload" },
    { href: "assets/admin_ui_bg.wasm", rel: "preload", as: "fetch", crossOrigin: "anonymous" },
  ];
  for (const file of files) {
    document.head.append(Object.assign(document.createElement("link"), file));
  }
}
