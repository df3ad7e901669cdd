/** Dialogs that are made from the declaration of a command. */

import { beginBody, commandForm, writeFields } from "../forms/command-form";
import { Draft } from "../forms/draft";
import { Form } from "../forms/form";
import { Command } from "../generated/commands";
import {
  MessageResult,
  MissingTables,
  readMessageResult,
  readScheduleList,
  Schedule,
} from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { box, Node } from "../lib/node";
import { encode } from "../lib/percent";
import { Dialog, Model } from "../model/model";
import { Notice } from "../model/notices";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import {
  ADD_TABLES,
  addsTables,
  addTables,
  unstartable,
  withTables,
} from "../operations/missing-tables";

export class CommandDialog extends Dialog {
  constructor(protected readonly command: Command) {
    super(command.name);
  }

  override open(_m: Model, dialog: OpenDialog, arg: string): bool {
    // Page.aim() may have put the page's selected jobs or workers into the dialog.
    dialog.jobs = [];
    dialog.workers = [];
    const fields = this.command.fields;
    if (arg.length > 0 && fields.length > 0) dialog.draft.set(fields[0].name, arg);
    return true;
  }

  override title(_dialog: OpenDialog): string {
    return this.command.title;
  }

  override verb(_dialog: OpenDialog): string {
    return this.command.verb;
  }

  override text(_m: Model, dialog: OpenDialog): string {
    return this.consequence(dialog);
  }

  protected consequence(_dialog: OpenDialog): string {
    return this.command.consequence;
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return this.command.destroys;
  }

  override form(m: Model, dialog: OpenDialog): Node {
    return this.fields(m, dialog);
  }

  protected fields(m: Model, dialog: OpenDialog): Node {
    return commandForm(this.command, dialog.draft, m.serverNow);
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const form = beginBody(this.command, dialog.draft);
    this.members(m, dialog, form);
    return new Pending("ask." + this.name, this.command.path, form.body.end());
  }

  /** Writes the members of the request's body, except `action`. */
  protected members(_m: Model, _dialog: OpenDialog, form: Form): void {
    writeFields(form, this.command);
  }

  override done(m: Model, write: Pending, body: string): void {
    this.finished(m, write, body);
  }

  protected finished(m: Model, _write: Pending, body: string): void {
    noticeOf(m, body);
  }
}

/** A dialog that first adds the tables that its command needs, if the schema lacks them. */
export abstract class TablesDialog extends CommandDialog {
  protected missing: MissingTables | null = null;

  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.missing = null;
    return super.open(m, dialog, arg);
  }

  /** The text of the button if no tables have to be added first. */
  protected actionText(_dialog: OpenDialog): string {
    return this.command.verb;
  }

  override verb(dialog: OpenDialog): string {
    return addsTables(this.missing) ? ADD_TABLES : this.actionText(dialog);
  }

  override text(_m: Model, dialog: OpenDialog): string {
    return withTables(this.consequence(dialog), this.missing);
  }

  override blocked(_dialog: OpenDialog): string {
    return this.missing === null || addsTables(this.missing) ? "" : "Required tables are missing.";
  }

  override form(m: Model, dialog: OpenDialog): Node {
    return box("div", "form", [unstartable(this.missing), this.fields(m, dialog)]);
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const write = super.request(m, dialog);
    const missing = this.missing;
    return missing === null ? write : addTables(write.topic, missing);
  }

  /** After tables have been added, sends the command if the dialog is still open. */
  override done(m: Model, write: Pending, body: string): void {
    if (write.path === this.command.path) {
      this.finished(m, write, body);
      return;
    }
    const dialog = m.dialog;
    write.isStep = true;
    if (dialog === null || dialog !== write.dialog) return;
    this.missing = null;
    m.send(dialog, this.request(m, dialog));
  }
}

/** Ends reading the answer to a change. Returns whether the answer is valid; if not, a notice shows the reason. */
export function isReadable(m: Model, r: JsonReader): bool {
  r.end();
  if (r.failed)
    m.notices.bad(`The change was made, but the server's answer is invalid: ${r.error}`);
  return !r.failed;
}

/** Shows the message of an answer as a notice, and returns the notice; null if the answer is invalid. */
export function noticeOf(m: Model, body: string): Notice | null {
  const r = new JsonReader(body);
  const result: MessageResult = readMessageResult(r);
  if (!isReadable(m, r)) return null;
  const isPart = result.done + result.cancelling < result.requested;
  const message = result.message;
  const notice = isPart ? m.notices.warn(message) : m.notices.good(message);
  notice.undo = result.operation;
  return notice;
}

/** The dialog that adds or changes a schedule. For a change, only the fields that the user has changed are sent. */
export class ScheduleDialog extends TablesDialog {
  /** The revision and the name of the schedule to change, as in `4 nightly`; empty: a new schedule. */
  private target: string = "";
  /** The definition of the schedule before the change. */
  private before: Draft | null = null;

  /** `arg`: see `target`. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.target = arg;
    this.before = null;
    const query = arg.length > 0 ? "name=" + encode(this.identifier) : "limit=0";
    m.requests.read(m.access, this.name + ".tables", "api/schedules?" + query);
    return super.open(m, dialog, "");
  }

  override onAnswer(_m: Model, dialog: OpenDialog, _request: Pending, body: string): void {
    const list = readScheduleList(new JsonReader(body));
    this.missing = list.missing;
    if (this.target.length === 0 || list.schedules.length === 0) return;
    const before = draftOf(list.schedules[0]);
    this.before = before;
    const fields = this.command.fields;
    for (let i = 0; i < fields.length; i++) {
      dialog.draft.fill(fields[i].name, before.value(fields[i].name));
    }
  }

  private get identifier(): string {
    return this.target.substring(this.target.indexOf(" ") + 1);
  }

  override title(_dialog: OpenDialog): string {
    return this.target.length > 0 ? "Change " + this.identifier : this.command.title;
  }

  override blocked(dialog: OpenDialog): string {
    return this.target.length > 0 && this.before === null
      ? "The schedule has not been read."
      : super.blocked(dialog);
  }

  protected override members(_m: Model, dialog: OpenDialog, form: Form): void {
    const before = this.before;
    if (before !== null) {
      form.body.string("identifier", this.identifier);
      form.body.raw("revision", this.target.substring(0, this.target.indexOf(" ")));
      form.before = before;
      const fields = this.command.fields;
      for (let i = 0; i < fields.length; i++) {
        const name = fields[i].name;
        const isEmptied = dialog.draft.value(name).trim().length === 0;
        if (!isEmptied || before.value(name).length === 0) continue;
        // An emptied field for the queue removes the queue. No other field may be emptied.
        if (name === QUEUE) form.emptied(QUEUE);
        else dialog.draft.reject(name, "Enter a value.");
      }
    }
    writeFields(form, this.command);
  }
}

const QUEUE = "queue";

function draftOf(schedule: Schedule): Draft {
  const draft = new Draft();
  const queue = schedule.queue;
  draft.set("pattern", schedule.pattern);
  draft.set("time_zone", schedule.timeZone);
  draft.set("payload", schedule.payload);
  draft.set("backfill_secs", spanWord(schedule.backfillSecs));
  draft.set("jitter_secs", spanWord(schedule.jitterSecs));
  draft.set("overlap", schedule.overlap);
  draft.set(QUEUE, queue === null ? "" : queue);
  return draft;
}

/** Returns the text of a field for a duration, such as `90s`; empty if the field cannot show the duration. */
function spanWord(seconds: f64): string {
  return Math.floor(seconds) === seconds ? `${<i64>seconds}s` : "";
}
