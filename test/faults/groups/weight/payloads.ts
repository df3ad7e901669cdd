// Tests the memory of a worker that runs jobs with payloads of 50 MB. The worker keeps only those jobs in memory that
// run or are fetched ahead, not all ready jobs.
import { readFileSync } from "node:fs";
import type { Field } from "../../field/field.ts";

const MEGABYTES = 50;
const JOBS = 16;
const MAX_MB = 2_000;

export async function payloads(field: Field): Promise<void> {
  const server = await field.server();
  const stands = await field.stands(server, {
    modes: ["safe", "fast"],
    options: { concurrency: 2 },
    name: "-payloads",
  });
  // The stands run one after another, because they share the machine's memory.
  for (const stand of stands) {
    await field.each([stand], async () => {
      const filler = "x".repeat(MEGABYTES * 1_000_000);
      for (let n = 0; n < JOBS; n++) {
        const name = `large-${n}`;
        const rows = await stand.sql<{ id: string }>(
          `select id::text from worker.add_job('single',
            json_build_object('n', $1::text, 'ms', 0, 'failures', 0, 'children', 0, 'filler', $2::text))`,
          [name, filler],
        );
        stand.log.write({ e: "added", n: name, job: rows[0]?.id ?? "" });
      }
      const [member] = await stand.hire();
      const before = peakMb(member?.pid ?? 0);
      await stand.until(
        "all large jobs are done",
        async () => {
          return (await stand.sql("select from worker._private_jobs limit 1")).length === 0;
        },
        120_000,
      );
      const peak = peakMb(member?.pid ?? 0);
      stand.figure(`peak of memory, ${JOBS} payloads of ${MEGABYTES} MB`, peak, {
        most: MAX_MB,
        unit: "MB",
      });
      stand.figure("peak before", before, { unit: "MB" });
      await stand.end();
    });
  }
}

function peakMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}
