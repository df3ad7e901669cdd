// Rules that report why jobs wait: pure functions from facts to incidents.
import { ageText } from "../../domain/portable/ages.ts";
import { quote } from "../../domain/portable/query/quote.ts";
import { cappedValue, exactValue, probedSum, type Value } from "../../domain/value.ts";
import { byWorker, countText, numberText, shortName, workerNamed } from "../../domain/words.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";
import { pauseText } from "../controls/pause-text.ts";
import { isUnsupported } from "../why/causes.ts";
import { noneTakesJobs, quietText } from "./activity.ts";
import {
  type IncidentFacts,
  jobsOfTasks,
  MAX_NAMES,
  quoteNames,
  startable,
  type WaitingQueue,
  type WaitingTask,
} from "./facts.ts";
import { countUnknown } from "./holders-at-fault.ts";
import { type Incident, noLinks, timeOf } from "./incident.ts";

const withoutFix = { jobsWait: true, fix: null, trend: [] } as const;

const waitingOf = (all: readonly Pick<WaitingQueue, "waiting">[], asOf: string): Value =>
  probedSum(
    all.map(({ waiting }) => waiting ?? exactValue(0, "probe", asOf)),
    asOf,
  );

/** If one worker has locked at least this many stuck queues, they are one incident: one action unlocks them all. */
const MANY_QUEUES = 3;

/**
 * Returns incidents about queues in which jobs wait, and which are locked by a stale worker, or for at least 5 minutes
 * by a worker without heartbeats. A worker without heartbeats may be a busy Graphile worker, so its incident offers
 * *Unlock* only after 4 hours.
 */
export function stuckQueues(facts: IncidentFacts): Incident[] {
  const atFault = facts.queues.filter((queue) => isAtFault(queue, facts));
  return [...Map.groupBy(atFault, ({ holder }) => holder.workerId).values()].flatMap((queues) =>
    queues.length < MANY_QUEUES
      ? queues.map((queue) => stuckIncident([queue], facts))
      : [stuckIncident(queues, facts)],
  );
}

function isAtFault({ waiting, holder, lockedMs }: WaitingQueue, { nowMs }: IncidentFacts): boolean {
  if (waiting === null || waiting.value === 0) return false;
  if (holder.state === "stale") return true;
  return holder.state === "unknown" && nowMs - lockedMs >= OLD_MS;
}

/** `queues`: locked by one worker, the longest locked queue first. */
function stuckIncident(queues: readonly WaitingQueue[], { nowMs, asOf }: IncidentFacts): Incident {
  const { id, name, holder, lockedMs, trend } = queues[0] as WaitingQueue;
  const { workerId, state, lastHeartbeatMs } = holder;
  const isMany = queues.length > 1;
  const affected = waitingOf(queues, asOf);
  const has = `${workerNamed(workerId)} has locked the ${isMany ? "queues" : "queue"}`;
  const age = `${isMany ? "up to " : ""}${ageText(nowMs - lockedMs)}`;
  const cause =
    state === "stale"
      ? `${has} and is not responding: no heartbeat for ${ageText(nowMs - (lastHeartbeatMs ?? nowMs))}.`
      : `${has} for ${age} and sends no heartbeats: check that it is still running.`;
  const isSure = state === "stale" || nowMs - lockedMs >= STALE_LOCK_MS;
  const is = (sure: string) => `${isSure ? sure : "may be"} stuck`;
  const names =
    queues.length <= MAX_NAMES ? `queue:${quoteNames(queues.map((one) => one.name))}` : "";
  return {
    id: isMany ? `stuck_queues:${workerId}` : `stuck_queue:${id}`,
    kind: isSure ? "stuck_queue" : "locked_queue",
    level: state === "stale" ? "bad" : "warn",
    title: isMany
      ? `${numberText(queues.length)} queues ${is("are")} behind ${byWorker(workerId)}`
      : `Queue ${shortName(name)} ${is("is")}`,
    sentence: `${countText(affected, "job waits", "jobs wait")}. ${cause}`,
    // A stale worker's queue has been stuck since the worker's last heartbeat, or since a later lock.
    since: timeOf(state === "stale" ? Math.max(lockedMs, lastHeartbeatMs ?? 0) : lockedMs),
    affected,
    jobsWait: true,
    q: names === "" && !isSure ? null : `${names === "" ? "is:stuck" : names} is:blocked`,
    links: { ...noLinks, queue: isMany ? null : name, worker: workerId },
    fix: isSure ? unlock(workerId) : null,
    trend: trend.map((_, part) => queues.reduce((sum, one) => sum + (one.trend[part] ?? 0), 0)),
  };
}

/** Returns null if the id is empty, because the action needs an id. */
const unlock = (workerId: string): Incident["fix"] =>
  workerId === "" ? null : { action: "force-unlock", label: "Unlock…", workerIds: [workerId] };

