// What is known, as the JSON of GET /api/overview: the contract's numbers, and beside them how well each
// is known.
import { timeText } from "../../queue/sql/moments.ts";
import type { QueueRow } from "../../queue/stats/queue-rows.ts";
import { inState, type Tallied, tallied } from "../../queue/stats/tally.ts";
import type { ActiveWorker } from "../../queue/workers/list-active-workers.ts";
import { countsJson } from "./counts-json.ts";
import type { State } from "../known/job-counts.ts";
import { type Holder, holdersOf, type Known } from "../known/known.ts";

export interface OverviewText {
  /** Without its moments, so that two can be compared. */
  readonly comparable: string;
  readonly json: string;
}

export function overviewText(known: Known): OverviewText {
  const { counts, names, gauge } = known;
  const { ready, scheduled, locked, failed } = counts.states;
  const stats = {
    total: counts.total.value,
    ready: ready.value,
    scheduled: scheduled.value,
    locked: locked.value,
    failed: failed.value,
  };
  const queues = known.queues.map((queue) => queueJson(queue, known));
  const comparable = [
    `"stats":${JSON.stringify(stats)}`,
    `"queues":${JSON.stringify(queues)}`,
    `"queue_total":${gauge.queues}`,
    `"workers":${JSON.stringify(holdersOf(known).map(holderJson))}`,
    `"active_workers":[${known.workers.map(activeWorkerJson).join(",")}]`,
  ].join(",");
  const more = [
    `"counts":${countsJson(known)}`,
    `"names_basis":"${names.basis}"`,
    `"names_as_of":"${names.asOf}"`,
    `"as_of":"${counts.asOf}"`,
  ].join(",");
  return { comparable, json: `{${comparable},${more}}` };
}

/** The contract's queue. */
function queueJson(queue: QueueRow, { names }: Known) {
  const tally = names.tallies.queues.get(queue.id);
  const count = (which: readonly Tallied[]) => names.value(tally, which).value;
  const of = (state: State) => count(inState[state]);
  return {
    id: queue.id,
    queue_name: queue.queue_name,
    locked_at: queue.locked_at_us === null ? null : timeText(queue.locked_at_us),
    locked_by: queue.locked_by,
    job_count: count(tallied),
    ready_count: of("ready"),
    scheduled_count: of("scheduled"),
    locked_count: of("locked"),
    failed_count: of("failed"),
  };
}

/** The contract's worker that holds locks. */
function holderJson({ id, jobs, queues }: Holder) {
  return { worker_id: id, locked_jobs: jobs, locked_queues: queues };
}

/** The contract's worker with a heartbeat. By hand: its metadata passes as the text that it is. */
function activeWorkerJson(worker: ActiveWorker): string {
  const known = JSON.stringify({
    worker_id: worker.workerId,
    last_heartbeat_at: worker.lastHeartbeatAtText,
    started_at: worker.startedAtText,
    is_stale: worker.isStale,
  });
  return `${known.slice(0, -1)},"metadata":${worker.metadataText ?? "null"}}`;
}
