// The name of the schema that contains a queue, checked and quoted. It is the only text of a caller that is inserted
// into SQL statements.
import { InputError } from "../base/errors.ts";

/** The checked name of a queue's schema. Returned by schemaName(). */
export interface SchemaName {
  /** The name without quotes. */
  readonly name: string;
  /** The name as a quoted SQL identifier. */
  readonly quoted: string;
}

export const DEFAULT_SCHEMA = "worker";

// The limit of PostgreSQL (NAMEDATALEN - 1), which truncates longer names without an error.
const MAX_BYTES = 63;

/**
 * Returns the checked name of a schema, by default `worker`. Throws InputError unless the name has 1–63 bytes, contains
 * no NUL, and does not begin with `pg_`, which PostgreSQL reserves.
 */
export function schemaName(name: string = DEFAULT_SCHEMA): SchemaName {
  const bytes = typeof name === "string" ? Buffer.byteLength(name) : 0;
  if (bytes === 0 || bytes > MAX_BYTES || name.includes("\0") || name.startsWith("pg_")) {
    throw new InputError([
      {
        path: "schema",
        message: `must have 1 to ${MAX_BYTES} bytes, no NUL, and not begin with pg_`,
      },
    ]);
  }
  return Object.freeze({ name, quoted: `"${name.replaceAll('"', '""')}"` });
}
