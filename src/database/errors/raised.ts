// Recognizes errors that this library's SQL raises on purpose, because only an error undoes a statement. Plain SQL has
// no RAISE, so the SQL casts a text to a number. The cast fails, and PostgreSQL's message contains the text, which
// describes the error.
import { codeOf, messageOf } from "../../base/errors.ts";

const INVALID_TEXT = "22P02";

/**
 * Whether `error` was raised with `text`. If `text` is in single quotes, it does not count: the messages of TypeORM's
 * errors also contain the statement, in which `text` is a literal.
 */
export function isRaised(error: unknown, text: string): boolean {
  return codeOf(error) === INVALID_TEXT && new RegExp(`[^']${text}[^']`).test(messageOf(error));
}
