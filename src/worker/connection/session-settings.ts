// The settings of the connections on which a worker fetches jobs and writes results. They are set once for each
// connection or, behind a transaction pooler, in each transaction.
import { BEGIN } from "../../database/connection/bounded-statement.ts";

// A fetch that reaches this limit probably has to skip very many jobs, and is repeated with more time (PATIENT). If
// there is no answer within another second, the connection is closed (ANSWER_TIMEOUT_MS).
const STATEMENT_TIMEOUT_MS = 6_500;

// A transaction of another program may have locked a job's row, for example by adding a job with the same key. The
// limit is below ANSWER_TIMEOUT_MS, so that the connection stays open.
const LOCK_TIMEOUT_MS = 3_000;

// If a process is frozen during a transaction, PostgreSQL ends the transaction after FROZEN_MS. In the fast mode,
// transactions are open while jobs run, and a task may block the event loop for longer. So if the worker has a lease,
// the fast mode uses FROZEN_LEASED_MS. Other workers end the transactions when the lease has expired.
const FROZEN_MS = 10_000;
export const FROZEN_LEASED_MS = 300_000;

// A fetch must walk its index in order, whatever the statistics of the table are: a bitmap or sequential scan would
// read every ready job to fetch a few.
const SETTINGS = [
  "enable_bitmapscan = off",
  "enable_seqscan = off",
  "jit = off",
  "plan_cache_mode = force_generic_plan",
  "extra_float_digits = 1",
  `statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  `lock_timeout = ${LOCK_TIMEOUT_MS}`,
  `idle_in_transaction_session_timeout = ${FROZEN_MS}`,
];
// An isolation level that is set for the role or the database must not apply outside begin(). PostgreSQL must not close
// an idle worker's connection.
const ONLY_FOR_SESSIONS = [
  "default_transaction_isolation = 'read committed'",
  "idle_session_timeout = 0",
];
export const SESSION_SETTINGS = [...SETTINGS, ...ONLY_FOR_SESSIONS]
  .map((one) => `set ${one}`)
  .join("; ");

/** The time limit for scans of all jobs after a lost connection, and for fetches that have to skip many jobs. */
const PATIENT_STATEMENT_TIMEOUT_MS = 60_000;
export const PATIENT = `set local statement_timeout = ${PATIENT_STATEMENT_TIMEOUT_MS}`;
export const BEGIN_WITH_SETTINGS = [BEGIN, ...SETTINGS.map((one) => `set local ${one}`)].join("; ");
