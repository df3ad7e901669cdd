/** Opens the dialogs that say what a write will touch before it is sent. */
import { Ask, Dialog } from "../app/dialog";
import { Model } from "../app/model";
import { Page } from "../app/route";
import { ListedJob } from "../generated/records";

export function updateAsk(m: Model, action: string, arg: string): void {
  if (!m.access.canWrite) return;
  if (action === "add") openAdd(m);
  else if (action === "complete") openForJobs(m, Ask.Complete);
  else if (action === "fail") openForJobs(m, Ask.Fail);
  else if (action === "run-now") openForJobs(m, Ask.RunNow);
  else if (action === "reschedule") openForJobs(m, Ask.Reschedule);
  else if (action === "remove-by-key") openRemove(m, arg);
  else if (action === "migrate") m.dialog = new Dialog(Ask.Migrate);
  else if (action === "cleanup") m.dialog = new Dialog(Ask.Cleanup);
  else if (action === "sweep") m.dialog = new Dialog(Ask.Sweep);
  else if (action === "force-unlock") openForceUnlock(m);
}

function openAdd(m: Model): void {
  const dialog = new Dialog(Ask.AddJob);
  dialog.draft.set("payload", "{}");
  m.dialog = dialog;
}

function openForJobs(m: Model, ask: Ask): void {
  const jobs = aimedAt(m);
  if (jobs.length === 0) return;
  const dialog = new Dialog(ask);
  dialog.jobs = jobs;
  // A failed job has no attempts left: without new ones "run now" would change nothing.
  if (ask === Ask.RunNow && dialog.count("failed") > 0) dialog.draft.set("again", "on");
  m.dialog = dialog;
}

function openRemove(m: Model, key: string): void {
  const dialog = new Dialog(Ask.RemoveByKey);
  dialog.draft.set("key", key);
  m.dialog = dialog;
}

function openForceUnlock(m: Model): void {
  const workers = m.selectedWorkers.values();
  if (workers.length === 0) return;
  const dialog = new Dialog(Ask.ForceUnlock);
  dialog.workers = workers.sort();
  m.dialog = dialog;
}

function aimedAt(m: Model): ListedJob[] {
  if (m.route.page === Page.Jobs) return m.jobs.chosen();
  const job = m.job.job;
  return job === null ? [] : [job];
}
