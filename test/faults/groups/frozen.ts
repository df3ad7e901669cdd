// A worker is frozen by SIGSTOP for longer than its lease, while other workers run its jobs. After SIGCONT it starts no
// job whose lock it has lost, overwrites no results of other workers, and ends on one SIGTERM.
import { machineTime } from "../../worker/run-log.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Member } from "../field/member.ts";
import type { Stand } from "../field/stand.ts";

const FROZEN_MS = 12_000;
const FREED = { most: 10_000 };
const GONE = { most: 3_000 };

export const group: FaultGroup = {
  name: "frozen",
  title: "SIGSTOP past the lease, SIGCONT, one SIGTERM",
  limitMinutes: 6,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const stands = await field.stands(server);
    await field.each(stands, async (stand) => {
      await stand.hire(2);
      stand.load(30);
      for (let n = 0; n < field.times(6, 1); n++) await freeze(field, stand);
      await stand.end({ lenient: { leaseLost: true } });
    });
  },
};

async function freeze(field: Field, stand: Stand): Promise<void> {
  const [victim] = await stand.hire();
  if (victim === undefined) return;
  await stand.until("the worker runs jobs", () => stand.runs(victim.by).length > 10);
  stand.log.fault(victim.by);
  victim.signal("SIGSTOP");
  const stoppedAt = machineTime();
  await field.outage(FROZEN_MS);
  const held = stand.runs(victim.by).filter(({ to }) => to === Number.POSITIVE_INFINITY);
  const replaced = replacedOnes(stand);
  for (const { n } of held.filter((run) => !replaced.has(run.n))) {
    const next = stand.runs().find((run) => run.n === n && run.from > stoppedAt);
    if (next === undefined) stand.problem(`${n} was not recovered while ${victim.by} was frozen`);
    else stand.figure("a job of a frozen worker is recovered", next.from - stoppedAt, FREED);
  }
  const wokenAt = machineTime();
  victim.signal("SIGCONT");
  stand.log.fault(victim.by);
  await stand.until("the resumed worker runs jobs again", () =>
    stand.runs(victim.by).some(({ from }) => from > wokenAt + 1_000),
  );
  staleStarts(stand, victim, stoppedAt, wokenAt);
  stand.figure("a resumed worker ends after one SIGTERM", await victim.stop(), GONE);
  const { code, signal } = await victim.exited;
  if (code !== 0)
    stand.problem(`after SIGCONT and SIGTERM, ${victim.by} ended with ${signal ?? code}`);
}

/**
 * Returns the jobs whose key a later add has used again. If such a job is running at the time of that add, it gets no
 * further attempt, as in Graphile Worker, so it is not recovered.
 */
function replacedOnes(stand: Stand): Set<string> {
  const added = stand.log.read().filter((entry) => entry.e === "added");
  const newest = new Map(added.map(({ n, key }) => [key ?? n, n]));
  return new Set(added.flatMap(({ n, key }) => (newest.get(key ?? n) === n ? [] : [n])));
}

/** Reports jobs that the resumed worker started after another worker had started the same attempt or a later one. */
function staleStarts(stand: Stand, { by }: Member, stoppedAt: number, wokenAt: number): void {
  const runs = stand.runs();
  for (const run of runs.filter((one) => one.by === by && one.from > wokenAt)) {
    const other = runs.find(
      (one) =>
        one.by !== by &&
        one.n === run.n &&
        one.from > stoppedAt &&
        one.from < run.from &&
        one.attempt >= run.attempt,
    );
    if (other !== undefined) {
      stand.problem(
        `${by} started attempt ${run.attempt} of ${run.n} after ${other.by} had started attempt ${other.attempt}`,
      );
    }
  }
}
