// Recognizes errors that this library's SQL raises itself, because only an error undoes a statement. Plain SQL has no
// RAISE, so the SQL casts a text that is not a number.
import { codeOf, messageOf } from "../../base/errors.ts";

const INVALID_TEXT = "22P02";

/**
 * Whether the error was raised with this text. The text in single quotes does not count: errors of TypeORM also contain
 * the statement, in which the text is a literal.
 */
export function isRaised(error: unknown, text: string): boolean {
  return codeOf(error) === INVALID_TEXT && new RegExp(`[^']${text}[^']`).test(messageOf(error));
}
