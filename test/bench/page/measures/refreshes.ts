// Refreshes the page with the list of jobs ten thousand times, and compares the page's memory at the end with its
// memory after the first thousand refreshes.
import type { Page } from "playwright-core";
import { atMost, line, ms } from "../../admin/measure.ts";
import { countersOf, isThere, openPage, type PageMeasure, type Watched } from "../bench.ts";

const FIRST = 1_000;
const ALL = 10_000;

export const refreshes: PageMeasure = {
  name: "refreshes",
  run: async ({ url, launch }) => {
    // With these options each frame is drawn at once, so a refresh does not wait for the display.
    const browser = await launch("--disable-frame-rate-limit", "--disable-gpu-vsync");
    const page = await openPage(browser, url, "/jobs");
    await isThere(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    await refresh(page, FIRST);
    const before = await countersOf(page, session);
    const began = performance.now();
    await refresh(page, ALL - FIRST);
    const each = (performance.now() - began) / (ALL - FIRST);
    const after = await countersOf(page, session);
    await browser.close();
    return [
      atMost(
        "9,000 refreshes: the module's memory grows by",
        after.wasm_mb - before.wasm_mb,
        0,
        "MB",
      ),
      atMost("9,000 refreshes: the heap grows by", after.heap_mb - before.heap_mb, 1, "MB"),
      atMost("9,000 refreshes: the nodes grow by", after.nodes - before.nodes, 50, "nodes"),
      atMost(
        "9,000 refreshes: the listeners grow by",
        after.listeners - before.listeners,
        0,
        "listeners",
      ),
      line("a refresh, requested, answered and drawn", "", ms(each), null),
    ];
  },
};

/** Refreshes the list repeatedly. Each refresh begins as soon as the previous refresh is drawn. */
async function refresh(page: Page, times: number): Promise<void> {
  await page.evaluate(async (wanted) => {
    const { watched } = globalThis as unknown as { watched: Watched };
    const calls = watched.exports as unknown as {
      memory: WebAssembly.Memory;
      __new(size: number, id: number): number;
      dispatch(action: number, arg: number, value: number): void;
    };
    const lower = (text: string) => {
      const at = calls.__new(text.length * 2, 2);
      const units = new Uint16Array(calls.memory.buffer, at, text.length);
      for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
      return at;
    };
    for (let done = 0; done < wanted; done++) {
      const drawn = new Promise<void>((resolve) => {
        let isAnswered = false;
        watched.told = (name) => {
          if (name === "onAnswer") isAnswered = true;
          // Garbage collection is the last step of each draw.
          if (isAnswered && name === "__collect") resolve();
        };
      });
      watched.spans.length = 0;
      calls.dispatch(lower("app.retry"), lower(""), lower(""));
      await drawn;
    }
  }, times);
}
