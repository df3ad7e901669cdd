/**
 * Draws the page's first picture outside of a browser: the module that the page has, in a host that has no
 * document, told what the page would be told. The server sends what comes of it along with the page.
 */
import type { FirstFacts } from "../host/first-facts.ts";
import { type App, instantiate } from "../host/module.ts";
import { markupOf } from "./markup.ts";

type Printer = (facts: FirstFacts) => string;

/**
 * `wasm`: the module as it is served. One instance draws all pictures and forgets what it was told after each,
 * so that its memory stays as it is. After an exception it must not be used again.
 */
export async function createPrinter(wasm: BufferSource): Promise<Printer> {
  let picture = "";
  let sessionAsked = -1;
  const app: App = await instantiate(await WebAssembly.compile(wasm), {
    ...Object.fromEntries(UNUSED.map((name) => [name, () => {}])),
    ...Object.fromEntries(EMPTY.map((name) => [name, () => ""])),
    ...Object.fromEntries(ZERO.map((name) => [name, () => 0])),
    now: () => Date.now(),
    request: (id: number, _method: string, path: string) => {
      if (path === "api/session") sessionAsked = id;
    },
    draw: (ops: number, opCount: number, units: number, unitCount: number) => {
      picture = markupOf(app.memory, ops, opCount, units, unitCount);
    },
  });
  app.init("/", 0, "system");

  return ({ session, events }) => {
    for (const [event, data] of events) app.pushed(event, data);
    app.replied(sessionAsked, 200, "", session, 0);
    app.render();
    // Whoever signs out leaves nothing; who comes next asks for his session.
    app.dispatch("access.sign-out", "", "");
    app.rang("app.session", "");
    app.__collect();
    return picture;
  };
}

/** What a document, a network or a person would do (assembly/host.ts). */
const UNUSED = [
  ...["after", "back", "copy", "download", "focus", "mark", "navigate", "prefer", "reload"],
  ...["remember", "save", "scroll", "subscribe", "theme", "title", "unsubscribe"],
];
const EMPTY = ["focused", "pageUrl", "preferred", "recall"];
/** In whose time zone the picture will be seen nobody knows: its times name theirs. */
const ZERO = ["attended", "isWide", "scrolled", "zoneOffset"];
