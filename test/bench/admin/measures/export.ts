// Everything that matches as a stream: how fast, and in how much memory, also to a slow reader.
import { setTimeout as pause } from "node:timers/promises";
import { atLeast, atMost, type Bench, line, type Measure } from "../measure.ts";

async function grownDuring(bench: Bench, path: string, bytesPerSecond?: number, limitMs?: number) {
  const admin = await bench.freshAdmin();
  try {
    await admin.get("/api/session");
    await pause(500);
    const before = admin.rss_mb();
    let peak = before;
    let isOver = false;
    const reading = admin.drain(path, bytesPerSecond).finally(() => {
      isOver = true;
    });
    const until = performance.now() + (limitMs ?? 3_600_000);
    while (!isOver && performance.now() < until) {
      await pause(100);
      peak = Math.max(peak, admin.rss_mb());
    }
    if (!isOver) reading.catch(() => {});
    return { read: isOver ? await reading : null, grown: peak - before };
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
      const { read, grown } = await grownDuring(bench, `/api/export?format=${format}&payload=1`);
      if (read === null) continue;
      const perSecond = read.lines / (read.ms / 1_000);
      const isWhole = read.lines >= bench.jobs;
      lines.push(line(`${format}: lines`, `≥ ${bench.jobs}`, String(read.lines), isWhole));
      lines.push(atLeast(`${format}: rows a second`, perSecond, 80_000, ""));
      lines.push(atMost(`${format}: memory`, grown, 100, "MB"));
    }
    const slow = await grownDuring(bench, "/api/export?format=jsonl&payload=1", 1_000_000, 30_000);
    lines.push(atMost("jsonl to a reader of 1 MB/s: memory", slow.grown, 100, "MB"));
    return lines;
  },
};
