// The rows of an operation after a given one, of which there may be a million. With "operation_id =", each batch read
// and sorted all of them (0.5 s): until the table is analyzed, PostgreSQL expects few rows for one operation. With a
// range of the primary key it reads only as many as needed.
const HIGHEST_ID = "9223372036854775807";

/** The condition; combine it with `order by` on the same columns and a limit. */
export const rowsAfter = (rows: string, operationId: string, jobId: string): string =>
  `(${rows}.operation_id, ${rows}.job_id) > (${operationId}, ${jobId})
    and (${rows}.operation_id, ${rows}.job_id) <= (${operationId}, ${HIGHEST_ID})`;
