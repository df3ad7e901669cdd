// A thousand viewers: memory, and how much work a tick to all of them is, beside what the bare writes
// take on this machine.
import { setTimeout as pause } from "node:timers/promises";
import type { AdminProcess, Stream } from "../admin-process.ts";
import { atMost, line, type Measure, ms } from "../measure.ts";
import { writeFloorMs } from "../write-floor.ts";

const VIEWERS = 1_000;
const WINDOW_MS = 30_000;
const PATH = "/api/events?events=pulse";

/** CPU of the admin in a while, and how many ticks there were in it. */
async function watched(admin: AdminProcess, one: Stream | null) {
  const [cpu, ticks] = [admin.cpu_s(), one?.events ?? 0];
  await pause(WINDOW_MS);
  return { cpuMs: (admin.cpu_s() - cpu) * 1_000, ticks: (one?.events ?? 0) - ticks };
}

export const manyViewers: Measure = {
  name: "many viewers",
  needs: ["/api/events"],
  run: async (bench) => {
    const limits = ["viewers", "viewersPerClient", "connections"].flatMap((name) => [
      "--limit",
      `${name}=${2 * VIEWERS}`,
    ]);
    const floorMs = await writeFloorMs(VIEWERS);
    const admin = await bench.freshAdmin(limits);
    try {
      const one = await admin.watch(PATH);
      await pause(5_000);
      const alone = await watched(admin, one);
      const rss = admin.rss_mb();
      const others = Array.from({ length: VIEWERS - 1 }, () => admin.watch(PATH));
      const open = (await Promise.all(others)).filter((stream) => stream !== null);
      await pause(5_000);
      const all = await watched(admin, one);
      const grown = admin.rss_mb() - rss;
      for (const stream of open) stream.close();
      await pause(2_000);
      const aloneAgain = await watched(admin, one);
      one?.close();
      // What it reads costs the same for one viewer.
      const readingMs = (alone.cpuMs + aloneAgain.cpuMs) / 2;
      const tickMs = Math.max(0, all.cpuMs - readingMs) / Math.max(1, all.ticks);
      return [
        line("viewers admitted", `${VIEWERS}`, `${open.length + 1}`, open.length + 1 === VIEWERS),
        atMost("memory of 1,000 viewers", grown, 60, "MB"),
        atMost("CPU of a tick to 1,000 viewers", tickMs, 10),
        line("the same, bare writes to 1,000 sockets", "", ms(floorMs), null),
      ];
    } finally {
      await admin.stop();
    }
  },
};
