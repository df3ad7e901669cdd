// Turns the facts about the server, the schema and vacuum into findings. The rules of the queue are in queue-rules.ts.

import { LAST_TRANSACTION_AGE } from "../../../database/inspect/transaction-age.ts";
import type { ReadySchema } from "../../../database/schema/schema-state.ts";
import { ageText, spanText } from "../../../domain/portable/ages.ts";
import { numberText } from "../../../domain/words.ts";
import { type Finding, finding, inPsql, quoteName } from "./finding.ts";
import type { DoctorFacts } from "./read-facts.ts";

const OLDEST_SERVER = 14;
const NEWEST_SERVER = 18;
const SKEW_WARN_MS = 2_000;
const SKEW_BAD_MS = 30_000;
const LONG_TRANSACTION_MS = 15 * 60_000;
const MANY_TRANSACTIONS = 1_000_000;

export function serverFindings({
  server,
  skewMs,
  connections,
  transactionAge,
}: DoctorFacts): Finding[] {
  const found: Finding[] = [];
  if (server !== null) {
    const { version, database, role, is_standby: isStandby, is_read_only: isReadOnly } = server;
    const major = Number.parseInt(version, 10);
    const about = `PostgreSQL ${version}, database ${database}, role ${role}`;
    if (major < OLDEST_SERVER) {
      found.push(
        finding("bad", "server", `${about}: at least ${OLDEST_SERVER} is needed; upgrade it`),
      );
    } else if (major > NEWEST_SERVER) {
      found.push(
        finding(
          "warn",
          "server",
          `${about}: newer than the tested versions (up to ${NEWEST_SERVER})`,
        ),
      );
    } else found.push(finding("ok", "server", about));
    if (isReadOnly) {
      const why = isStandby ? "it is a standby" : "its transactions are read-only by default";
      const message = `accepts no writes: ${why}; target_session_attrs=read-write finds the primary among several hosts`;
      found.push(finding("bad", "server", message));
    }
  }
  found.push(...skewFindings(skewMs));
  if (connections !== null) {
    const { total, limit } = connections;
    const isFull = total >= limit * 0.9;
    const inUse = `${total} of ${limit} connections are in use`;
    const message = isFull ? `${inUse}; the fix takes effect after a restart of the server` : inUse;
    const fix = isFull ? inPsql(`alter system set max_connections = ${limit * 2}`) : null;
    found.push(finding(isFull ? "warn" : "ok", "connections", message, fix));
  }
  if (transactionAge !== null && transactionAge > LAST_TRANSACTION_AGE / 3) {
    const message = `the oldest row is ${numberText(transactionAge)} transactions old; at ${numberText(LAST_TRANSACTION_AGE)} PostgreSQL stops accepting writes`;
    const isNear = transactionAge > LAST_TRANSACTION_AGE / 2;
    found.push(finding(isNear ? "bad" : "warn", "vacuum", message, inPsql("vacuum (freeze)")));
  }
  return found;
}

function skewFindings(skewMs: number | null): Finding[] {
  if (skewMs === null) return [];
  const size = Math.abs(skewMs);
  if (size < SKEW_WARN_MS) return [finding("ok", "clock", "agrees with the database's")];
  const side = skewMs > 0 ? "ahead of" : "behind";
  const message = `this machine is ${spanText(size)} ${side} the database; jobs run by the database's clock`;
  return [finding(size < SKEW_BAD_MS ? "warn" : "bad", "clock", message, "sudo chronyc makestep")];
}

export function schemaFindings(facts: DoctorFacts): Finding[] {
  const { schema, schemaName, privileges, queue, server } = facts;
  const found = privileges.map(({ what, grant }) =>
    finding("bad", "privileges", `this role lacks ${what}`, inPsql(grant)),
  );
  found.push(...pathFindings(facts));
  if (schema === null) return found;
  const migrate = "worker migrate";
  switch (schema.kind) {
    case "absent":
    case "empty": {
      const message = schema.kind === "absent" ? "does not exist" : "is empty";
      found.push(finding("bad", "schema", `${schemaName} ${message}`, migrate));
      break;
    }
    case "foreign":
    case "outdated":
    case "too-new":
      found.push(finding("bad", "schema", schema.reason));
      break;
    case "ready":
      found.push(...readyFindings(schema, schemaName, migrate));
      break;
    default:
      return schema satisfies never;
  }
  if (queue?.unusable != null) {
    const fix = inPsql(`alter role ${quoteName(server?.role ?? "")} bypassrls`);
    found.push(finding("bad", "privileges", queue.unusable, server === null ? null : fix));
  } else if (queue !== null && privileges.length === 0) {
    found.push(finding("ok", "privileges", "this role has all privileges that a worker needs"));
  }
  return found;
}

