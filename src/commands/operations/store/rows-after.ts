// A condition that selects the stored rows of an operation whose job ids are greater than a given id. An operation may
// have a million rows. With "operation_id =", each batch would read and sort all of them (0.5 s), because PostgreSQL
// expects few rows for one operation until the table is analyzed. With a range of the primary key, PostgreSQL reads
// only as many rows as needed.
const MAX_ID = "9223372036854775807";

/** Returns the condition. The query also needs `order by operation_id, job_id`, and a limit. */
export const rowsAfter = (rows: string, operationId: string, jobId: string): string =>
  `(${rows}.operation_id, ${rows}.job_id) > (${operationId}, ${jobId})
    and (${rows}.operation_id, ${rows}.job_id) <= (${operationId}, ${MAX_ID})`;
