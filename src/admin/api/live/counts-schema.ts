// The JSON schema of the counts by condition.
import { byCondition, record, value } from "../../wire/json-schema.ts";

export const counts = record(
  {
    as_of: "time",
    total: value,
    ...byCondition,
    // The number of retrying jobs whose next attempt is due.
    retrying_due: value,
    // oldest_ready_at: the earliest `run_at` of ready jobs. next_due_at: the earliest `run_at` of scheduled jobs. null
    // if there is no such job. In a large table only the first jobs of each priority are read. So a time may be too
    // late, or null although there is such a job.
    oldest_ready_at: "time?",
    next_due_at: "time?",
    longest_running_at: "time?",
    last_failed_at: "time?",
    // The number of running jobs that live workers report, including those of the fast mode; null if there is no live
    // worker, or if a live worker does not report it.
    running_reported: "integer?",
    running_note: "string",
    per_minute: record({ added: "integer?", done: "integer?", failed: "integer?" }),
  },
  "Counts",
);
