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

export async function start(url: URL): Promise<void> {
  const theme = restoreTheme();
  const runner = new Runner();
  askEarly("api/session");
  try {
    const packed = await WebAssembly.instantiateStreaming(fetch(url));
    const module = await unpacked(packed.instance);
    const places = new Places();
    const host = new PageHost(runner, new EventStream(runner), places);
    const app = await instantiate(module, host.imports());
    runner.attach(app, () => host.afterDraw());
    host.attach(app.memory);
    listen(runner, places);
    runner.begin((running) => running.init(route(), places.entry, theme));
  } catch (error) {
    runner.fail(error);
  }
}
