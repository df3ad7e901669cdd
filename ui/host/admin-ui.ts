/**
 * Starts the WebAssembly application, and connects it with the document, the server and the user's input. No code in
 * ui/host is for a particular page or record.
 */
import { route, serverUrl } from "./address.ts";
import { EventStream } from "./event-stream.ts";
import { listen } from "./listen.ts";
import { instantiate } from "./module.ts";
import { PageHost } from "./page-host.ts";
import { Places } from "./places.ts";
import { askEarly } from "./request.ts";
import { Runner } from "./runner.ts";
import { recall } from "./storage.ts";
import { currentTheme } from "./theme.ts";

/** The path of the application's event stream, the same as EVENTS in assembly/app/feed.ts. */
const EVENTS = "api/events?events=pulse,counts,incidents,horizon,operation";

const runner = new Runner();
const stream = new EventStream(runner);
// These requests are sent early only if no token is stored. With a token, the requests would need a header that only
// the application creates.
if (!recall("worker.token")) {
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
