// The JSON schemas of numbers that say how well they are known.
import { type JsonSchema, record } from "../../wire/json-schema.ts";

const { properties } = record({ low: "integer", high: "integer?" }) as {
  readonly properties: JsonSchema;
};

const plain = record(
  { value: "integer", precision: "string", basis: "string", as_of: "time" },
  "Value",
);

/** A number; `low` and `high` where it is not exact. */
export const value: JsonSchema = {
  ...plain,
  properties: { ...(plain["properties"] as object), ...properties },
};

export const counts = record(
  {
    as_of: "time",
    total: value,
    running: value,
    failed: value,
    blocked: value,
    retrying: value,
    scheduled: value,
    ready: value,
    oldest_ready_at: "time?",
    next_due_at: "time?",
    longest_running_at: "time?",
    last_failed_at: "time?",
    running_note: "string",
  },
  "Counts",
);

