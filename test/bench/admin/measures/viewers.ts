// Measures the memory that a thousand viewers (open streams of events) need, and the CPU time of sending one event to
// all of them. For comparison, also measures the CPU time of bare writes to a thousand sockets. Both CPU times are
// measured in a separate process that only sends (tick-server.ts), because the CPU time of the admin's reads varies by
// more than an event costs.
import { setTimeout as pause } from "node:timers/promises";
import { atMost, line, type Measure, ms } from "../measure.ts";
import { tickCostMs } from "../tick-cost.ts";

const VIEWERS = 1_000;
const PATH = "/api/events?events=pulse";

export const manyViewers: Measure = {
  name: "many viewers",
  needs: ["/api/events"],
  run: async (bench) => {
    const limits = ["viewers", "viewersPerClient", "connections"].flatMap((name) => [
      "--limit",
      `${name}=${2 * VIEWERS}`,
    ]);
    const tickMs = await tickCostMs("events", VIEWERS);
    const bareMs = await tickCostMs("writes", VIEWERS);
    const admin = await bench.freshAdmin(limits);
    try {
      const one = await admin.watch(PATH);
      // The first viewer connects before the memory is measured for the first time, so that the memory of the admin's
      // feed itself is not counted.
      await pause(25_000);
      const rss = admin.rss_mb();
      const others = Array.from({ length: VIEWERS - 1 }, () => admin.watch(PATH));
      const open = (await Promise.all(others)).filter((stream) => stream !== null);
      await pause(20_000);
      const grown = admin.rss_mb() - rss;
      for (const stream of [...open, one]) stream?.close();
      return [
        line("viewers admitted", `${VIEWERS}`, `${open.length + 1}`, open.length + 1 === VIEWERS),
        atMost("memory of 1,000 viewers", grown, 60, "MB"),
        atMost("CPU of an event to 1,000 viewers", tickMs, 10),
        line("CPU of bare writes to 1,000 sockets", "", ms(bareMs), null),
      ];
    } finally {
      await admin.stop();
    }
  },
};
