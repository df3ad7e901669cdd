// Pauses and resumes named queues, tasks and all jobs again and again. After the answer to a pause, only the workers in
// the answer's `waitingFor` may start paused jobs. Graphile workers may also start such jobs for STOCK_MS.
import { setTimeout as sleep } from "node:timers/promises";
import { machineTime } from "../../../worker/run-log.ts";
import type { Run } from "../../../worker/runs.ts";
import type { Member } from "../../field/member.ts";
import { slug } from "../../field/modes.ts";
import type { Stand } from "../../field/stand.ts";
import { pause, resume, type Target } from "./targets.ts";

/** For this time, Graphile workers may start jobs that they fetched before the pause. */
const STOCK_MS = 1_000;

/** A pause, from its answer to its end. */
interface AnsweredPause {
  readonly target: Target;
  readonly from: number;
  readonly to: number;
  readonly exempt: ReadonlySet<string>;
}

/** The targets that are not queues. Graphile workers apply only pauses of queues. */
export const tasksOf = ({ mode }: Stand): Target[] =>
  mode.stock
    ? []
    : [{ scope: "task", name: "single" }, { scope: "all" }, { scope: "task", name: "batch" }];

/** The queues that the producers of the stand's first load use. */
export const queuesOf = ({ mode }: Stand): Target[] =>
  [0, 1].flatMap((producer) =>
    [0, 1, 2].map((queue): Target => {
      return { scope: "queue", name: `${slug(mode)}-0-${producer}-q${queue}` };
    }),
  );

export async function pauses(
  stand: Stand,
  over: number,
  targets: readonly Target[],
): Promise<AnsweredPause[]> {
  const all: AnsweredPause[] = [];
  while (machineTime() < over && targets.length > 0) {
    const target = targets[stand.dice(targets.length)] as Target;
    // If the call fails, the pause may exist nevertheless, so the target is resumed.
    const paused = await pause(stand, target).catch(() => null);
    await sleep(300 + stand.dice(1_500));
    const to = machineTime();
    // While PostgreSQL restarts, the resume fails, and is repeated.
    await stand.until("the paused target is resumed", async () => {
      await resume(stand, target);
      return true;
    });
    if (paused !== null) {
      const { answeredAt: from, waitingFor } = paused;
      all.push({ target, from, to, exempt: new Set(waitingFor) });
      stand.figure("a pause under faults is answered", from - paused.calledAt, { most: 6_000 });
    }
    // This wait is often short, so that some pauses begin while resumed jobs are being fetched and started.
    await sleep(stand.dice(stand.dice(2) === 0 ? 40 : 800));
  }
  return all;
}

export function judgePauses(stand: Stand, windows: readonly AnsweredPause[]): void {
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
      const after = `${(run.from - from).toFixed(1)} ms after the answer to its pause`;
      stand.problem(`${name}: ${run.n} (job ${run.job}) started on ${run.by} ${after}`);
    }
  }
  stand.figure("answered pauses", windows.length, { least: 1, unit: "" });
  stand.figure("jobs that started after the answer to a pause", early, { most: 0, unit: "" });
  stand.figure("paused jobs that started on workers in waitingFor", exempted, { unit: "" });
}

function isOf(target: Target, { n, job }: Run, queueOf: ReadonlyMap<string, string>): boolean {
  switch (target.scope) {
    case "all":
      return true;
    case "queue":
      return queueOf.get(job) === target.name;
    case "task":
      return taskOf(n) === target.name;
    default:
      return target satisfies never;
  }
}

function taskOf(n: string): string {
  if (n.startsWith("batch ")) return "batch";
  return n.startsWith("cancelled ") ? "held" : "single";
}

/** After the loss of its lease, a worker has a new id. */
function idsOfMember({ workerId, events }: Member): string[] {
  const later = events.filter(({ event }) => event === "leaseLost");
  return [workerId, ...later.map(({ newWorkerId }) => String(newWorkerId))];
}