function pathFindings({ open, server }: DoctorFacts): Finding[] {
  const role = server === null ? "this role" : `the role ${server.role}`;
  return open.map(({ name, creators, revoke }) => {
    const message = `${creators} may create functions in the schema ${name}, which is on the search path: Graphile Worker's functions (add_job, remove_job) and triggers may call them as ${role}`;
    return finding("warn", "search path", message, inPsql(revoke));
  });
}

function readyFindings(schema: ReadySchema, name: string, migrate: string): Finding[] {
  const { origin, level, extensions, warnings } = schema;
  const found = [finding("ok", "schema", `${name} at level ${level}, made by ${makers[origin]}`)];
  if (!extensions.has("workers")) {
    const message = "has no heartbeats: live and stale workers cannot be distinguished";
    found.push(finding("warn", "schema", message, migrate));
  }
  if (!extensions.has("operations")) {
    const message = "has no tables for operations by query, undo and the audit trail";
    found.push(finding("ok", "schema", message, `${migrate} --with-operations`));
  }
  if (!extensions.has("controls")) {
    const message = "has no tables for pauses and cancels";
    found.push(finding("ok", "schema", message, `${migrate} --with controls`));
  }
  if (!extensions.has("schedules")) {
    const message = "has no table for schedules";
    found.push(finding("ok", "schema", message, `${migrate} --with schedules`));
  }
  if (!extensions.has("limits")) {
    const message = "has no tables for limits of concurrency and rate";
    found.push(finding("ok", "schema", message, `${migrate} --with limits`));
  }
  for (const warning of warnings) found.push(finding("warn", "schema", warning));
  return found;
}

const makers = { ours: "worker", graphile: "Graphile Worker", "rust-port": "its Rust port" };

export function vacuumFindings({ oldest, oldestXmin, server }: DoctorFacts): Finding[] {
  const found: Finding[] = [];
  const nowMs = server === null ? null : Date.parse(server.now);
  const age = (since: string | null) =>
    since === null || nowMs === null ? 0 : nowMs - Date.parse(since);
  if (oldest !== null && age(oldest.since) > LONG_TRANSACTION_MS) {
    const session = oldest.application === "" ? "a session" : oldest.application;
    const message = `${session} (pid ${oldest.pid}) has had a transaction open for ${ageText(age(oldest.since))}: rows of finished jobs stay until it ends`;
    found.push(
      finding("warn", "vacuum", message, inPsql(`select pg_terminate_backend(${oldest.pid})`)),
    );
  }
  if (
    oldestXmin !== null &&
    (oldestXmin.transactions > MANY_TRANSACTIONS || age(oldestXmin.since) > LONG_TRANSACTION_MS)
  ) {
    const { kind, name, transactions } = oldestXmin;
    if (kind === "session" && found.length > 0) return found;
    const message = `${kinds[kind]} ${name} holds back vacuum by ${numberText(transactions)} transactions`;
    found.push(finding("warn", "vacuum", message, fixOf(kind, name)));
  }
  if (found.length === 0) found.push(finding("ok", "vacuum", "not held back"));
  return found;
}

const kinds = {
  session: "the session",
  slot: "the replication slot",
  prepared: "the prepared transaction",
};

function fixOf(kind: keyof typeof kinds, name: string): string | null {
  const text = `'${name.replaceAll("'", "''")}'`;
  if (kind === "slot") return inPsql(`select pg_drop_replication_slot(${text})`);
  return kind === "prepared" ? inPsql(`rollback prepared ${text}`) : null;
}
