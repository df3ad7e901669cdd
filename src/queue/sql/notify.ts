// What workers hear when jobs may have become ready.

/**
 * An expression that announces `count` jobs to all workers, as the schema's own functions do. The
 * random number is for PostgreSQL, which sends equal messages of one transaction once.
 */
export const announceJobs = (count: string): string =>
  `pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), ${count}))`;
