// Times as the HTTP API returns them. PostgreSQL formats them, with all their microseconds.

/** Returns SQL for the RFC 3339 text in UTC of a timestamptz expression. */
export const utcText = (expression: string): string =>
  `pg_catalog.to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
