// The settings of a worker's own connections: for the session, or, behind a transaction pooler, for each
// transaction.
import { BEGIN } from "../../database/connection/bounded-statement.ts";

// A fetch is a few index probes. A fetch that takes this long passes very many jobs, and is repeated with more time
// (PATIENT). If the server reports no timeout, the connection is closed a second later (ANSWER_TIMEOUT_MS).
const STATEMENT_TIMEOUT_MS = 6_500;

// An open transaction of another session may have locked the row of a job that has ended, for example by adding
// a job with its key. This limit ends such a wait before ANSWER_TIMEOUT_MS, so that the connection stays open.
const LOCK_TIMEOUT_MS = 3_000;

// After this time PostgreSQL ends the open transaction of a frozen process. It cannot distinguish a frozen process
// from one that a handler blocks. So with a lease the limit is longer, and other workers end the transaction when
// the heartbeat stops (queue/workers/session-lock.ts).
const FROZEN_MS = 10_000;
export const FROZEN_LEASED_MS = 300_000;

// A fetch must walk its index in order, whatever the statistics of the table are: a bitmap or sequential scan would
// read every ready job to fetch a few. These connections run only the worker's own statements.
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
// Statements outside begin() are transactions, too, so the isolation level of the role or the database must not
// apply. A connection that waits for jobs may be idle for long.
const ONLY_FOR_SESSIONS = [
  "default_transaction_isolation = 'read committed'",
  "idle_session_timeout = 0",
];
export const SESSION_SETTINGS = [...SETTINGS, ...ONLY_FOR_SESSIONS]
  .map((one) => `set ${one}`)
  .join("; ");

/** For a scan of all jobs after a lost connection, and for fetches that pass many jobs. */
const PATIENT_STATEMENT_TIMEOUT_MS = 60_000;
export const PATIENT = `set local statement_timeout = ${PATIENT_STATEMENT_TIMEOUT_MS}`;
export const BEGIN_WITH_SETTINGS = [BEGIN, ...SETTINGS.map((one) => `set local ${one}`)].join("; ");
