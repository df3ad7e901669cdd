// The page's first picture: what the client would draw once it has been loaded, compiled and told, drawn here
// by the same module. The browser shows it meanwhile. It is only a head start: where it takes too long or
// fails, the page comes without it and draws its own.

import { monotonic, timeoutSignal, wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { AssetStore } from "./assets.ts";

/** What the picture is drawn of; the page gets it, too, and goes on with it. */
export interface FirstFacts {
  /** The JSON of GET /api/session. */
  readonly session: string;
  /** Events of the feed with their data. */
  readonly events: readonly (readonly [event: string, data: string])[];
}

/** What stands in the page in the place of `LOADING`. `read` gives null where there is nothing to show. */
export type FirstPicture = (
  read: (signal: AbortSignal) => Promise<FirstFacts | null>,
) => Promise<string>;

/** What the page shows where there is no picture. */
export const LOADING = '<div id="app"><p class="starting">Loading…</p>';

/** Nobody waits longer for what is only to be quicker; a browser makes itself ready meanwhile. */
const PATIENCE_MS = 200;
/** Drawing takes milliseconds of the only thread: who comes meanwhile sees the same. */
const SHARED_MS = 250;

export function createFirstPicture(assets: AssetStore, logger: Logger): FirstPicture {
  let printer: Promise<(facts: FirstFacts) => string> | null = null;
  let last: { readonly picture: Promise<string>; until: number } | null = null;

  const start = async () => {
    const { createPrinter } = await import("../../../dist/ui/print.js");
    const { bytes } = await assets("admin_ui_bg.wasm");
    return createPrinter(bytes.identity ?? Buffer.alloc(0));
  };

  const draw = async (facts: FirstFacts) => {
    printer ??= start();
    const picture = await printer
      .then((print) => print(facts))
      .catch((error) => {
        // Who has thrown once may be in any state.
        printer = null;
        throw error;
      });
    const told = JSON.stringify(facts).replaceAll(/[&"<]/g, (one) => `&#${one.charCodeAt(0)};`);
    return `<div id="app" data-facts="${told}">${picture}`;
  };

  const make = async (read: Parameters<FirstPicture>[0]) => {
    try {
      const facts = await read(timeoutSignal(PATIENCE_MS));
      return facts === null ? LOADING : await draw(facts);
    } catch (error) {
      logger.debug({ error: messageOf(error) }, "the page's first picture could not be drawn");
      return LOADING;
    }
  };

  return async (read) => {
    if (last === null || monotonic() >= last.until) {
      const made = { picture: make(read), until: Number.POSITIVE_INFINITY };
      void made.picture.then(() => {
        made.until = monotonic() + SHARED_MS;
      });
      last = made;
    }
    const done = new AbortController();
    const silence = wait(PATIENCE_MS, done.signal).then(() => LOADING);
    return Promise.race([last.picture, silence]).finally(() => done.abort());
  };
}
