/** Says what became of a write, in the server's words. */
import { MessageResult, readMessageResult } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { Model } from "../model/model";

/** A warning when not all of it was done. */
export function tellResult(m: Model, body: string): void {
  const r = new JsonReader(body);
  const result: MessageResult = readMessageResult(r);
  r.end();
  const said = r.failed || result.message.length === 0 ? "Done." : result.message;
  if (!r.failed && result.done < result.asked) m.notices.warn(said);
  else m.notices.good(said);
}
