// Kills worker processes (members) at chosen packets, while other members run. The locks of a killed member must be
// removed in time, and its jobs must run on other members.
import { machineTime } from "../../worker/run-log.ts";
import { freedAfter } from "../../worker/runs.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { KillPoint } from "../field/kill-point.ts";
import type { Member } from "../field/member.ts";
import type { Stand } from "../field/stand.ts";

const KILLS = 50;
const SURVIVORS = 2;
const PHASES = ["before", "sent", "answered"] as const;

const LOCKED = { most: 10_000 };
const ROWS = { most: 5_000 };

export const group: FaultGroup = {
  name: "kill",
  title: "kill -9 at chosen points under load, with survivors",
  limitMinutes: 9,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const stands = await field.stands(server);
    await field.each(stands, async (stand) => {
      await stand.hire(SURVIVORS);
      stand.load(40);
      const deaths: Promise<Death>[] = [];
      for (let n = 0; n < field.times(KILLS, 6); n++) {
        deaths.push(lockedOfDead(stand, await killed(stand, n)));
        if (n % 10 === 9) field.say(`${stand.mode.name}: ${n + 1} workers were killed`);
      }
      const all = await Promise.all(deaths);
      await stand.end();
      measure(stand, all);
    });
  },
};

/** A member that was killed, or that stopped before the chosen packet. */
interface Death {
  /** The member's name in the log. */
  readonly by: string;
  /** The ids of the jobs that the member had locked, and the word `queue` for a named queue. */
  readonly locked: ReadonlySet<string>;
}

async function killed(stand: Stand, n: number): Promise<Member> {
  const phase = PHASES[n % PHASES.length] ?? "sent";
  // Every fourth member is killed while it stops. A member that stops sends few packets.
  const since = n % 4 === 3 ? "SIGTERM" : "start";
  const killAt: KillPoint = { phase, since, packet: 1 + stand.dice(since === "start" ? 60 : 2) };
  const [victim] = await stand.hire(1, { killAt });
  if (victim === undefined) throw new Error("no member was started");
  if (since === "SIGTERM") {
    await stand.until("it runs jobs", () => stand.runs(victim.by).length > 0);
    victim.signal("SIGTERM");
  }
  await victim.exited;
  return victim;
}

const POLL_MS = 50;

/** Waits until the killed member holds no locks, and measures the time since its death. */
async function lockedOfDead(stand: Stand, { by, workerId, exit }: Member): Promise<Death> {
  const locked = new Set<string>();
  // A member that stopped before the chosen packet has left no locks.
  if (exit?.signal !== "SIGKILL") return { by, locked };
  const from = exit.at;
  const text = `select id::text from worker._private_jobs where locked_by = $1
    union all select 'queue' from worker._private_job_queues where locked_by = $1`;
  await stand.until(`nothing is locked by ${by}`, async () => {
    const rows = await stand.sql<{ id: string }>(text, [workerId]);
    for (const { id } of rows) locked.add(id);
    // Just after the kill, a fetch that the member has sent may still lock jobs.
    return rows.length === 0 && machineTime() > from + POLL_MS;
  });
  if (locked.size > 0)
    stand.figure("locks of killed workers are removed", machineTime() - from, LOCKED);
  return { by, locked };
}

function measure(stand: Stand, deaths: readonly Death[]): void {
  const lockedBy = new Map(deaths.map(({ by, locked }) => [by, locked]));
  for (const { run, ms } of freedAfter(stand.runs())) {
    const isLocked = lockedBy.get(run.by)?.has(run.job) === true;
    if (isLocked)
      stand.figure("jobs of killed workers run elsewhere: held by locked_by", ms, LOCKED);
    else stand.figure("jobs of killed workers run elsewhere: held by row locks", ms, ROWS);
  }
}
