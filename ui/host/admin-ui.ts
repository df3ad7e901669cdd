/**
 * Starts the WebAssembly application and gives it a page to draw on. The host knows no page and no
 * record: take the module away and nothing is left.
 */
import { route } from "./address.ts";
import { EventStream } from "./event-stream.ts";
import { listen } from "./listen.ts";
import { instantiate } from "./module.ts";
import { PageHost } from "./page-host.ts";
import { Places } from "./places.ts";
import { askEarly } from "./request.ts";
import { Runner } from "./runner.ts";
import { restoreTheme } from "./theme.ts";
import { unpacked } from "./unpack.ts";

/** What every page listens to (assembly/app/feed.ts). */
const EVENTS = "api/events?events=pulse,counts,incidents,horizon,operation";

export async function start(url: URL): Promise<void> {
  const theme = restoreTheme();
  const runner = new Runner();
  const stream = new EventStream(runner);
  // Who has signed in with a token sends it along, and only the application knows it.
  if (sessionStorage.length === 0) {
    askEarly("api/session");
    if (!document.hidden) stream.openEarly(EVENTS);
  }
  try {
    const packed = await WebAssembly.instantiateStreaming(fetch(url));
    const module = await unpacked(packed.instance);
    const places = new Places();
    const host = new PageHost(runner, stream, places);
    const app = await instantiate(module, host.imports());
    runner.attach(app, () => host.afterDraw());
    host.attach(app.memory);
    listen(runner, places);
    runner.begin((running) => running.init(route(), places.entry, theme));
  } catch (error) {
    runner.fail(error);
  }
}
