/** What became of a write: a notice when it is done, the reason in its dialog when it is not. */
import { Ask } from "../app/dialog";
import { Model } from "../app/model";
import { Pending, Topic } from "../app/requests";
import { jobPath } from "../app/route";
import { readJobActionResult, readMessageResult } from "../generated/records";
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
  const count = result.jobs.length;
  if (write.topic === Topic.Add) {
    const notice = m.notices.good(count === 1 ? `Added job ${result.jobs[0].id}` : "Added the job");
    notice.detail = result.message;
    if (count === 1) notice.link = jobPath(result.jobs[0].id);
    return;
  }
  const one = count === 1 && write.asked === 1;
  const what = one
    ? `job ${result.jobs[0].id}`
    : `${grouped(count)} of ${counted(write.asked, "job", "jobs")}`;
  const sentence = `${write.done} ${what}`;
  const notice = count === write.asked ? m.notices.good(sentence) : m.notices.warn(sentence);
  notice.detail = result.message;
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
