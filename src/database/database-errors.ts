// What PostgreSQL and the network say, as sentences an operator can act on. The one table from
// SQLSTATE / errno to our error codes (PostgreSQL documentation, appendix A).
import { codeOf, type ErrorCode, messageOf, WorkerError } from "../base/errors.ts";

type Explanation = readonly [code: ErrorCode, sentence: (detail: string, schema: string) => string];

const unreachable: Explanation = [
  "database_unreachable",
  (detail) => `cannot reach PostgreSQL (${detail}); check DATABASE_URL and that the server is up`,
];
const refusedLogin: Explanation = [
  "database_unreachable",
  (detail) => `PostgreSQL refused the login (${detail}); check user and password in DATABASE_URL`,
];
const missingSchema: Explanation = [
  "schema_missing",
  (detail, schema) =>
    `the schema "${schema}" is not there or not complete (${detail}); run "worker migrate" first, or name the right one with --schema`,
];

const pooled: Explanation = [
  "configuration",
  (detail) =>
    `${detail}; behind a transaction pooler such as pgbouncer set preparedStatements to false`,
];

const explanations: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  ENOENT: unreachable,
  EACCES: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  EPIPE: unreachable,
  EMFILE: unreachable,
  ENFILE: unreachable,
  "08000": unreachable,
  "08003": unreachable,
  "08006": unreachable,
  "57P01": unreachable,
  "57P02": unreachable,
  "57P03": unreachable,
  "53300": [
    "database_unreachable",
    (detail) =>
      `PostgreSQL has no connection left (${detail}); lower --max-connections or raise max_connections`,
  ],
  "28000": refusedLogin,
  "28P01": refusedLogin,
  "3D000": [
    "database_unreachable",
    (detail) => `${detail}; check the database name in DATABASE_URL, or create it`,
  ],
  "57014": [
    "database_timeout",
    (detail) => `PostgreSQL stopped the statement (${detail}); narrow the request or try again`,
  ],
  "55P03": ["database_busy", (detail) => `a lock was not to be had in time (${detail}); try again`],
  "40P01": ["database_busy", (detail) => `${detail}; try again`],
  "40001": ["database_busy", (detail) => `${detail}; try again`],
  "25006": [
    "database_unreachable",
    (detail) =>
      `PostgreSQL accepts no writes now (${detail}); is this a standby? check DATABASE_URL`,
  ],
  "42P01": missingSchema,
  "3F000": missingSchema,
  "42883": missingSchema,
  "42703": missingSchema,
  "42704": missingSchema,
  // A prepared statement that is there, or is not: somebody else's session.
  "42P05": pooled,
  "26000": pooled,
  "42501": [
    "database_error",
    (detail) =>
      `the database role may not do this (${detail}); grant it the rights or use the owner`,
  ],
};

// Input that only the database could find wrong: GWBKM is Graphile Worker's "bad job key mode".
const inputStates = new Set([
  "22P02",
  "22P05",
  "22003",
  "22007",
  "22008",
  "22021",
  "22023",
  "23514",
  "GWBKM",
]);

/** The WorkerError for anything a database call threw; an error that is one already is kept. */
export function explainDatabaseError(error: unknown, schema: string): WorkerError {
  if (error instanceof WorkerError) return error;
  const detail = messageOf(error) || "no detail";
  const state = codeOf(error) ?? firstCode(error);
  if (state !== undefined) {
    const known = explanations[state];
    if (known !== undefined)
      return new WorkerError(known[0], known[1](detail, schema), { cause: error });
    if (inputStates.has(state)) return new WorkerError("bad_input", detail, { cause: error });
  }
  if (isConnectionLoss(detail)) {
    return new WorkerError("database_unreachable", unreachable[1](detail, schema), {
      cause: error,
    });
  }
  return new WorkerError("database_error", `PostgreSQL: ${detail}`, { cause: error });
}

/**
 * Whether the database refused what it was given, now and always: data exceptions, violated
 * constraints, what a trigger raises.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof WorkerError)) return false;
  if (error.code === "bad_input") return true;
  return error.code === "database_error" && /^(22|23|P0)/.test(codeOf(error.cause) ?? "");
}

/** Node reports a host with several addresses as an AggregateError without a code of its own. */
function firstCode(error: unknown): string | undefined {
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}

// pg words these itself, without a code.
function isConnectionLoss(message: string): boolean {
  return /connection terminated|client was closed|not queryable|timeout exceeded when trying to connect|timeout expired|Cannot use a pool/i.test(
    message,
  );
}
