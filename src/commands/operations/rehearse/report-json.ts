// Writes a rehearsal as JSON of the HTTP API, with the ids of jobs as integers. In `would`, `by_task` and `by_queue`,
// each number has a second member beside it, which also has the precision: `change_value` beside `change`, for example.
import type { MissingTables } from "../../../database/schema/extensions/missing-tables.ts";
import { missingJson } from "../../../insight/json/missing-json.ts";
import { objectText } from "../model/operation.ts";
import type { RehearsalReport, Share } from "./rehearse.ts";
import type { SampleJob } from "./samples.ts";

export function rehearsalJson(
  report: RehearsalReport,
  missing: MissingTables | null,
  cli: string,
): string {
  const { id, query, action: what, boundary: at } = report.rehearsal;
  const text = (value: unknown) => JSON.stringify(value);
  const shares = (name: string, list: readonly Share[]) =>
    text(
      list.map((share) => ({
        ...{ [name]: share.name, count: share.count.value },
        count_value: share.count,
      })),
    );
  const { change, skipLocked } = report;
  return objectText({
    rehearsal: text(id),
    q: text(query),
    action: text(what),
    count: text(report.count),
    would: text({
      ...{ change: change.value, skip_locked: skipLocked.value },
      ...{ change_value: change, skip_locked_value: skipLocked },
    }),
    by_task: shares("task", report.byTask),
    by_queue: shares("queue", report.byQueue),
    sample: `[${report.samples.map(sampleJson).join(",")}]`,
    first_run_at: text(report.times?.first ?? null),
    last_run_at: text(report.times?.last ?? null),
    unknown: text(report.unknown),
    boundary: objectText({ max_id: at.maxId, before: text(at.before) }),
    undo_bytes: text(report.undoBytes),
    undo_jobs: text(report.undoJobs),
    can_undo: text(missing === null),
    missing: text(missing === null ? null : missingJson(missing)),
    eta_s: text(report.etaS),
    cli: text(cli),
  });
}

function sampleJson(job: SampleJob): string {
  const text = (value: unknown) => JSON.stringify(value);
  return objectText({
    id: job.id,
    task_identifier: text(job.taskIdentifier),
    queue_name: text(job.queueName),
    state: text(job.state),
    run_at: text(job.runAt),
    priority: text(job.priority),
    attempts: text(job.attempts),
    max_attempts: text(job.maxAttempts),
    key: text(job.key),
    error_line: text(job.errorLine),
  });
}
