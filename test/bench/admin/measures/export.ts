// Everything that matches as a stream: how fast, and in how much memory, also to a slow reader.
import { setTimeout as pause } from "node:timers/promises";
import { atLeast, atMost, type Bench, line, type Measure, short } from "../measure.ts";

// Ten million rows take two minutes on a quiet machine.
const LONGEST_MS = 120_000;

async function grownDuring(bench: Bench, path: string, bytesPerSecond: number, ms: number) {
  const admin = await bench.freshAdmin();
  try {
    await admin.get("/api/session");
    await pause(500);
    const before = admin.rss_mb();
    let peak = before;
    const looking = setInterval(() => {
      peak = Math.max(peak, admin.rss_mb());
    }, 100);
    const read = await admin.drain(path, { bytesPerSecond, ms }).finally(() => {
      clearInterval(looking);
    });
    return { read, grown: peak - before };
  } finally {
    await admin.stop();
  }
}

export const exporting: Measure = {
  name: "export",
  needs: ["/api/export"],
  run: async (bench) => {
    const lines = [];
    for (const format of ["jsonl", "csv"]) {
      const path = `/api/export?format=${format}&payload=1`;
      const { read, grown } = await grownDuring(bench, path, Number.POSITIVE_INFINITY, LONGEST_MS);
      const perSecond = read.lines / (read.ms / 1_000);
      const isAll = read.lines >= bench.jobs;
      const whole = read.isWhole ? isAll : null;
      lines.push(
        line(`${format}: lines in ${short(read.ms / 1_000)} s`, "all", short(read.lines), whole),
      );
      lines.push(atLeast(`${format}: rows a second`, perSecond, 80_000, ""));
      lines.push(atMost(`${format}: memory`, grown, 100, "MB"));
    }
    const slow = await grownDuring(bench, "/api/export?format=jsonl&payload=1", 1_000_000, 30_000);
    lines.push(atMost("jsonl to a reader of 1 MB/s: memory", slow.grown, 100, "MB"));
    return lines;
  },
};
