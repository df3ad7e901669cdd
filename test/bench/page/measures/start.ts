// Measures the time from the start of the navigation until the first number is painted. Each round starts a new
// browser, whose cache is empty.

import { atMost, line, ms } from "../../admin/measure.ts";
import { median } from "../../engine/statistics.ts";
import { openPage, type PageMeasure, type Watched } from "../bench.ts";

const ROUNDS = 9;

export const start: PageMeasure = {
  name: "start",
  run: async ({ url, launch }) => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const browser = await launch();
      const page = await openPage(browser, url, "/");
      const handle = await page.waitForFunction(
        () => (globalThis as unknown as { watched: Watched }).watched.firstNumber,
      );
      times.push(await handle.jsonValue());
      await browser.close();
    }
    const quickest = `≥ ${ms(Math.min(...times))}`;
    return [
      atMost("first numbers on screen, cold browser, median", median(times), 700),
      // Other processes on the machine slow down the runs. The quickest run is affected least.
      line("first numbers on screen, cold browser, the quickest run", "", quickest, null),
    ];
  },
};
