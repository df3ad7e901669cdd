// The rows of an operation behind one of them, of which there may be a million. Told as
// "operation_id =" all of them were read and sorted for each batch (0.5 s): until the table has been analyzed
// PostgreSQL believes that few rows are one operation's. Told as a stretch of the primary key, as many as are
// wanted are read.
const HIGHEST_ID = "9223372036854775807";

/** The condition; `order by` the same columns, with a limit. */
export const rowsAfter = (rows: string, operationId: string, jobId: string): string =>
  `(${rows}.operation_id, ${rows}.job_id) > (${operationId}, ${jobId})
    and (${rows}.operation_id, ${rows}.job_id) <= (${operationId}, ${HIGHEST_ID})`;
