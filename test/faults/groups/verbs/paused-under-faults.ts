// Queues, tasks and everything are paused and resumed all the time, while members are killed, replaced and frozen and
// PostgreSQL crashes. From the answer of a pause on, until before it is resumed, only workers that the answer names as
// missing may start its jobs.
import { setTimeout as sleep } from "node:timers/promises";
import { machineTime } from "../../../worker/run-log.ts";
import type { Run } from "../../../worker/runs.ts";
import type { Field } from "../../field/field.ts";
import type { Member } from "../../field/member.ts";
import type { Server } from "../../field/server.ts";
import type { Stand } from "../../field/stand.ts";
import { pause, resume, type Target } from "./targets.ts";

const DURATION_MS = 150_000;
const RESTARTS = 5;
/** Shorter and longer than a lease. */
const FROZEN_MS = [1_000, 4_000, 9_000] as const;
/** A stock worker acknowledges nothing: it starts a job that it has just fetched. */
const STOCK_MS = 1_000;

/** A pause between its answer and its end. */
interface Acknowledged {
  readonly target: Target;
  readonly from: number;
  readonly to: number;
  readonly exempt: ReadonlySet<string>;
}

export async function pausedUnderFaults(
  field: Field,
  server: Server,
  stands: readonly Stand[],
): Promise<void> {
  const over = machineTime() + field.times(DURATION_MS, 10_000);
  const restarting = restarts(field, server, stands, over);
  await field.each(stands, async (stand) => {
    stand.load(20);
    const all = await Promise.all([
      pauses(stand, over, tasksOf(stand)),
      pauses(stand, over, queuesOf(stand)),
      kills(stand, over),
      freezes(stand, over),
    ]);
    judge(stand, [...all[0], ...all[1]]);
  });
  await restarting;
}

/** Graphile Worker's own workers obey the pause of a queue only. */
const tasksOf = ({ mode }: Stand): Target[] =>
  mode.stock
    ? []
    : [{ scope: "task", name: "single" }, { scope: "all" }, { scope: "task", name: "batch" }];

/** Of the producers of its first load. */
const queuesOf = ({ mode }: Stand): Target[] =>
  [0, 1].flatMap((producer) =>
    [0, 1, 2].map((queue): Target => {
      const slug = mode.name.replaceAll(" ", "-");
      return { scope: "queue", name: `${slug}-0-${producer}-q${queue}` };
    }),
  );

async function pauses(
  stand: Stand,
  over: number,
  targets: readonly Target[],
): Promise<Acknowledged[]> {
  const all: Acknowledged[] = [];
  while (machineTime() < over && targets.length > 0) {
    const target = targets[stand.dice(targets.length)] as Target;
    // Without an answer nothing is acknowledged.
    const paused = await pause(stand, target).catch(() => null);
    await sleep(300 + stand.dice(1_500));
    const to = machineTime();
    // While PostgreSQL restarts, the pause may or may not be committed.
    await stand.until("it is resumed", async () => {
      await resume(stand, target);
      return true;
    });
    if (paused !== null) {
      const { answeredAt: from, waitingFor } = paused;
      all.push({ target, from, to, exempt: new Set(waitingFor) });
      stand.figure("a pause under faults is answered", from - paused.calledAt, { most: 6_000 });
    }
    await sleep(100 + stand.dice(700));
  }
  return all;
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

function judge(stand: Stand, windows: readonly Acknowledged[]): void {
  const queueOf = new Map<string, string>();
  for (const entry of stand.log.read()) {
    if (entry.e === "added" && entry.queue !== undefined) queueOf.set(entry.job, entry.queue);
  }
  const runs = stand.runs();
  const idsOf = new Map(stand.members.map((member) => [member.by, idsOfMember(member)]));
  const stock = new Set(stand.members.filter(({ isStock }) => isStock).map(({ by }) => by));
  let [early, exempted] = [0, 0];
  for (const { target, from, to, exempt } of windows) {
    const name = target.scope === "all" ? "everything" : `${target.scope} ${target.name}`;
    for (const run of runs.filter((one) => one.from > from && one.from < to)) {
      if (!isOf(target, run, queueOf) || (stock.has(run.by) && run.from < from + STOCK_MS))
        continue;
      if (idsOf.get(run.by)?.some((id) => exempt.has(id))) {
        exempted++;
        continue;
      }
      early++;
      const after = `${(run.from - from).toFixed(1)} ms after its pause was acknowledged`;
      stand.problem(`${name}: ${run.n} (job ${run.job}) started on ${run.by} ${after}`);
    }
  }
  stand.figure("acknowledged pauses", windows.length, { least: 1, unit: "" });
  stand.figure("jobs that started after one", early, { most: 0, unit: "" });
  stand.figure("jobs that started on workers named as missing", exempted, { unit: "" });
}

function isOf(target: Target, { n, job }: Run, queueOf: ReadonlyMap<string, string>): boolean {
  switch (target.scope) {
    case "all":
      return true;
    case "queue":
      return queueOf.get(job) === target.name;
    case "task":
      return (n.startsWith("batch ") ? "batch" : "single") === target.name;
    default:
      return target satisfies never;
  }
}

/** Its first lease, and those that followed a lost one. */
function idsOfMember({ workerId, events }: Member): string[] {
  const later = events.filter(({ event }) => event === "leaseLost");
  return [workerId, ...later.map(({ newWorkerId }) => String(newWorkerId))];
}
