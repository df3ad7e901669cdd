// Measures the export of all jobs as a stream: the number of rows per second, and by how much the memory of the admin
// grows. The growth of the memory is also measured with a slow reader.
import { setTimeout as pause } from "node:timers/promises";
import { atLeast, atMost, type Bench, line, type Measure, short } from "../measure.ts";

// The time limit of an export at full speed. At 80,000 rows a second it is enough for 9.6 million rows.
const MAX_MS = 120_000;

/**
 * The byte that is counted to find the number of lines. In CSV a value may contain line feeds, so the carriage returns
 * at the ends of the lines are counted. No value of these jobs contains a carriage return.
 */
const lineEnds = { jsonl: 10, csv: 13 };
type Format = keyof typeof lineEnds;

async function grownDuring(bench: Bench, format: Format, bytesPerSecond: number, ms: number) {
  const admin = await bench.freshAdmin();
  try {
    await admin.get("/api/session");
    await pause(500);
    const before = admin.rss_mb();
    const path = `/api/export?format=${format}&payload=1`;
    const read = await admin.drain(path, { bytesPerSecond, ms }, lineEnds[format]);
    return { read, grown: admin.peak_mb() - before };
  } finally {
    await admin.stop();
  }
}

export const exporting: Measure = {
  name: "export",
  needs: ["/api/export"],
  run: async (bench) => {
    const lines = [];
    // `bench.jobs` is only an estimate, so the jobs are counted.
    const { rows } = await bench.db.query(`select count(*) from ${bench.schema}._private_jobs`);
    const jobs = Number(rows[0].count);
    for (const format of ["jsonl", "csv"] as const) {
      const { read, grown } = await grownDuring(bench, format, Number.POSITIVE_INFINITY, MAX_MS);
      const perSecond = read.lines / (read.ms / 1_000);
      // The first line of CSV has the names of the columns.
      const isAll = read.lines === (format === "csv" ? jobs + 1 : jobs);
      const whole = read.isWhole ? isAll : null;
      lines.push(
        line(`${format}: lines in ${short(read.ms / 1_000)} s`, "all", short(read.lines), whole),
      );
      lines.push(atLeast(`${format}: rows a second`, perSecond, 80_000, ""));
      lines.push(atMost(`${format}: memory`, grown, 100, "MB"));
    }
    const slow = await grownDuring(bench, "jsonl", 1_000_000, 30_000);
    lines.push(atMost("jsonl to a reader of 1 MB/s: memory", slow.grown, 100, "MB"));
    return lines;
  },
};
