// Jobs that kill their process, by kill -9, by process.exit, by taking all memory that V8 gives, and all that
// a control group gives, in fleets of one, two and six, which a supervisor starts again at once, or nobody
// does before all are dead.
import type { Duty, Harm } from "../../worker/workload.ts";
import { record } from "../../worker/workload.ts";
import { type MemoryBound, memoryBound } from "../field/cgroup.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Member } from "../field/member.ts";
import type { Stand } from "../field/stand.ts";

const HARMS: readonly Harm[] = ["kill", "exit", "memory", "machine memory"];
/** Of a member: what V8 gives its objects, and what the kernel gives it altogether. */
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
/** Poisons, each of which is freed after each death, one after another in the worst case. */
const EXHAUSTED_MS = 180_000;
const DEATHS = { most: MAX_ATTEMPTS + 1, unit: "" } as const;

export const group: FaultGroup = {
  name: "poison",
  title: "jobs that kill their process, in fleets of 1, 2 and 6, with and without a supervisor",
  limitMinutes: 10,
  needs: ["root", "cgroup of memory"],
  async run(field: Field) {
    const bounds: MemoryBound[] = [];
    // Last of all: nobody may be left in them.
    field.defer(() => bounds.map(({ remove }) => remove()));
    const server = await field.server();
    for (const [round, fleet] of FLEETS.slice(0, field.times(FLEETS.length, 2)).entries()) {
      const stands = await field.stands(server, { name: `-${round}` });
      field.say(`a fleet of ${fleet.size}, ${fleet.isSupervised ? "" : "not "}supervised`);
      await field.each(stands, (stand) => poisoned(stand, fleet, bounds));
    }
  },
};

async function poisoned(stand: Stand, fleet: Fleet, bounds: MemoryBound[]): Promise<void> {
  const utils = await stand.utils;
  const names = HARMS.map((harm) => ({ harm, n: `poison-${harm}` }));
  for (const { harm, n } of names) {
    const duty: Duty = { n, ms: 0, failures: 0, children: 0, harm };
    const spec = { maxAttempts: MAX_ATTEMPTS };
    record(await utils.addJob("harmful", duty, spec), stand.log);
  }
  const over = new AbortController();
  const keeping = keep(stand, fleet, bounds, over.signal);
  stand.load(10);
  const exhausted = `select from worker._private_jobs where locked_at is null
    and attempts >= max_attempts and payload::text like '%poison-%'`;
  try {
    await stand.until(
      "all poison is exhausted",
      async () => (await stand.sql(exhausted)).length === HARMS.length,
      EXHAUSTED_MS,
    );
  } finally {
    over.abort();
    await keeping;
  }
  const dead = stand.log.read().filter((entry) => entry.e === "dead");
  for (const { n } of names) {
    stand.figure(
      `deaths by one job of ${MAX_ATTEMPTS} attempts`,
      dead.filter((one) => one.n === n).length,
      DEATHS,
    );
  }
  await stand.hire();
  // Dead members' rows outlast them by a minute: they are waited for elsewhere.
  await stand.end({ lenient: { killed: true } });
}

/** Starts whoever died again: at once, or when nobody lives any more. */
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
