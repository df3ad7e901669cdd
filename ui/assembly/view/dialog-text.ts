/** What each dialog says before a write: what it is, what it will touch, and the verb that does it. */
import { Ask, Dialog } from "../app/dialog";
import { DELETE_FAILED } from "../app/maintenance";
import { Model } from "../app/model";
import { counted, grouped } from "../lib/number";
import { WorkerRow, workerRows } from "./worker-rows";

export function dialogTitle(dialog: Dialog): string {
  switch (dialog.ask) {
    case Ask.AddJob:
      return "Add a job";
    case Ask.Complete:
      return "Complete " + jobs(dialog);
    case Ask.Fail:
      return "Fail " + jobs(dialog);
    case Ask.RunNow:
      return `Run ${jobs(dialog)} now`;
    case Ask.Reschedule:
      return "Reschedule " + jobs(dialog);
    case Ask.RemoveByKey:
      return "Remove a job by its key";
    case Ask.Migrate:
      return "Migrate the schema";
    case Ask.Cleanup:
      return "Clean up";
    case Ask.ForceUnlock:
      return "Force unlock " + counted(dialog.workers.length, "worker", "workers");
    default:
      return "Sweep stale workers";
  }
}

export function dialogVerb(dialog: Dialog): string {
  switch (dialog.ask) {
    case Ask.AddJob:
      return "Add the job";
    case Ask.Complete:
      return "Complete " + jobs(dialog);
    case Ask.Fail:
      return "Fail " + jobs(dialog);
    case Ask.RunNow:
      return `Run ${jobs(dialog)} now`;
    case Ask.Reschedule:
      return "Reschedule " + jobs(dialog);
    case Ask.RemoveByKey:
      return "Remove the job";
    case Ask.Migrate:
      return "Migrate";
    case Ask.Cleanup:
      return "Clean up";
    case Ask.ForceUnlock:
      return "Force unlock";
    default:
      return "Sweep";
  }
}

/** What will happen, in whole sentences. */
export function consequence(m: Model, dialog: Dialog): string {
  const many = dialog.jobs.length !== 1;
  switch (dialog.ask) {
    case Ask.Complete:
      return many ? "They are deleted and never run." : "It is deleted and never runs.";
    case Ask.Fail:
      return many
        ? "They get no more attempts, so they do not run again by themselves."
        : "It gets no more attempts, so it does not run again by itself.";
    case Ask.RunNow:
      return many
        ? "Their time is set to now: the next free workers take them."
        : "Its time is set to now: the next free worker takes it.";
    case Ask.Reschedule:
      return "What you fill in is changed; what stays empty is left as it is.";
    case Ask.RemoveByKey:
      return "The job with this key is deleted. If a worker runs it now, that run goes on, and it is not tried again.";
    case Ask.Migrate:
      return "The server applies the migrations that are missing. Workers may keep running.";
    case Ask.Cleanup:
      return cleanup(m);
    case Ask.ForceUnlock:
      return unlock(m, dialog);
    case Ask.Sweep:
      return `Dead workers are forgotten, and their jobs may run again after the wait. The last dry run said: ${m.maintenance.message}.`;
    default:
      return "";
  }
}

/** What the server will leave alone, or the empty string. */
export function exception(dialog: Dialog): string {
  const locked = dialog.count("locked");
  if (locked === 0) return "";
  if (locked === dialog.jobs.length) {
    return locked === 1
      ? "A worker holds it now, so it will be left alone."
      : "Workers hold all of them now, so they will be left alone.";
  }
  return locked === 1
    ? "1 of them is held by a worker and will be left alone."
    : `${grouped(locked)} of them are held by workers and will be left alone.`;
}

/** Whether it can't be undone. */
export function dangerous(m: Model, dialog: Dialog): bool {
  const ask = dialog.ask;
  if (ask === Ask.Cleanup) return m.maintenance.draft.on(DELETE_FAILED);
  return (
    ask === Ask.Complete ||
    ask === Ask.Fail ||
    ask === Ask.RemoveByKey ||
    ask === Ask.ForceUnlock ||
    ask === Ask.Sweep
  );
}

function jobs(dialog: Dialog): string {
  const list = dialog.jobs;
  return list.length === 1 ? `job ${list[0].id}` : counted(list.length, "job", "jobs");
}

function cleanup(m: Model): string {
  const draft = m.maintenance.draft;
  const steps: string[] = [];
  if (draft.on(DELETE_FAILED)) {
    const failed = counted(m.overview.stats.failed, "job", "jobs");
    steps.push(`Jobs that failed for good are deleted: ${failed} as of now.`);
  }
  if (draft.on("gc-task-identifiers")) steps.push("Task identifiers without jobs are removed.");
  if (draft.on("gc-job-queues")) steps.push("Queues without jobs are removed.");
  return steps.join(" ");
}

function unlock(m: Model, dialog: Dialog): string {
  const rows = workerRows(m.overview);
  let held: i64 = 0;
  let queues: i64 = 0;
  let alive = 0;
  for (let i = 0; i < rows.length; i++) {
    const row: WorkerRow = rows[i];
    if (!dialog.workers.includes(row.id)) continue;
    held += row.lockedJobs;
    queues += row.lockedQueues;
    if (row.status === "alive") alive++;
  }
  const what = `${counted(held, "job", "jobs")} and ${counted(queues, "queue", "queues")}`;
  const warning =
    alive > 0
      ? ` ${counted(alive, "of these workers still sends", "of these workers still send")} a heartbeat: a job that is running may run twice.`
      : " If a process still lives, its jobs may run twice.";
  return `${what} are unlocked and may run again at once.${warning}`;
}