/** Returns an incident for each stale worker that holds or may hold locks, except workers named by stuckQueues(). */
export function staleWorkers(facts: IncidentFacts): Incident[] {
  const { stale, queues, nowMs, asOf, coverage, lockedJobs } = facts;
  const reported = new Set(
    queues.filter((one) => isAtFault(one, facts)).map((one) => one.holder.workerId),
  );
  return stale.flatMap(({ workerId, lastHeartbeatMs, running }): Incident[] => {
    const lockedQueues = queues.filter(({ holder }) => holder.workerId === workerId).length;
    // `lockedJobs` is preferred to the worker's last report, which may be older than the last fetch or unlock.
    const locked = lockedJobs === null ? null : (lockedJobs.get(workerId) ?? 0);
    const jobs = locked ?? running;
    const hasJobs = jobs !== 0;
    if (reported.has(workerId) || (lockedQueues === 0 && !hasJobs)) return [];
    const report =
      running === null
        ? "It had not reported what it was running. "
        : `It was running ${countText(running, "job")} at its last heartbeat. `;
    const locks = Object.entries({ job: locked ?? 0, queue: lockedQueues })
      .flatMap(([noun, count]) => (count > 0 ? [countText(count, noun)] : []))
      .join(" and ");
    return [
      {
        id: `stale_worker:${workerId}`,
        kind: "stale_worker",
        level: coverage.alive === 0 || (hasJobs && jobs !== null) ? "bad" : "warn",
        title: `${workerNamed(workerId)} is not responding`,
        sentence: `${locked === null ? report : ""}${locks && `It has locked ${locks}. `}Its last heartbeat was ${ageText(nowMs - lastHeartbeatMs)} ago.`,
        since: timeOf(lastHeartbeatMs),
        affected: (jobs === null ? cappedValue : exactValue)(
          jobs ?? 0,
          locked === null ? "heartbeat" : "scan",
          asOf,
        ),
        jobsWait: true,
        q: hasJobs ? `worker:${quote(workerId)}` : null,
        links: { ...noLinks, worker: workerId },
        fix: unlock(workerId),
        trend: [],
      },
    ];
  });
}

/** For this time after a job is due, a worker for its task may still be starting. */
const GRACE_MS = 60_000;

export function unsupportedTasks(facts: IncidentFacts): Incident[] {
  const { coverage, nowMs } = facts;
  const hasNoWorker = ({ identifier, oldestMs }: WaitingTask) =>
    isUnsupported(coverage, identifier) && nowMs - oldestMs > GRACE_MS;
  return facts.tasks.filter(hasNoWorker).map(({ id, identifier, waiting, oldestMs }): Incident => {
    const former = coverage.formerly.get(identifier) ?? null;
    const none =
      coverage.alive === 1
        ? "the only worker alive does not support this task"
        : `none of the ${numberText(coverage.alive)} workers alive supports this task`;
    const did = former === null ? "" : ` ${workerNamed(former)} did, but is not responding.`;
    return {
      id: `unsupported_task:${id}`,
      kind: "unsupported_task",
      level: "bad",
      title: `${shortName(identifier)} has no worker`,
      sentence: `${countText(waiting, "job is", "jobs are")} due, but ${none}.${did}`,
      since: timeOf(oldestMs),
      affected: waiting,
      ...withoutFix,
      q: startable(`task:${quote(identifier)}`, facts),
      links: { ...noLinks, worker: former },
    };
  });
}

/** For this time after a job is due, an idle worker's poll may still fetch the job. */
const QUIET_MS = 15_000;

/** Returns an incident if a job is 15 s late, none was locked or finished for 15 s, and no worker sends heartbeats. */
export function noWorker(facts: IncidentFacts): Incident[] {
  const { tasks, coverage, nowMs, asOf, quiet, hasWorkers } = facts;
  const [oldest] = tasks.toSorted((a, b) => a.oldestMs - b.oldestMs);
  if (oldest === undefined || !isWithoutWorker(facts)) return [];
  const affected = waitingOf(tasks, asOf);
  const lateMs = nowMs - oldest.oldestMs;
  const ended = coverage.formerly.get(oldest.identifier);
  const last = ended === undefined ? "" : ` ${workerNamed(ended)} was the last that had this task.`;
  const busy = countUnknown(facts.lockedJobs, [...facts.stale, ...facts.crashes]);
  const known = hasWorkers ? "No worker sends heartbeats" : "Workers here send no heartbeats";
  const title = busy > 0 || !hasWorkers ? noneTakesJobs(quiet) : "No workers are running";
  const may = busy > 0 ? ` ${countText(busy, "worker")} without heartbeats may be busy.` : "";
  return [
    {
      id: "no_worker",
      kind: "no_worker",
      level: "bad",
      title,
      sentence: `${countText(affected, "job is", "jobs are")} due; the oldest (${shortName(oldest.identifier)}) for ${ageText(lateMs)}. ${known}, and ${quietText(quiet, lateMs)}.${last}${may}`,
      // The time when the last worker stopped may be unknown.
      since: null,
      affected,
      ...withoutFix,
      q: jobsOfTasks(tasks, facts),
      links: noLinks,
    },
  ];
}

