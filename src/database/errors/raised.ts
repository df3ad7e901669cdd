// Errors that a statement of ours raises itself, by a cast of a text that is no number: plain SQL has no
// other way to take itself back.
import { codeOf, messageOf } from "../../base/errors.ts";

const INVALID_TEXT = "22P02";

/** Whether the error is that of this text. TypeORM's errors quote the statement, in which the text is a literal. */
export function isRaised(error: unknown, text: string): boolean {
  return codeOf(error) === INVALID_TEXT && new RegExp(`[^']${text}[^']`).test(messageOf(error));
}
