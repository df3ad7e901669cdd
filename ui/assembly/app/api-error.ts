/** Reads the error in an answer that is not a success, or in the event `problem` of the stream. */
import { capital } from "../controls/glyph";
import { ApiError, readApiError } from "../generated/records";
import { JsonReader } from "../lib/json-reader";

/** Returns the error in an answer. If the body contains none, makes an error from the status. */
export function errorOf(body: string, status: i32): ApiError {
  const r = new JsonReader(body);
  const error = readApiError(r);
  r.end();
  if (!r.failed && error.error.length > 0) {
    error.error = capitalise(error.error);
    return error;
  }
  const unknown = ApiError.empty();
  unknown.error =
    status === 0 ? "The server can't be reached." : `The server answered with status ${status}.`;
  return unknown;
}

/** Capitalises a sentence. A single word, or a sentence that begins with a field's name (`ids: …`), stays unchanged. */
export function capitalise(sentence: string): string {
  const space = sentence.indexOf(" ");
  if (space < 1 || sentence.charCodeAt(space - 1) === 0x3a) return sentence;
  return capital(sentence);
}
