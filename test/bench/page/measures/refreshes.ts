// A list of jobs is asked for, read and drawn ten thousand times: what the page holds afterwards, beside
// what it held when it had been done a thousand times.
import type { Page } from "playwright-core";
import { atMost } from "../../admin/measure.ts";
import { countersOf, isThere, openPage, type PageMeasure, type Watched } from "../bench.ts";

const FIRST = 1_000;
const ALL = 10_000;

export const refreshes: PageMeasure = {
  name: "refreshes",
  run: async ({ url, launch }) => {
    const browser = await launch();
    const page = await openPage(browser, url, "/jobs");
    await isThere(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    await refresh(page, FIRST);
    const before = await countersOf(page, session);
    await refresh(page, ALL - FIRST);
    const after = await countersOf(page, session);
    await browser.close();
    return [
      atMost(
        "9,000 refreshes: the module's memory grows by",
        after.wasm_mb - before.wasm_mb,
        0,
        "MB",
      ),
      atMost("the heap by", after.heap_mb - before.heap_mb, 1, "MB"),
      atMost("nodes by", after.nodes - before.nodes, 50, "nodes"),
      atMost("listeners by", after.listeners - before.listeners, 0, "listeners"),
    ];
  },
};

/** Each has its answer before the next: it is drawn when the page draws, and besides at once. */
async function refresh(page: Page, times: number): Promise<void> {
  await page.evaluate(async (wanted) => {
    const { watched } = globalThis as unknown as { watched: Watched };
    const calls = watched.exports as unknown as {
      memory: WebAssembly.Memory;
      __new(size: number, id: number): number;
      dispatch(action: number, arg: number, value: number): void;
      render(): void;
      __collect(): void;
    };
    const lower = (text: string) => {
      const at = calls.__new(text.length * 2, 2);
      const units = new Uint16Array(calls.memory.buffer, at, text.length);
      for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
      return at;
    };
    const { port1, port2 } = new MessageChannel();
    const turn = () =>
      new Promise((done) => {
        port1.onmessage = done;
        port2.postMessage(null);
      });
    const answers = () => {
      const count = watched.spans.filter(({ name }) => name === "replied").length;
      watched.spans.length = 0;
      return count;
    };
    answers();
    for (let done = 0; done < wanted; done++) {
      calls.dispatch(lower("app.retry"), lower(""), lower(""));
      while (answers() === 0) await turn();
      calls.render();
      calls.__collect();
    }
  }, times);
}
