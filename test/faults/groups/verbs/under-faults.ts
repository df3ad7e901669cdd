// A fleet whose members are killed, replaced and frozen, on a PostgreSQL that crashes, while jobs are paused, resumed and
// cancelled.
import { setTimeout as sleep } from "node:timers/promises";
import { machineTime } from "../../../worker/run-log.ts";
import type { Field } from "../../field/field.ts";
import type { Member } from "../../field/member.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { cancels, judgeCancels } from "./cancels.ts";
import { judgePauses, pauses, queuesOf, tasksOf } from "./pauses.ts";

const DURATION_MS = 150_000;
const RESTARTS = 5;
/** Shorter and longer than a lease. */
const FROZEN_MS = [1_000, 4_000, 9_000] as const;

export async function underFaults(
  field: Field,
  server: Server,
  stands: readonly Stand[],
): Promise<void> {
  const over = machineTime() + field.times(DURATION_MS, 10_000);
  const restarting = restarts(field, server, stands, over);
  await field.each(stands, async (stand) => {
    stand.load(20);
    const [ofTasks, ofQueues, cancelled] = await Promise.all([
      pauses(stand, over, tasksOf(stand)),
      pauses(stand, over, queuesOf(stand)),
      cancels(stand, over),
      kills(stand, over),
      freezes(stand, over),
    ]);
    judgePauses(stand, [...ofTasks, ...ofQueues]);
    judgeCancels(stand, cancelled);
  });
  await restarting;
}

async function kills(stand: Stand, over: number): Promise<void> {
  while (machineTime() < over) {
    await sleep(1_000 + stand.dice(3_000));
    await stand.kill(ofOurs(stand));
    // None can start while PostgreSQL restarts.
    await stand.until("it is replaced", async () => (await stand.hire()).length > 0);
  }
}

async function freezes(stand: Stand, over: number): Promise<void> {
  while (machineTime() < over) {
    await sleep(500 + stand.dice(2_000));
    const member = ofOurs(stand);
    stand.log.fault(member.by);
    member.signal("SIGSTOP");
    await sleep(FROZEN_MS[stand.dice(FROZEN_MS.length)] ?? 0);
    member.signal("SIGCONT");
    stand.log.fault(member.by);
  }
}

function ofOurs({ living, dice }: Stand): Member {
  const all = living.filter(({ isStock }) => !isStock);
  return all[dice(all.length)] as Member;
}

async function restarts(
  field: Field,
  server: Server,
  stands: readonly Stand[],
  over: number,
): Promise<void> {
  const count = field.times(RESTARTS, 1);
  const everyMs = (over - machineTime()) / (count + 1);
  for (let n = 0; n < count; n++) {
    await field.outage(everyMs);
    for (const { log } of stands) log.fault();
    await server.kill();
    await server.start();
    field.say(`PostgreSQL has crashed and is back, ${n + 1} of ${count}`);
  }
}
