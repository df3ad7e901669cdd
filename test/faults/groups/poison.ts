// Runs jobs that end their process. In a supervised fleet, an ended worker is restarted at once. In the other fleets,
// the workers are restarted when all of them have ended.
import type { Behavior, Harm } from "../../worker/workload.ts";
import { record } from "../../worker/workload.ts";
import { type MemoryBound, memoryBound } from "../field/cgroup.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Member } from "../field/member.ts";
import type { Stand } from "../field/stand.ts";

const HARMS: readonly Harm[] = ["kill", "exit", "machine memory"];
/** The harms in a fleet of one worker. `memory` fills V8's heap. */
const ALONE: readonly Harm[] = [...HARMS, "memory"];
/** Memory limits of a member: of V8's heap, and of the whole process. */
const [HEAP_MB, MEMORY_MB] = [100, 400];
const MAX_ATTEMPTS = 2;
const FLEETS = [
  { size: 1, isSupervised: true },
  { size: 2, isSupervised: true },
  { size: 6, isSupervised: true },
  { size: 1, isSupervised: false },
  { size: 2, isSupervised: false },
  { size: 6, isSupervised: false },
];
type Fleet = (typeof FLEETS)[number];
/** A short lease, so that each crash is detected soon. */
const RECOVERY = { heartbeatIntervalMs: 500, thresholdMs: 2_000 };
const EXHAUSTED_MS = 90_000;
const DEATHS = { least: 1, most: MAX_ATTEMPTS + 1, unit: "" } as const;

export const group: FaultGroup = {
  name: "poison",
  title: "jobs that kill their process, in fleets of 1, 2 and 6, with and without a supervisor",
  limitMinutes: 10,
  needs: ["root", "cgroup of memory"],
  async run(field: Field) {
    const bounds: MemoryBound[] = [];
    // The control groups are removed last, because only a group without processes can be removed.
    field.defer(() => Promise.all(bounds.map(({ remove }) => remove())));
    const server = await field.server();
    for (const [round, fleet] of FLEETS.slice(0, field.times(FLEETS.length, 2)).entries()) {
      const stands = await field.stands(server, { name: `-${round}`, recovery: RECOVERY });
      field.say(`a fleet of ${fleet.size}, ${fleet.isSupervised ? "" : "not "}supervised`);
      await field.each(stands, (stand) => poisoned(stand, fleet, bounds));
    }
  },
};

async function poisoned(stand: Stand, fleet: Fleet, bounds: MemoryBound[]): Promise<void> {
  const over = new AbortController();
  const keeping = keep(stand, fleet, bounds, over.signal);
  stand.load(10);
  try {
    // One after another, because the death of a process uses up an attempt of each of its jobs.
    for (const harm of fleet.size === 1 ? ALONE : HARMS) await exhaust(stand, harm);
  } finally {
    over.abort();
    await keeping;
  }
  await stand.hire();
  // end() waits up to about a minute until the heartbeat rows of killed members are deleted.
  await stand.end({ lenient: { killed: true } });
}

async function exhaust(stand: Stand, harm: Harm): Promise<void> {
  const behavior: Behavior = { n: `poison-${harm}`, ms: 0, failures: 0, children: 0, harm };
  const utils = await stand.utils;
  const job = await utils.addJob("harmful", behavior, { maxAttempts: MAX_ATTEMPTS });
  record(job, stand.log);
  const exhausted = `select from worker._private_jobs
    where id = $1 and locked_at is null and attempts >= max_attempts`;
  const isExhausted = async () => (await stand.sql(exhausted, [job.id])).length > 0;
  await stand.until(`${behavior.n} is exhausted`, isExhausted, EXHAUSTED_MS);
  const deaths = stand.log.read().filter((entry) => entry.e === "dead" && entry.n === behavior.n);
  stand.figure(`processes ended by one job with ${MAX_ATTEMPTS} attempts`, deaths.length, DEATHS);
}

/** Starts the fleet, and restarts ended members until `over` aborts. */
async function keep(
  stand: Stand,
  { size, isSupervised }: Fleet,
  bounds: MemoryBound[],
  over: AbortSignal,
): Promise<void> {
  const nodeArgs = [`--max-old-space-size=${HEAP_MB}`];
  const one = async (): Promise<Member | null> => {
    const bound = memoryBound(MEMORY_MB);
    bounds.push(bound);
    const changes = { nodeArgs, command: bound.command };
    return (await stand.hire(1, changes).catch(() => []))[0] ?? null;
  };
  let fleet = await Promise.all(Array.from({ length: size }, one));
  const isDead = (member: Member | null) => member === null || member.exit !== null;
  while (!over.aborted) {
    const mayStart = isSupervised || fleet.every(isDead);
    if (mayStart)
      fleet = await Promise.all(fleet.map((member) => (isDead(member) ? one() : member)));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
