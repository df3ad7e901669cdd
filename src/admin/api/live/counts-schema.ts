// The JSON schema of the counts by condition.
import { byCondition, record, value } from "../../wire/json-schema.ts";

export const counts = record(
  {
    as_of: "time",
    total: value,
    ...byCondition,
    // The number of retrying jobs whose next attempt is due.
    retrying_due: value,
    // `run_at` of the oldest ready job and of the next scheduled job; null if there is none. In a large table only the
    // first jobs of each priority are read, so null can also mean that none of these is ready or scheduled.
    oldest_ready_at: "time?",
    next_due_at: "time?",
    longest_running_at: "time?",
    last_failed_at: "time?",
    // The number of running jobs that live workers report, including those of the fast mode; null if not all report it.
    running_reported: "integer?",
    running_note: "string",
    per_minute: record({ added: "integer?", done: "integer?", failed: "integer?" }),
  },
  "Counts",
);
