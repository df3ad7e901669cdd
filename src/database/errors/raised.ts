// Errors that this library's SQL raises itself, by casting text that is not a number: plain SQL has no RAISE, and only
// an error undoes its statement.
import { codeOf, messageOf } from "../../base/errors.ts";

const INVALID_TEXT = "22P02";

/**
 * Whether the error was raised with this text. A text in single quotes does not count: TypeORM's errors also quote the
 * statement, in which the text is a literal.
 */
export function isRaised(error: unknown, text: string): boolean {
  return codeOf(error) === INVALID_TEXT && new RegExp(`[^']${text}[^']`).test(messageOf(error));
}
