/** The maintenance page's forms: their request bodies, and the dry run that comes before a sweep. */
import { MaintenanceModel } from "../app/maintenance";
import { Model } from "../app/model";
import { Pending, Topic } from "../app/requests";
import { focus } from "../host";
import { JsonWriter } from "../lib/json-writer";
import { Form } from "./form";

export function updateMaintenance(m: Model, action: string, arg: string, value: string): void {
  const draft = m.maintenance.draft;
  if (action === "input") draft.set(arg, value);
  else if (action === "try-sweep" && m.access.canWrite) trySweep(m);
}

export function cleanupBody(page: MaintenanceModel): string {
  return new JsonWriter()
    .string("action", "cleanup")
    .strings("cleanup_tasks", page.chosenTasks())
    .end();
}

export function sweepBody(page: MaintenanceModel, dry: bool): string {
  const form = new Form(page.draft);
  form.body.string("action", "sweep-stale-workers").bool("dry_run", dry);
  form.seconds("threshold", "sweep_threshold_secs");
  form.seconds("delay", "recovery_delay_secs");
  return form.body.end();
}

function trySweep(m: Model): void {
  const page = m.maintenance;
  if (page.busy) return;
  const write = new Pending(Topic.Maintain, "api/maintenance", sweepBody(page, true));
  if (page.draft.faulty) {
    focus("field-" + page.draft.firstFault);
    return;
  }
  write.done = page.sweepSettings();
  page.busy = true;
  m.requests.write(m.access, write);
}
