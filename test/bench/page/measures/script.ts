// Measures the CPU time of the page's main thread: the time of the page's code during a live update of a list of a
// hundred jobs, and the time of code, layout and painting after a letter is typed into the query.

import type { Page } from "playwright-core";
import { atMost, line, ms } from "../../admin/measure.ts";
import { percentile } from "../../engine/statistics.ts";
import { drawsOf, isThere, metricsOf, openPage, type PageMeasure, type Watched } from "../bench.ts";

const TICKS = 40;
const QUERY = "is:failed task:send_email attempts>2 failed<2h amount";

export const script: PageMeasure = {
  name: "script",
  run: async ({ url, launch, db }) => {
    const browser = await launch();
    const page = await openPage(browser, url, "/jobs");
    await isThere(page);
    await page.waitForFunction(() => document.querySelectorAll(".jobs tbody tr").length >= 100);
    const session = await page.context().newCDPSession(page);
    // The metrics are CPU time, which does not include the time of other processes.
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const took = async (name: string, step: () => Promise<unknown>) => {
      const before = (await metricsOf(session))(name);
      await step();
      return ((await metricsOf(session))(name) - before) * 1_000;
    };
    const ticks: number[] = [];
    for (let n = 0; n < TICKS; n++) {
      await drawsOf(page);
      let draws = 0;
      const spent = await took("ScriptDuration", async () => {
        await db.query("select worker.add_job('bench_tick', '{}'::json)");
        while (draws === 0) draws = await nextDraws(page);
      });
      ticks.push(spent / draws);
    }
    await page.locator("#jobs-query").focus();
    const keys: number[] = [];
    for (const letter of QUERY) {
      keys.push(await took("TaskDuration", () => typed(page, letter)));
    }
    await browser.close();
    const middle = (what: string, all: number[], most: number) => [
      atMost(`${what}, median`, percentile(all, 0.5), most),
      line(`${what}, 95 of 100`, "", `≤ ${ms(percentile(all, 0.95))}`, null),
    ];
    return [
      ...middle("live update of 100 rows, script", ticks, 8),
      ...middle("key in the query, script, layout and paint", keys, 16),
    ];
  },
};

/**
 * Returns the number of draws that have ended since drawsOf() was last called. If the page has recorded no step since
 * then, first waits for the end of the next draw. The page draws at least once a second. A callback in the
 * page ends the wait, because a check in each frame would take more time than an update.
 */
async function nextDraws(page: Page): Promise<number> {
  await page.evaluate(() => {
    const { watched } = globalThis as unknown as { watched: Watched };
    return new Promise<void>((resolve) => {
      watched.told = (name) => {
        if (name !== "__collect") return;
        watched.told = null;
        resolve();
      };
      if (watched.spans.length > 0) watched.told("__collect");
    });
  });
  return (await drawsOf(page)).length;
}

async function typed(page: Page, letter: string): Promise<void> {
  await page.keyboard.type(letter);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}
