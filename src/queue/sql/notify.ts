// Announces to workers that jobs may have become ready.

/** The channel on which this library and the functions of the schema announce jobs. */
export const NEW_JOBS = "jobs:insert";

/**
 * Returns an SQL expression that announces jobs to all workers, as the schema's own functions do. The random number
 * makes each message unique: PostgreSQL sends equal messages of a transaction only once.
 */
export const announceJobs = (count: string): string =>
  `pg_catalog.pg_notify('${NEW_JOBS}', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), ${count}))`;
