// Tests that the jobs of killed workers are recovered. First, few workers live as long as a lease. Then all workers are
// killed at once, and new workers start.
import type { JobToAdd } from "../../../src/domain/job-spec.ts";
import type { Random } from "../../support/random-calls.ts";
import { machineTime } from "../../worker/run-log.ts";
import { freedAfter, type Run } from "../../worker/runs.ts";
import { randomJob } from "../../worker/workload.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Stand } from "../field/stand.ts";

const SLOTS = 3;
const MEAN_LIFE_MS = 3_000;
const MAX_LIFE_MS = 9_000;
const FREED = { most: 12_000 };
/** Milliseconds from the kill of the whole fleet to its restart. */
const PAUSES = [0, 3_000, 15_000];

export const group: FaultGroup = {
  name: "fleet",
  title: "a fleet with a mean life of 3 s; the whole fleet killed and started again",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const stands = await field.stands(server);
    const unstableMs = field.times(60_000, 10_000);
    await field.each(stands, async (stand) => {
      stand.load(25, { make: withLongOnes });
      await unstable(stand, machineTime() + unstableMs);
      field.say(`${stand.mode.name}: ${stand.members.length} workers were started and killed`);
      for (const { ms } of freedAfter(stand.runs())) {
        stand.figure(
          "jobs of killed workers run again, in a fleet with a mean life of 3 s",
          ms,
          FREED,
        );
      }
      for (const pauseMs of PAUSES.slice(0, field.times(3, 1)))
        await restart(field, stand, pauseMs);
      // New workers run the remaining jobs.
      await stand.hire(2);
      await stand.end();
    });
  },
};

/** About one job in eight takes 600 ms, so that many workers run a job when they are killed. */
function withLongOnes(n: string, producer: string, dice: Random): JobToAdd {
  if (dice(8) > 0) return randomJob(n, producer, dice);
  return { identifier: "single", payload: { n, ms: 600, failures: 0, children: 0 } };
}

async function unstable(stand: Stand, untilMs: number): Promise<void> {
  const slots = Array.from({ length: SLOTS }, async () => {
    while (machineTime() < untilMs) {
      const [member] = await stand.hire();
      if (member === undefined) return;
      const share = (stand.dice(1_000) + 1) / 1_001;
      const lifeMs = Math.min(MAX_LIFE_MS, -Math.log(share) * MEAN_LIFE_MS);
      await new Promise((resolve) => setTimeout(resolve, lifeMs));
      await stand.kill(member);
    }
  });
  await Promise.all(slots);
}

async function restart(field: Field, stand: Stand, pauseMs: number): Promise<void> {
  const fleet = await stand.hire(SLOTS);
  await stand.until("all workers have run jobs", () =>
    fleet.every(({ by }) => stand.runs(by).length > 5),
  );
  await Promise.all(fleet.map((member) => stand.kill(member)));
  await field.outage(pauseMs);
  const [first, ...others] = Array.from({ length: SLOTS }, () => stand.hire());
  await Promise.race([first, ...others]);
  // The time of the first start is left out, because it depends on the machine.
  const from = machineTime();
  const next = (await Promise.all([first, ...others])).flatMap((hired) => hired ?? []);
  const names = new Set(fleet.map(({ by }) => by));
  const isFinal = finalOnes(stand);
  const waiting = (run: Run) => names.has(run.by) && run.died && !isFinal(run);
  const freed = () => freedAfter(stand.runs()).filter(({ run }) => waiting(run));
  const running = stand.runs().filter(waiting).length;
  await stand.until(
    "all jobs that were running run again",
    () => freed().length >= running,
    60_000,
  );
  for (const { run, ms } of freed()) {
    stand.figure(
      "jobs of killed workers run again, after a restart of the whole fleet",
      run.to + ms - from,
      FREED,
    );
  }
  await Promise.all(next.map((member) => stand.kill(member)));
}

/**
 * Returns a function that tests whether a run may be the last run of its job: the attempt is the last, or the job is a
 * batch, has a key, or was added without an acknowledgement. A newer job may replace a job with a key.
 */
function finalOnes(stand: Stand): (run: Run) => boolean {
  const triesOf = new Map<string, number>();
  for (const entry of stand.log.read()) {
    if (entry.e === "added" && entry.key === undefined) triesOf.set(entry.n, entry.max ?? Infinity);
  }
  return ({ n, attempt }) => attempt >= (triesOf.get(n) ?? 0);
}