function isWithoutWorker({ tasks, coverage, nowMs, quiet }: IncidentFacts): boolean {
  const isLate = tasks.some(({ oldestMs }) => nowMs - oldestMs > QUIET_MS);
  return isLate && coverage.alive === 0 && quiet !== null && quiet.ms > QUIET_MS;
}

/** From this age on, waiting jobs and the locks of workers without heartbeats are reported. */
const OLD_MS = 5 * 60_000;

/** Returns an incident if a job has been due for more than 5 minutes, and no other rule reports why it waits. */
export function oldReady(facts: IncidentFacts): Incident[] {
  const { tasks, coverage, nowMs, asOf, hasWorkers } = facts;
  if (isWithoutWorker(facts)) return [];
  const waiting = tasks.filter(
    ({ identifier, isLimited }) => !isUnsupported(coverage, identifier) && !isLimited,
  );
  const [oldest] = waiting.toSorted((a, b) => a.oldestMs - b.oldestMs);
  if (oldest === undefined || nowMs - oldest.oldestMs <= OLD_MS) return [];
  const affected = waitingOf(waiting, asOf);
  const workers = !hasWorkers
    ? "Whether workers are alive is unknown: their heartbeats cannot be read."
    : coverage.alive === 0
      ? "No worker with heartbeats is alive."
      : `${countText(coverage.alive, "worker is", "workers are")} alive.`;
  return [
    {
      id: "old_ready",
      kind: "old_ready",
      level: "bad",
      title: "Jobs are overdue",
      sentence: `${countText(affected, "job waits", "jobs wait")}; the oldest (${shortName(oldest.identifier)}) for ${ageText(nowMs - oldest.oldestMs)}. ${workers}`,
      since: null,
      affected,
      ...withoutFix,
      q: jobsOfTasks(waiting, facts),
      links: noLinks,
    },
  ];
}

/** If a pause ends within this time, its text omits the end, which may pass while the page shows the text. */
const MIN_AHEAD_MS = 30_000;

/** Returns an incident for each pause, and for each back-off of a task or queue. */
export function pausedWork(facts: IncidentFacts): Incident[] {
  const { paused, asOf, nowMs } = facts;
  return paused.map(({ pause, waiting }): Incident => {
    const { scope, name, hasEnded } = pause;
    const affected = waiting ?? cappedValue(0, "probe", asOf);
    const endsSoon = (pause.resumeAt?.getTime() ?? Infinity) - nowMs < MIN_AHEAD_MS;
    const text = pauseText(endsSoon ? { ...pause, resumeAt: null } : pause);
    const isNone = affected.value === 0 && affected.precision === "exact";
    // Only due jobs are counted.
    const jobs = isNone ? "No job is due" : countText(affected, "job waits", "jobs wait");
    const named = `${scope}:${quote(name ?? "")}`;
    const kind = { all: "Everything", queue: "Queue", task: "Task" }[scope];
    const q =
      scope === "queue" ? `${named} is:due` : startable(scope === "all" ? "" : named, facts);
    return {
      id: `paused:${scope}:${name ?? ""}`,
      kind: "paused",
      level: "warn",
      title: `${kind}${name === null ? "" : ` ${shortName(name)}`} ${hasEnded ? "was" : "is"} ${pause.isBackOff ? "backing off" : "paused"}`,
      sentence: `${jobs}. ${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
      since: timeOf(pause.pausedAt.getTime()),
      affected,
      jobsWait: true,
      q,
      links: { ...noLinks, queue: scope === "queue" ? name : null },
      ...(hasEnded
        ? withoutFix
        : { fix: { action: "resume" as const, label: "Resume…", scope, name } }),
      trend: [],
    };
  });
}

/** Returns an incident for each limit whose oldest waiting job is over 5 minutes late. Shorter waits are normal. */
export function fullLimits(facts: IncidentFacts): Incident[] {
  const { limited, nowMs } = facts;
  return limited
    .filter(({ oldestMs }) => nowMs - oldestMs > OLD_MS)
    .map(({ limit: { definition, use, isBackOff }, queues, waiting, oldestMs }): Incident => {
      const { name, scope, match } = definition;
      const [queue = null] = queues.length === 1 ? queues : [];
      const ofTask = match.includes("*") ? null : startable(`${scope}:${quote(match)}`, facts);
      const ofQueues = queues.length > MAX_NAMES ? null : `queue:${quoteNames(queues)} is:due`;
      const jobs = countText(waiting, "job waits", "jobs wait");
      const [where, example] =
        queues.length > 1 ? [` in ${numberText(queues.length)} queues`, ", for example"] : ["", ""];
      return {
        id: `limited:${name}`,
        kind: "limited",
        level: "warn",
        title: `Limit ${shortName(name)} is ${isBackOff ? "backing off" : "full"}`,
        sentence: `${jobs}${where}, the oldest for ${ageText(nowMs - oldestMs)}: ${use}${example}.`,
        since: timeOf(oldestMs),
        affected: waiting,
        ...withoutFix,
        q: queues.length === 0 ? ofTask : ofQueues,
        links: { ...noLinks, queue },
      };
    });
}
