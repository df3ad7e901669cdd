// GET /api/database: the state of the database, for operators.

import type { Operation } from "../../context/admin.ts";
import { jsonAt } from "../../wire/answer-at.ts";
import { listOf, orNull, record, value } from "../../wire/json-schema.ts";
import { readDatabaseReport } from "./database-report.ts";

const server = record({
  version: "string",
  database: "string",
  role: "string",
  is_standby: "boolean",
  is_read_only: "boolean",
  started_at: "time",
  now: "time",
});

const extension = record({
  name: "string",
  provides: "string",
  is_foreign: "boolean",
  is_installed: "boolean",
  is_complete: "boolean",
  version: "integer?",
  supported_version: "integer",
  is_automatic: "boolean",
});

const schema = record({
  name: "string",
  state: "string",
  origin: "string?",
  level: "integer?",
  supported_level: "integer",
  problem: "string?",
  warnings: "string[]",
  extensions: listOf(extension),
});

const table = record({
  name: "string",
  total_bytes: "integer",
  table_bytes: "integer",
  index_bytes: "integer",
  live_rows: "integer",
  dead_rows: "integer",
  changed_since_analyze: "integer",
  last_vacuum_at: "time?",
  last_analyze_at: "time?",
});

const index = record({
  name: "string",
  table: "string",
  bytes: "integer",
  scans: "integer",
  is_valid: "boolean",
});

const optionalIndex = record({
  name: "string",
  state: "string",
  definition: "string",
  serves: "string",
  costs: "string",
  is_recommended: "boolean",
  index_name: "string?",
  is_ours: "boolean",
  bytes: "integer?",
  estimated_bytes: "integer?",
  progress: orNull(record({ phase: "string", share: "number?", since: "time" })),
  error: "string?",
});

const connections = record({
  total: "integer",
  limit: "integer",
  hidden: "integer",
  groups: listOf(record({ application: "string", state: "string?", count: "integer" })),
});

const oldestTransaction = record({
  since: "time",
  state: "string?",
  application: "string",
  role: "string?",
  pid: "integer",
  waits_for: "string?",
});

const oldestXmin = record({
  kind: "string",
  name: "string",
  transactions: "integer",
  since: "time?",
});

export const getDatabase: Operation = {
  summary: "Sizes, dead rows, transactions, connections, indexes and extensions of the database",
  answer: record(
    {
      as_of: "time",
      server: orNull(server),
      schema: orNull(schema),
      tables: listOf(table),
      indexes: listOf(index),
      optional_indexes: listOf(optionalIndex),
      connections: orNull(connections),
      oldest_transaction: orNull(oldestTransaction),
      oldest_xmin: orNull(oldestXmin),
      cleanup: listOf(record({ task: "string", count: value, names: "string[]" })),
      missing: "string[]",
    },
    "Database",
  ),
  run: async ({ databases, indexBuilds, feed }) =>
    jsonAt(await readDatabaseReport(databases.reads, indexBuilds, feed)),
};
