/**
 * Starts the WebAssembly application and gives it a page to draw on. The host has no code for a page or
 * a record: without the module nothing is left.
 */
import { route, serverUrl } from "./address.ts";
import { EventStream } from "./event-stream.ts";
import { listen } from "./listen.ts";
import { instantiate } from "./module.ts";
import { PageHost } from "./page-host.ts";
import { Places } from "./places.ts";
import { askEarly } from "./request.ts";
import { Runner } from "./runner.ts";
import { currentTheme } from "./theme.ts";

/** What every page listens to (assembly/app/feed.ts). */
const EVENTS = "api/events?events=pulse,counts,incidents,horizon,operation";

const runner = new Runner();
const stream = new EventStream(runner);
// A page that is signed in by a token sends it along, and only the application has it.
if (sessionStorage.length === 0) {
  askEarly("api/session");
  if (!document.hidden) stream.openEarly(EVENTS);
}
try {
  const url = serverUrl("assets/admin_ui_bg.wasm");
  const module = await WebAssembly.compileStreaming(fetch(url));
  const places = new Places();
  const host = new PageHost(runner, stream, places);
  const app = await instantiate(module, host.imports());
  runner.attach(app, () => host.afterDraw());
  host.attach(app.memory);
  listen(runner, places);
  runner.run((running) => running.init(route(), places.entry, currentTheme()));
} catch (error) {
  runner.fail(error);
}
