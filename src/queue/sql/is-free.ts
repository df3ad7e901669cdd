/** SQL: no worker has the job `jobs`. A lock that is 4 hours old belongs to a dead one. */
export const isFree =
  "(jobs.locked_at is null or jobs.locked_at < pg_catalog.now() - interval '4 hours')";
