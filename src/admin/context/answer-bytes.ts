// The memory that an answer needs at most, for its reservation. An answer is in memory several times: as
// PostgreSQL's message, as texts of rows, as JSON with two bytes a character, as the bytes to send.

const COPIES = 8;

/** The memory for an answer with short rows. */
export const SMALL_ANSWER_BYTES = 2 * 1_048_576;

/** Returns the memory for an answer of `answerBytes`. */
export const memoryFor = (answerBytes: number): number =>
  Math.max(SMALL_ANSWER_BYTES, COPIES * answerBytes);
