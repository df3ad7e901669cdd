// How much memory is reserved for a response before the response is built. The content of a response is in memory
// several times: as PostgreSQL's message, as texts of rows, as JSON with two bytes for each character, and as the
// bytes to send.

const COPIES = 8;

/** The memory to reserve for a response with short rows, in bytes. */
export const SMALL_ANSWER_BYTES = 2 * 1_048_576;

/** Returns the memory to reserve, in bytes, for a response of at most `answerBytes` bytes. */
export const memoryFor = (answerBytes: number): number =>
  Math.max(SMALL_ANSWER_BYTES, COPIES * answerBytes);
