/** What became of a write: a notice when it is done, the reason in its dialog when it is not. */
import { Ask } from "../app/dialog";
import { Model } from "../app/model";
import { Pending, Topic } from "../app/requests";
import { jobPath } from "../app/route";
import { JobActionResult, readJobActionResult, readMessageResult } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { counted, grouped } from "../lib/number";
import { reload } from "./navigate";

export function writeDone(m: Model, write: Pending, body: string): void {
  if (write.topic === Topic.Maintain) maintained(m, write, body);
  else if (write.topic === Topic.RemoveByKey) m.notices.good(messageOf(body));
  else changed(m, write, body);
  m.dialog = null;
  m.jobs.selected.clear();
  m.jobs.refocus = write.topic === Topic.Act;
  reload(m);
}

/** Keeps the dialog open, with what was typed, and says why in it. */
export function writeRefused(m: Model, write: Pending, reason: string): void {
  const dialog = m.dialog;
  if (write.topic === Topic.Maintain) m.maintenance.busy = false;
  if (dialog === null || !dialog.busy) {
    m.notices.bad(reason);
    return;
  }
  dialog.busy = false;
  dialog.error = reason;
}

function changed(m: Model, write: Pending, body: string): void {
  const r = new JsonReader(body);
  const result = readJobActionResult(r);
  r.end();
  if (r.failed) {
    m.notices.bad(`The server did it, but its answer can't be read: ${r.error}`);
    return;
  }
  if (write.topic === Topic.Add) added(m, result);
  else tellCount(m, write, result);
}

function added(m: Model, result: JobActionResult): void {
  const known = result.jobs.length === 1;
  const sentence = known ? `Added job ${result.jobs[0].id}` : "Added the job";
  const notice = m.notices.good(result.message.length > 0 ? result.message : sentence);
  if (known) notice.link = jobPath(result.jobs[0].id);
}

/** In the server's words; the numbers only where it left them out. */
function tellCount(m: Model, write: Pending, result: JobActionResult): void {
  const count = result.jobs.length;
  const numbers = `${grouped(count)} of ${counted(write.asked, "job", "jobs")}`;
  const said = result.message;
  const sentence = said.length > 0 ? said : `${write.done} ${numbers}`;
  const notice = count === write.asked ? m.notices.good(sentence) : m.notices.warn(sentence);
  if (!sentence.includes(`${grouped(count)} of ${grouped(write.asked)}`)) notice.detail = numbers;
}

function maintained(m: Model, write: Pending, body: string): void {
  const page = m.maintenance;
  const dialog = m.dialog;
  page.busy = false;
  page.message = messageOf(body);
  page.answer = body;
  page.detailed = membersOf(body) > 1;
  page.answeredAt = m.now;
  // A dry run is remembered; anything else makes an older dry run worthless.
  page.tried = write.done;
  if (dialog !== null && dialog.ask === Ask.ForceUnlock) m.selectedWorkers.clear();
  m.notices.good(page.message);
}

function messageOf(body: string): string {
  const r = new JsonReader(body);
  const result = readMessageResult(r);
  r.end();
  return r.failed || result.message.length === 0 ? "Done." : result.message;
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
