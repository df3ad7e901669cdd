// Times in wire format, built by PostgreSQL with all their microseconds.

/** RFC 3339 text in UTC of a timestamptz expression. */
export const utcText = (expression: string): string =>
  `pg_catalog.to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
