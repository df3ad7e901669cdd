// How much memory the making of an answer takes at the most, for the reservation before it begins. An answer
// is there several times: as PostgreSQL's message, as the texts of rows, as JSON of two bytes a character,
// as the bytes that are sent.

const COPIES = 8;

/** Of an answer whose rows are short. */
export const SMALL_ANSWER_BYTES = 2 * 1_048_576;

/** Of an answer of so many bytes. */
export const memoryFor = (answerBytes: number): number =>
  Math.max(SMALL_ANSWER_BYTES, COPIES * answerBytes);
