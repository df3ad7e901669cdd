// Notifies workers of new jobs.

/**
 * Returns an expression that announces `count` jobs to all workers, as the schema's own functions do. The random number
 * makes each message unique: PostgreSQL sends equal messages of a transaction only once.
 */
export const announceJobs = (count: string): string =>
  `pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), ${count}))`;
