// The gauges of the queue, the feed and the pool. Each scrape sets them again. A gauge without a current value then has
// no series, because an old number would look current.
import type { Gauge, Registry } from "prom-client";
import { monotonic } from "../../base/clock.ts";
import { conditions } from "../../domain/condition.ts";
import type { LimitUse } from "../../insight/limits/limit-use.ts";
import type { State } from "../../insight/snapshot/job-counts.ts";
import {
  countWorkers,
  holdersOf,
  type QueueSnapshot,
} from "../../insight/snapshot/queue-snapshot.ts";
import { inState } from "../../insight/stats/tally.ts";
import { pauseScopes } from "../../queue/pauses/pause.ts";
import type { MetricsInput, PauseFacts } from "./metrics-input.ts";

/** The maximum number of limits that have gauges. */
const MAX_LIMITS = 100;

const states = Object.keys(inState) as State[];

export function createQueueGauges(
  Gauges: typeof Gauge,
  registry: Registry,
): (exposed: MetricsInput) => void {
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauges({ name: `worker_${name}`, help, labelNames, registers: [registry] });
  const up = gauge("database_up", "1 when the database could be reached for this scrape");
  const streams = gauge("admin_event_streams", "Event streams open now");
  const jobs = gauge("jobs", "Jobs by state", "state");
  const byCondition = gauge("jobs_by_condition", "Jobs by condition", "condition");
  const exact = gauge("jobs_exact", "1 when the numbers of jobs are exact, 0 when estimated");
  const oldest = gauge("oldest_ready_age_seconds", "How long the oldest ready job has been due");
  const workers = gauge(
    "workers",
    "Workers: alive, not responding (stale), or without heartbeats (unknown)",
    "state",
  );
  const locks = gauge("locks", "Locks on jobs and on queues", "kind");
  const paused = gauge("paused", "Pauses by what is paused: everything, tasks, queues", "scope");
  const unacknowledged = gauge(
    "paused_unacknowledged",
    "Live workers that have not acknowledged all pauses",
  );
  const [limitConcurrency, limitRate, limitRunning, limitWaiting] = [
    gauge(
      "limit_concurrency",
      "The concurrency of a limit; for a limit of queues, that of each queue",
      "limit",
    ),
    gauge(
      "limit_rate_per_second",
      "The rate of a limit in jobs a second, without the burst",
      "limit",
    ),
    gauge("limit_running", "Running jobs of a limit", "limit"),
    gauge("limit_waiting", "Due jobs of a limit that have not started", "limit"),
  ];
  const took = gauge("admin_feed_duration_seconds", "How long a part of the feed took", "part");
  const age = gauge("admin_feed_age_seconds", "How long ago a part of the feed was read", "part");
  const pool = gauge("admin_pool_connections", "Connections of the pool", "state");

  const showSnapshot = (snapshot: QueueSnapshot) => {
    const { counts, gauge } = snapshot;
    for (const state of states) {
      const { value, precision } = counts.states[state];
      if (precision !== "capped") jobs.set({ state }, value);
    }
    for (const condition of conditions) {
      const { value, precision } = counts.conditions[condition];
      if (precision !== "capped") byCondition.set({ condition }, value);
    }
    exact.set(snapshot.isSmall ? 1 : 0);
    const since = counts.oldestDueAt === null ? gauge.nowMs : Date.parse(counts.oldestDueAt);
    oldest.set(Math.max(0, (gauge.nowMs - since) / 1_000));
    for (const [state, count] of Object.entries(countWorkers(snapshot)))
      workers.set({ state }, count);
    const { locked } = counts.states;
    if (locked.precision !== "capped") locks.set({ kind: "job" }, locked.value);
    const lockedQueues = holdersOf(snapshot).reduce(
      (sum, { lockedQueues }) => sum + lockedQueues,
      0,
    );
    locks.set({ kind: "queue" }, lockedQueues);
  };

  const showPauses = ({ list, waiting }: PauseFacts) => {
    for (const scope of pauseScopes)
      paused.set({ scope }, list.filter((pause) => pause.scope === scope).length);
    unacknowledged.set(list.length === 0 ? 0 : waiting);
  };

  const showLimit = ({ limit: { definition }, running, waiting }: LimitUse) => {
    const { name: limit, concurrency, rate } = definition;
    if (concurrency !== null) limitConcurrency.set({ limit }, concurrency);
    if (rate !== null) limitRate.set({ limit }, (rate.limit * 1_000) / rate.perMs);
    limitRunning.set({ limit }, running);
    if (waiting.precision !== "capped") limitWaiting.set({ limit }, waiting.value);
  };

  return ({ snapshot, pauses, limits, feed, pool: { totalCount, idleCount, waitingCount } }) => {
    const ofLimits = [limitConcurrency, limitRate, limitRunning, limitWaiting];
    const labelled = [jobs, byCondition, workers, locks, paused, ...ofLimits, took, age];
    for (const gauge of labelled) gauge.reset();
    // reset() would set these to 0, because they have no labels.
    for (const gauge of [exact, oldest, unacknowledged]) gauge.remove();
    up.set(snapshot === "away" ? 0 : 1);
    streams.set(feed.viewers);
    for (const [part, { tookMs, atMs }] of feed.parts) {
      took.set({ part }, tookMs / 1_000);
      age.set({ part }, (monotonic() - atMs) / 1_000);
    }
    pool.set({ state: "busy" }, totalCount - idleCount);
    pool.set({ state: "idle" }, idleCount);
    pool.set({ state: "waiting" }, waitingCount);
    if (typeof snapshot === "object") showSnapshot(snapshot);
    if (pauses !== null) showPauses(pauses);
    for (const use of limits?.slice(0, MAX_LIMITS) ?? []) showLimit(use);
  };
}
