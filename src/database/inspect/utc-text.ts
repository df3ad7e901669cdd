// SQL that formats times as the HTTP API returns them. A JavaScript Date would lose the microseconds.

/** Returns SQL that formats a timestamptz expression as RFC 3339 text in UTC. */
export const utcText = (expression: string): string =>
  `pg_catalog.to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
