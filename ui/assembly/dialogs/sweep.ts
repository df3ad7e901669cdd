/**
 * The dialog that, after a preview, recovers the jobs and unlocks the queues of stale workers and of workers without
 * heartbeats.
 */
import { writeFields } from "../forms/command-form";
import { Form } from "../forms/form";
import { readSweep, Sweep } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { countText } from "../lib/number";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { CommandDialog } from "./command";

export class SweepDialog extends CommandDialog {
  /** The result of the last preview; null if there was no preview with the present settings. */
  private found: Sweep | null = null;

  override open(m: Model, dialog: OpenDialog, _arg: string): bool {
    this.found = null;
    super.open(m, dialog, "");
    const fields = this.command.fields;
    for (let i = 0; i < fields.length; i++) dialog.draft.set(fields[i].name, fields[i].fallback);
    m.send(dialog, this.request(m, dialog));
    return true;
  }

  private get workers(): i32 {
    const found = this.found;
    return found === null ? 0 : found.staleWorkers.length + found.unknownWorkers.length;
  }

  override verb(_dialog: OpenDialog): string {
    return this.workers > 0
      ? `Sweep ${countText(this.workers, "worker", "workers")}`
      : "Preview again";
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return this.workers > 0;
  }

  override eager(_m: Model, _dialog: OpenDialog): bool {
    return false;
  }

  /** Discards the preview, because it was made with other settings. */
  override onInput(_m: Model, dialog: OpenDialog, _field: string): void {
    this.found = null;
    dialog.workers = [];
  }

  override text(_m: Model, dialog: OpenDialog): string {
    const found = this.found;
    if (found === null) {
      return "Finds workers that are not responding. Nothing changes yet.";
    }
    if (this.workers === 0) return "No worker to sweep." + spared(found);
    const stale = found.staleWorkers.length;
    const removed =
      stale > 0
        ? `${countText(stale, "worker has", "workers have")} sent no heartbeat for ${dialog.draft.value(this.command.fields[0].name).trim()} s and will be removed. `
        : "";
    const locked = found.lockedJobs - found.recoverableJobs;
    const rest =
      locked > 0 ? ` ${countText(locked, "job stays", "jobs stay")} locked for now.` : "";
    const delay = dialog.draft.value(this.command.fields[1].name).trim();
    return `${removed}${countText(found.recoverableJobs, "job", "jobs")} can run again after ${delay} s.${rest}${spared(found)}`;
  }

  /** Returns a warning about workers without heartbeats: a crashed one cannot be distinguished from a busy one. */
  override exception(_dialog: OpenDialog): string {
    const found = this.found;
    const unknown = found === null ? 0 : found.unknownWorkers.length;
    return unknown === 0
      ? ""
      : `${countText(unknown, "worker sends", "workers send")} no heartbeats: jobs of a worker that is still running would run twice.`;
  }

  protected override members(_m: Model, _dialog: OpenDialog, form: Form): void {
    form.body.bool("dry_run", this.workers === 0);
    writeFields(form, this.command);
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const write = super.request(m, dialog);
    write.note = this.settings(dialog);
    return write;
  }

  private settings(dialog: OpenDialog): string {
    const fields = this.command.fields;
    return `${dialog.draft.value(fields[0].name)} ${dialog.draft.value(fields[1].name)}`;
  }

  /** After a preview, the dialog stays open and shows what would change. */
  override done(m: Model, write: Pending, body: string): void {
    const r = new JsonReader(body);
    const sweep = readSweep(r);
    r.end();
    if (r.failed || !sweep.dryRun) {
      super.done(m, write, body);
      return;
    }
    write.isStep = true;
    const dialog = m.dialog;
    // If the settings have changed since the request, the answer is outdated.
    if (dialog === null || dialog !== write.dialog || this.settings(dialog) !== write.note) return;
    this.found = sweep;
    dialog.workers = sweep.staleWorkers.concat(sweep.unknownWorkers);
  }
}

function spared(found: Sweep): string {
  const count = found.sparedWorkers.length;
  return count === 0
    ? ""
    : ` ${countText(count, "worker is", "workers are")} skipped because of a longer threshold.`;
}
