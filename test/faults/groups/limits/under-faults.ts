// Runs jobs under all limits except `rated`, and some jobs without a limit. Meanwhile members are killed, replaced and
// frozen, and PostgreSQL crashes.
import type { JobToAdd } from "../../../../src/domain/job-spec.ts";
import type { Random } from "../../../support/random-calls.ts";
import { machineTime } from "../../../worker/run-log.ts";
import { randomJob } from "../../../worker/workload.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { crashes, freezes, kills } from "../../field/turmoil.ts";
import { jobOf, TENANTS } from "./limits.ts";

const DURATION_MS = 150_000;
const CRASHES = 5;
/** Jobs added to each stand per second. */
const RATE = 70;

export async function underFaults(
  field: Field,
  server: Server,
  stands: readonly Stand[],
): Promise<void> {
  const over = machineTime() + field.times(DURATION_MS, 12_000);
  const crashing = crashes(field, server, stands, { count: field.times(CRASHES, 1), over });
  await field.each(stands, async (stand) => {
    stand.load(RATE, { make });
    await Promise.all([kills(stand, over), freezes(stand, over)]);
  });
  await crashing;
}

/**
 * Returns a job. Jobs of the tasks `ten` and `three` are added almost as fast as their limits allow without faults:
 * 24.5 jobs of `ten` per second, of at most 28.6, and 14 jobs of `three` per second, of at most 15. Two of the tenants
 * have more than half of all tenants' jobs.
 */
function make(n: string, producer: string, dice: Random): JobToAdd {
  const failures = dice(25) === 0 ? 1 : 0;
  const sort = dice(100);
  if (sort < 35) return jobOf("ten", n, 350, failures);
  if (sort < 55) return jobOf("three", n, 200, failures);
  if (sort < 60) return jobOf("trickle", n, 50, failures);
  if (sort < 68) return jobOf(dice(2) === 0 ? "mail_a" : "mail_b", n, 400, failures);
  if (sort < 95) return jobOf(`tenant/${dice(dice(2) === 0 ? 2 : TENANTS)}`, n, 250, failures);
  return randomJob(n, producer, dice);
}
