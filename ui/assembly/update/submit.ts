/** Sends what an open dialog asks for, if its form is sound. */
import { Ask, Dialog } from "../app/dialog";
import { Model } from "../app/model";
import { Pending, Topic } from "../app/requests";
import { focus } from "../host";
import { JsonWriter } from "../lib/json-writer";
import { Form, SMALLINT_MAX } from "./form";
import { cleanupBody, sweepBody } from "./maintenance";

export function submit(m: Model): void {
  const dialog = m.dialog;
  if (dialog === null || dialog.busy || !m.access.canWrite) return;
  const write = writeOf(m, dialog);
  if (dialog.draft.faulty) {
    focus("field-" + dialog.draft.firstFault);
    return;
  }
  dialog.busy = true;
  dialog.error = "";
  m.requests.write(m.access, write);
}

function writeOf(m: Model, dialog: Dialog): Pending {
  switch (dialog.ask) {
    case Ask.AddJob:
      return new Pending(Topic.Add, "api/jobs", addBody(dialog));
    case Ask.RemoveByKey:
      return new Pending(Topic.RemoveByKey, "api/jobs/remove-by-key", removeBody(dialog));
    case Ask.Migrate:
      return maintenance(new JsonWriter().string("action", "migrate").end());
    case Ask.Cleanup:
      return maintenance(cleanupBody(m.maintenance));
    case Ask.Sweep:
      return maintenance(sweepBody(m.maintenance, false));
    case Ask.ForceUnlock:
      return maintenance(
        new JsonWriter()
          .string("action", "force-unlock")
          .strings("worker_ids", dialog.workers)
          .end(),
      );
    default:
      return jobAction(dialog);
  }
}

function maintenance(body: string): Pending {
  return new Pending(Topic.Maintain, "api/maintenance", body);
}

function jobAction(dialog: Dialog): Pending {
  const form = new Form(dialog.draft);
  const ids: i64[] = [];
  for (let i = 0; i < dialog.jobs.length; i++) ids.push(dialog.jobs[i].id);
  form.body.string("action", actionName(dialog.ask)).ints("ids", ids);
  if (dialog.ask === Ask.Fail) form.optional("reason", "reason");
  else if (dialog.ask === Ask.RunNow) {
    if (dialog.draft.on("again")) form.body.int("attempts", 0);
  } else if (dialog.ask === Ask.Reschedule) reschedule(form);
  const write = new Pending(Topic.Act, "api/jobs/action", form.body.end());
  write.done = doneName(dialog.ask);
  write.asked = ids.length;
  return write;
}

function reschedule(form: Form): void {
  form.time("run_at", "run_at");
  form.small("priority", "priority", -SMALLINT_MAX - 1);
  form.small("attempts", "attempts", 0);
  form.small("max_attempts", "max_attempts", 1);
  if (form.filled === 0) form.draft.reject("run_at", "Change at least one of these.");
}

function addBody(dialog: Dialog): string {
  const draft = dialog.draft;
  const form = new Form(draft);
  form.required("identifier", "identifier", "Name the task that runs the job.");
  form.json("payload", "payload");
  form.optional("queue", "queue");
  form.time("run_at", "run_at");
  form.small("max_attempts", "max_attempts", 1);
  form.optional("key", "key");
  if (draft.value("key").trim().length > 0) form.optional("job_key_mode", "job_key_mode");
  form.small("priority", "priority", -SMALLINT_MAX - 1);
  form.names("flags", "flags");
  return form.body.end();
}

function removeBody(dialog: Dialog): string {
  const form = new Form(dialog.draft);
  form.required("key", "key", "Give the key of the job.");
  return form.body.end();
}

function actionName(ask: Ask): string {
  if (ask === Ask.Complete) return "complete";
  if (ask === Ask.Fail) return "fail";
  return ask === Ask.RunNow ? "run-now" : "reschedule";
}

function doneName(ask: Ask): string {
  if (ask === Ask.Complete) return "Completed";
  if (ask === Ask.Fail) return "Failed";
  return ask === Ask.RunNow ? "Set to run now:" : "Rescheduled";
}
