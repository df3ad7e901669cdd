// The database's clock, which decides when jobs are due, jumps to an hour ahead of the true time, back to it, and to an
// hour behind it. Despite the jumps, no running worker may be treated as stale, and in the safe mode no job may run
// twice.
import { join } from "node:path";
import type { JobToAdd } from "../../../../src/domain/job-spec.ts";
import type { Random } from "../../../support/random-calls.ts";
import type { Field } from "../../field/field.ts";
import { fakeClock, serverWith } from "./fake-time.ts";

const HOUR_S = 3_600;
/** The last step sets the clock ahead, so that jobs that were added before a step back become due again. */
const STEPS_S = [HOUR_S, 0, -HOUR_S, 0, HOUR_S];
/** Longer than a lease. */
const STEP_MS = 10_000;

export async function jumpingServer(field: Field): Promise<void> {
  const clock = fakeClock(field.directory, "server", 0);
  const binaries = serverWith(clock, join(field.directory, "faked"));
  const server = await field.server({ binaries });
  const stands = await field.stands(server, { name: "jumps" });
  await field.each(stands, async (stand) => {
    await stand.hire(3);
    stand.load(10, { make: job });
  });
  for (const seconds of STEPS_S) {
    // PostgreSQL measures its timeouts by this clock, so a step ahead ends the open transactions of fast lanes.
    for (const { log } of stands) log.fault();
    clock.step(seconds);
    await field.outage(STEP_MS);
    field.say(`the database's clock is ${seconds} s off`);
  }
  await field.each(stands, async (stand) => {
    await stand.end();
    if (stand.leasesLost > 0)
      stand.problem(`${stand.leasesLost} running workers were treated as stale`);
  });
}

/**
 * Returns a job without a named queue. In a named queue, jobs that are added after a step back would run before jobs
 * that were added before the step.
 */
function job(n: string, _producer: string, dice: Random): JobToAdd {
  const ms = dice(20) === 0 ? 3_000 : 2;
  const failures = dice(10) === 0 ? 1 : 0;
  return { identifier: "single", payload: { n, ms, failures, children: 0 } };
}
