// Measures how long the first answer of a new admin takes, and how long later answers take, for /api/overview and
// /metrics. Also measures the CPU time that an admin and PostgreSQL need without viewers and with 1 or 200 viewers of
// the page, and how many bytes a second each viewer receives.
import { setTimeout as pause } from "node:timers/promises";
import { postgresCpu_s } from "../../engine/postgres-cpu.ts";
import type { AdminProcess } from "../admin-process.ts";
import {
  answerMs,
  atMost,
  type Bench,
  type Line,
  line,
  type Measure,
  ms,
  p95,
  short,
  statementMs,
} from "../measure.ts";
import { portSql } from "../port-sql.ts";

const WATCHED_S = 30;

/** Returns how many CPU cores the admin and PostgreSQL use together, on average, while `work` runs. */
async function coresDuring(
  { postmaster, ownBackends }: Bench,
  admin: AdminProcess,
  work: () => Promise<void>,
): Promise<number> {
  const before = admin.cpu_s() + postgresCpu_s(postmaster, ownBackends);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  return (admin.cpu_s() + postgresCpu_s(postmaster, ownBackends) - before) / seconds;
}

async function warm(bench: Bench, path: string): Promise<number> {
  await bench.admin.get(path);
  return p95(30, async () => {
    await pause(100);
    return answerMs(bench, path);
  });
}

async function first(bench: Bench, path: string): Promise<number> {
  const admin = await bench.freshAdmin();
  try {
    return await answerMs({ ...bench, admin }, path);
  } finally {
    await admin.stop();
  }
}

async function portOverview(bench: Bench): Promise<string> {
  const sql = portSql(bench.schema);
  let sum = 0;
  for (const text of [sql.counts, sql.queues, sql.workers]) sum += await statementMs(bench, text);
  return ms(sum);
}

export const overview: Measure = {
  name: "overview",
  needs: ["/api/overview", "/metrics"],
  run: async (bench) => [
    atMost("overview, first ever", await first(bench, "/api/overview"), 400),
    atMost(
      "overview, warm",
      await warm(bench, "/api/overview"),
      20,
      "ms",
      await portOverview(bench),
    ),
    atMost("metrics, first ever", await first(bench, "/metrics"), 400),
    atMost("metrics, warm", await warm(bench, "/metrics"), 20),
  ],
};

export const watching: Measure = {
  name: "watching",
  needs: ["/api/events"],
  run: async (bench) => {
    const admin = await bench.freshAdmin();
    const lines: Line[] = [];
    try {
      await pause(3_000);
      const idle = await coresDuring(bench, admin, () => pause(10_000));
      lines.push(atMost("cores, no viewers", idle, 0.02, ""));
      for (const viewers of [1, 200]) {
        const path = "/api/events?events=pulse,counts,incidents,horizon";
        const streams = await Promise.all(Array.from({ length: viewers }, () => admin.watch(path)));
        const open = streams.filter((stream) => stream !== null);
        await pause(5_000);
        const before = open[0]?.bytes ?? 0;
        const cores = await coresDuring(bench, admin, () => pause(WATCHED_S * 1_000));
        const bytes = (open[0]?.bytes ?? 0) - before;
        for (const stream of open) stream.close();
        if (open.length < viewers) {
          lines.push(line(`${viewers} viewers`, "all admitted", `${open.length}`, false));
        }
        lines.push(atMost(`cores, ${viewers} viewers`, cores, 0.15, ""));
        lines.push(
          line(
            `bytes a second for each viewer, ${viewers} viewers`,
            "",
            short(bytes / WATCHED_S),
            null,
          ),
        );
        await pause(2_000);
      }
    } finally {
      await admin.stop();
    }
    return lines;
  },
};
