// Tests members (worker processes) whose clocks are an hour ahead, are an hour behind, or jump. The database's time
// alone must decide when jobs start and which workers are stale.
import type { JobToAdd } from "../../../../src/domain/job-spec.ts";
import type { Random } from "../../../support/random-calls.ts";
import { machineTime } from "../../../worker/run-log.ts";
import { freedAfter } from "../../../worker/runs.ts";
import { randomJob } from "../../../worker/workload.ts";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { type FakeClock, fakeClock } from "./fake-time.ts";

const HOUR_S = 3_600;
const STEPS_S = [HOUR_S, -HOUR_S, 0, 5, -5] as const;

/** The maximum delay of the start of a scheduled job, in milliseconds. Members poll every 2 s. */
const STARTED = { most: 2_500 };
const FREED = { most: 10_000 };
/** A tolerance, because machineTime() and Date.now() are read one after the other when a due time is set. */
const READING_MS = 20;

export async function wrongClocks(field: Field, server: Server): Promise<void> {
  const stands = await field.stands(server, { name: "clocks" });
  await field.each(stands, async (stand) => {
    const name = (which: string) => `${stand.mode.name}-${which}`;
    const clock = (which: string, seconds: number) =>
      fakeClock(field.directory, name(which), seconds);
    const stepping = clock("stepping", 0);
    const [right] = await stand.hire(1);
    await stand.hire(1, { env: clock("ahead", HOUR_S).env });
    await stand.hire(1, { env: clock("behind", -HOUR_S).env });
    await stand.hire(1, { env: stepping.env });
    const dueAt = new Map<string, number>();
    stand.load(20, { make: (n, producer, dice) => scheduled(n, producer, dice, dueAt) });
    await stepAbout(field, stand, stepping);
    // After this kill, only members with wrong clocks are left to recover the killed member's jobs.
    if (right !== undefined) await stand.kill(right);
    await field.outage(2_000);
    await stand.end();
    for (const { ms } of freedAfter(stand.runs())) {
      stand.figure("with wrong clocks, the jobs of a killed worker run again", ms, FREED);
    }
    for (const { n, attempt, from } of stand.runs()) {
      const due = dueAt.get(n);
      if (due === undefined || attempt > 1) continue;
      if (from < due - READING_MS) stand.problem(`${n} started ${due - from} ms before its time`);
      stand.figure(
        "with wrong clocks, from the due time of a job to its start",
        from - due,
        STARTED,
      );
    }
  });
}

/** Returns a job. One job in three, at random, is due in a second and a half, and its due time is added to `dueAt`. */
function scheduled(
  n: string,
  producer: string,
  dice: Random,
  dueAt: Map<string, number>,
): JobToAdd {
  if (dice(3) > 0) return randomJob(n, producer, dice);
  const inMs = 1_500;
  dueAt.set(n, machineTime() + inMs);
  const runAt = new Date(Date.now() + inMs);
  return { identifier: "single", payload: { n, ms: 1, failures: 0, children: 0 }, spec: { runAt } };
}

/** Sets the clock to a random offset every 2.5 seconds. An offset takes effect within 2 s. */
async function stepAbout(field: Field, { mode, dice }: Stand, clock: FakeClock): Promise<void> {
  for (let step = 0; step < field.times(20, 3); step++) {
    clock.step(STEPS_S[dice(STEPS_S.length)] ?? 0);
    await field.outage(2_500);
  }
  field.say(`${mode.name}: one clock has jumped repeatedly`);
}
