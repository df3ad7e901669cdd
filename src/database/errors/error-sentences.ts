// The messages of database errors, each with one of this library's error codes. The keys of `byCode` are SQLSTATEs
// (PostgreSQL documentation, appendix A) and the codes of errors of Node and postgres.js.
import { type ErrorCode, withoutNodeHint } from "../../base/errors.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";

export type ErrorSentence = readonly [
  code: ErrorCode,
  sentence: (detail: string, schema: string) => string,
];

const unreachable: ErrorSentence = [
  "database_unreachable",
  (detail) => `cannot reach PostgreSQL (${detail}); check DATABASE_URL and that the server is up`,
];
const refusedLogin: ErrorSentence = [
  "database_unreachable",
  (detail) => `PostgreSQL refused the login (${detail}); check user and password in DATABASE_URL`,
];
const refusing: ErrorSentence = [
  "database_unreachable",
  (detail) => `PostgreSQL refuses connections for now (${detail}); see its log`,
];
const exhausted =
  (what: string): ErrorSentence[1] =>
  (detail) =>
    `PostgreSQL is out of ${what} (${detail}); add more to its server, then try again`;
/** For SQLSTATE 53200 if the table of locks is full. */
export const fullLockTable: ErrorSentence = [
  "database_busy",
  (detail) =>
    `PostgreSQL's table of locks is full (${detail}); raise max_locks_per_transaction, or try again`,
];
/**
 * Returns the message for a character that the database's encoding lacks; null for other errors of SQLSTATE 22P05.
 * In every language, PostgreSQL's message contains the character's bytes and the names of both encodings.
 */
export function missingCharacter(detail: string): string | null {
  const bytes = detail.match(/0x[0-9a-f]{2}/g);
  const encoding = detail
    .match(/[A-Z][A-Z0-9_]+/g)
    ?.filter((one) => one !== "UTF8")
    .at(-1);
  if (bytes === null || encoding === undefined) return null;
  const character = Buffer.from(bytes.map(Number)).toString();
  const escaped = JSON.stringify(character)
    .slice(1, -1)
    .replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `the character "${character}" cannot be stored in this database, whose encoding is ${encoding}: leave it out, or write ${escaped} in JSON`;
}
const untrusted: ErrorSentence = [
  "database_unreachable",
  (detail) =>
    `the certificate of PostgreSQL's server is not trusted (${withoutNodeHint(detail)}); name the authority with sslrootcert=<file> in the database URL, or turn the check off with sslmode=no-verify`,
];
const misnamed: ErrorSentence = [
  "database_unreachable",
  (detail) =>
    `the certificate of PostgreSQL's server is not for the host in the database URL (${detail}); use one of its names there, or check only the authority with sslmode=verify-ca`,
];
/** PostgreSQL cannot store a value of 1 GB, and a string in Node has fewer than 2^29 UTF-16 units. */
const tooLarge: ErrorSentence = [
  "too_large",
  (detail) => `a value is too large to be stored or read (${detail}); make it smaller`,
];
const missingSchema: ErrorSentence = [
  "schema_missing",
  (detail, schema) =>
    `the schema "${schema}" does not exist or is incomplete (${detail}); create it with migrate() of makeWorkerUtils() or with "${workerLine(schema, "worker migrate")}", or set the option schema to the right one`,
];

const pooled: ErrorSentence = [
  "configuration",
  (detail) =>
    `${detail}; behind a transaction pooler such as pgbouncer set preparedStatements to false`,
];

const UNREACHABLE = [
  ...["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ENOENT", "EACCES", "EHOSTUNREACH"],
  ...["ENETUNREACH", "ETIMEDOUT", "EPIPE", "EMFILE", "ENFILE"],
  ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "CONNECTION_ENDED", "CONNECT_TIMEOUT"],
  ...["08000", "08003", "08006", "57P01", "57P02"],
];
const each = (codes: readonly string[], sentence: ErrorSentence) =>
  Object.fromEntries(codes.map((code) => [code, sentence]));

export const byCode: Readonly<Record<string, ErrorSentence>> = {
  ...each(UNREACHABLE, unreachable),
  ...each(["08001", "08004", "08P01", "55000", "57P03", "57P04", "57P05", "53000"], refusing),
  "53100": ["database_unreachable", exhausted("disk space")],
  "53200": ["database_unreachable", exhausted("memory")],
  "54000": tooLarge,
  ERR_STRING_TOO_LONG: tooLarge,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: misnamed,
  "53300": [
    "database_unreachable",
    (detail) =>
      `PostgreSQL has no free connection (${detail}); lower maxConnections (--max-connections), or raise max_connections of PostgreSQL`,
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
  "55P03": [
    "database_busy",
    (detail) => `a lock could not be acquired in time (${detail}); try again`,
  ],
  "40P01": ["database_busy", (detail) => `${detail}; try again`],
  "40001": ["database_busy", (detail) => `${detail}; try again`],
  "25006": [
    "read_only_server",
    (detail) =>
      `PostgreSQL accepts no writes now (${detail}); is this a standby? check DATABASE_URL`,
  ],
  "42P01": missingSchema,
  "3F000": missingSchema,
  "42883": [
    "schema_missing",
    (detail, schema) =>
      `${missingSchema[1](detail, schema)}; if the schema is complete, the cause is the role's search_path: a schema before pg_catalog has types or functions that hide PostgreSQL's own`,
  ],
  "42703": missingSchema,
  "42704": missingSchema,
  // Behind a transaction pooler, a prepared statement may exist already (42P05) or may not exist (26000).
  "42P05": pooled,
  "26000": pooled,
  "42501": [
    "database_error",
    (detail) =>
      `the database role may not do this (${detail}); grant it the privileges or use the owner`,
  ],
};

/** For errors without an entry in `byCode`: patterns of their texts. */
export const byWording: readonly (readonly [RegExp, ErrorSentence])[] = [
  [
    /Cannot use a pool after calling end/i,
    [
      "database_unreachable",
      () =>
        "the connection pool was closed by its end() or by that of the utilities; create a new one",
    ],
  ],
  [
    /client password must be a/i,
    [
      "database_unreachable",
      () =>
        "PostgreSQL requires a password, and none was given; put it into the database URL (postgres://user:password@host:port/database), into PGPASSWORD or into ~/.pgpass",
    ],
  ],
  [
    /SSL connection/,
    [
      "database_unreachable",
      (detail) =>
        `PostgreSQL does not encrypt (${detail}); turn SSL on in its server, or use sslmode=disable in the database URL`,
    ],
  ],
  [/Invalid string length|invalid memory alloc request size/, tooLarge],
  [
    /connection terminated|client was closed|not queryable|timeout exceeded when trying to connect|timeout expired|Query read timeout/i,
    unreachable,
  ],
];
