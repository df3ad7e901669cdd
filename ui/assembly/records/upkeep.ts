/** Says what became of a write, and keeps the answer to the last piece of maintenance. */
import { MessageResult, readMessageResult } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { Model } from "../model/model";
import { Pending } from "../model/requests";

export function takeUpkeep(m: Model, write: Pending, body: string): void {
  const answer = m.upkeep;
  answer.message = resultOf(body).message;
  answer.body = body;
  answer.detailed = membersOf(body) > 1;
  answer.at = m.now;
  // A dry run is remembered; anything else makes an older dry run worthless.
  answer.tried = write.note;
  m.notices.good(answer.message);
}

/** Says what became of a write, in the server's words; a warning when not all of it was done. */
export function tellResult(m: Model, body: string): void {
  const result = resultOf(body);
  if (result.done < result.asked) m.notices.warn(result.message);
  else m.notices.good(result.message);
}

function resultOf(body: string): MessageResult {
  const r = new JsonReader(body);
  const result = readMessageResult(r);
  r.end();
  if (!r.failed && result.message.length > 0) return result;
  const unknown = new MessageResult();
  unknown.message = "Done.";
  return unknown;
}

function membersOf(body: string): i32 {
  const r = new JsonReader(body);
  let count = 0;
  r.beginObject();
  while (r.nextKey()) {
    r.skip();
    count++;
  }
  r.end();
  return r.failed ? 0 : count;
}
