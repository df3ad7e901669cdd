// Writes a snapshot as the JSON of GET /api/overview and of the event `overview`. In the member `counts`, each count
// has its precision, as in GET /api/counts. All other counts are plain integers.
import { countsJson } from "../../insight/json/counts-json.ts";
import { activeWorkerJson, lockedWorkerJson, queueJson } from "../../insight/json/overview-rows.ts";
import { holdersOf, type QueueSnapshot } from "../../insight/snapshot/queue-snapshot.ts";
import type { NamedQueueRow } from "../../insight/stats/queue-rows.ts";
import { inState, type TallyName, tallied } from "../../insight/stats/tally.ts";
import { timeText } from "../../queue/sql/moments.ts";

export interface OverviewText {
  /** The JSON without `counts`, `names_basis` and the times of the counts. The event is sent when this text changes. */
  readonly comparable: string;
  readonly json: string;
}

// The texts of snapshots: each snapshot is serialized once, for all viewers and requests.
const written = new WeakMap<QueueSnapshot, OverviewText>();

export function overviewText(snapshot: QueueSnapshot): OverviewText {
  const text = written.get(snapshot) ?? writeOverview(snapshot);
  written.set(snapshot, text);
  return text;
}

function writeOverview(snapshot: QueueSnapshot): OverviewText {
  const { counts, names, gauge } = snapshot;
  const { ready, scheduled, locked, failed } = counts.states;
  const stats = {
    total: counts.total.value,
    ready: ready.value,
    scheduled: scheduled.value,
    locked: locked.value,
    failed: failed.value,
  };
  const queues = snapshot.queues.map((queue) => queueOf(queue, snapshot));
  const comparable = [
    `"stats":${JSON.stringify(stats)}`,
    `"queues":${JSON.stringify(queues)}`,
    `"queue_total":${gauge.queues}`,
    `"workers":${JSON.stringify(holdersOf(snapshot).map(lockedWorkerJson))}`,
    `"active_workers":[${snapshot.workers.map(activeWorkerJson).join(",")}]`,
  ].join(",");
  const more = [
    `"counts":${countsJson(snapshot)}`,
    `"names_basis":"${names.basis}"`,
    `"names_as_of":"${names.asOf}"`,
    `"as_of":"${counts.asOf}"`,
  ].join(",");
  return { comparable, json: `{${comparable},${more}}` };
}

function queueOf(queue: NamedQueueRow, { names }: QueueSnapshot) {
  const tally = names.tallies.queues.get(queue.id);
  const count = (which: readonly TallyName[]) => names.value(tally, which).value;
  return queueJson({
    id: queue.id,
    queueName: queue.queue_name,
    lockedAtText: queue.locked_at_us === null ? null : timeText(queue.locked_at_us),
    lockedBy: queue.locked_by,
    isPaused: queue.is_paused,
    jobCount: count(tallied),
    readyCount: count(inState.ready),
    scheduledCount: count(inState.scheduled),
    lockedCount: count(inState.locked),
    failedCount: count(inState.failed),
  });
}
