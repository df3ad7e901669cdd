// Injects faults until the time `over` of the clock machineTime(), or for some seconds longer. After each random pause,
// kills() kills a member and starts another, and freezes() freezes a member for some seconds. A member is a worker in a
// process of its own. crashes() kills and restarts PostgreSQL at equal intervals.
import { setTimeout as sleep } from "node:timers/promises";
import { machineTime } from "../../worker/run-log.ts";
import type { Field } from "./field.ts";
import type { Member } from "./member.ts";
import type { Server } from "./server.ts";
import type { Stand } from "./stand.ts";

/** How long a member is frozen: two of the durations are shorter than a lease (7 s), one is longer. */
const FROZEN_MS = [1_000, 4_000, 9_000] as const;

export async function kills(stand: Stand, over: number): Promise<void> {
  while (machineTime() < over) {
    await sleep(1_000 + stand.dice(3_000));
    await stand.kill(ofOurs(stand));
    // The start of a new member is repeated, because it fails while PostgreSQL restarts.
    await stand.until("a killed member is replaced", async () => (await stand.hire()).length > 0);
  }
}

export async function freezes(stand: Stand, over: number): Promise<void> {
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

export function ofOurs({ living, dice }: Stand): Member {
  const all = living.filter(({ isStock }) => !isStock);
  return all[dice(all.length)] as Member;
}

/** Kills and restarts PostgreSQL `count` times, at equal intervals until `over`. */
export async function crashes(
  field: Field,
  server: Server,
  stands: readonly Stand[],
  { count, over }: { readonly count: number; readonly over: number },
): Promise<void> {
  const everyMs = (over - machineTime()) / (count + 1);
  for (let n = 0; n < count; n++) {
    await field.outage(everyMs);
    for (const { log } of stands) log.fault();
    await server.kill();
    await server.start();
    field.say(`crash ${n + 1} of ${count}: PostgreSQL runs again`);
  }
}
