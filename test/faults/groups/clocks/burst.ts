// Many jobs are due at the same moment. Checks that each job runs once, and that none starts before that moment.
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";

const JOBS = 100_000;
const DUE_IN_MS = 15_000;

export async function burst(field: Field, server: Server): Promise<void> {
  const stands = await field.stands(server, { name: "burst" });
  const jobs = field.times(JOBS, 1_000);
  // The modes are tested one after another, because together they would only compete for the processors.
  for (const stand of stands) {
    await field.each([stand], async () => {
      const due = machineTime() + field.times(DUE_IN_MS, 2_000);
      await addAll(stand, jobs, new Date(Date.now() + due - machineTime()));
      if (machineTime() > due) field.say(`${stand.mode.name}: adding the jobs took too long`);
      await stand.hire(2);
      await stand.until("all are done", async () => (await left(stand)) === 0);
      const runs = stand.runs();
      const early = runs.filter(({ from }) => from < due - 20).length;
      if (early > 0) stand.problem(`${early} jobs started before their time`);
      if (runs.length !== jobs) stand.problem(`${runs.length} runs of ${jobs} jobs`);
      stand.figure(
        `until ${jobs} jobs due at one moment have started`,
        (runs.at(-1)?.from ?? 0) - due,
      );
      await stand.end();
    });
  }
}

async function addAll(stand: Stand, count: number, runAt: Date): Promise<void> {
  const utils = await stand.utils;
  const jobs = Array.from({ length: count }, (_, index) => ({
    identifier: "single",
    payload: { n: `burst ${index}`, ms: 0, failures: 0, children: 0 },
    spec: { runAt },
  }));
  await utils.copyJobs(jobs);
  const added = await stand.sql<{ id: string; n: string }>(
    "select id::text, payload->>'n' as n from worker._private_jobs",
  );
  for (const { id: job, n } of added) stand.log.write({ e: "added", n, job });
}

async function left(stand: Stand): Promise<number> {
  const [row] = await stand.sql<{ count: number }>(
    "select count(*)::int as count from worker._private_jobs",
  );
  return row?.count ?? 0;
}
