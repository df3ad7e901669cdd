/** The dialog of a command, built from its declaration; that of a command that needs tables; and that of schedules. */
import { beginBody, commandForm, writeFields } from "../forms/command-form";
import { Form } from "../forms/form";
import { Command } from "../generated/commands";
import {
  MessageResult,
  MissingTables,
  readMessageResult,
  readScheduleList,
} from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { box, Node } from "../lib/node";
import { Dialog, Model } from "../model/model";
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
    // This command is not about the jobs that are selected on the page.
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

  override text(_m: Model, _dialog: OpenDialog): string {
    return this.command.consequence;
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return this.command.destroys;
  }

  override form(m: Model, dialog: OpenDialog): Node {
    return commandForm(this.command, dialog.draft, m.serverNow);
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const form = beginBody(this.command, dialog.draft);
    this.members(m, dialog, form);
    return new Pending("ask." + this.name, this.command.path, form.body.end());
  }

  /** Writes the request's members after the action. */
  protected members(_m: Model, _dialog: OpenDialog, form: Form): void {
    writeFields(form, this.command);
  }

  /** Shows the server's sentence, as a warning if not everything was done. */
  override done(m: Model, _write: Pending, body: string): void {
    const r = new JsonReader(body);
    const result: MessageResult = readMessageResult(r);
    r.end();
    const said = r.failed || result.message.length === 0 ? "Done." : result.message;
    const isPart = !r.failed && result.done < result.requested;
    const notice = isPart ? m.notices.warn(said) : m.notices.good(said);
    notice.undo = result.operation;
  }
}

/** Adds the tables first where the schema lacks them. */
export abstract class TablesDialog extends CommandDialog {
  protected missing: MissingTables | null = null;

  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.missing = null;
    return super.open(m, dialog, arg);
  }

  /** The text of its button where no table is missing. */
  protected deed(): string {
    return this.command.verb;
  }

  override verb(_dialog: OpenDialog): string {
    return addsTables(this.missing) ? ADD_TABLES : this.deed();
  }

  override text(_m: Model, _dialog: OpenDialog): string {
    return withTables(this.command.consequence, this.missing);
  }

  override blocked(_dialog: OpenDialog): string {
    return this.missing === null || addsTables(this.missing) ? "" : "Required tables are missing.";
  }

  override form(m: Model, dialog: OpenDialog): Node {
    return box("div", "form", [unstartable(this.missing), super.form(m, dialog)]);
  }

  override request(m: Model, dialog: OpenDialog): Pending {
    const write = super.request(m, dialog);
    const missing = this.missing;
    return missing === null ? write : addTables(write.topic, missing);
  }

  /** The tables are there now: goes on, unless the dialog was closed meanwhile. */
  override done(m: Model, write: Pending, body: string): void {
    if (write.path === this.command.path) {
      super.done(m, write, body);
      return;
    }
    const dialog = m.dialog;
    m.keepDialog = true;
    this.missing = null;
    if (dialog === null || dialog.name !== this.name || !dialog.busy) return;
    m.requests.write(m.access, this.request(m, dialog));
  }
}

/** Adds a schedule, or changes one: what was typed, under the revision that the list has shown. */
export class ScheduleDialog extends TablesDialog {
  /** The revision and the name of the schedule to change; empty: a new one. */
  private target: string = "";

  /** `arg`: `4 nightly`. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    this.target = arg;
    m.requests.read(m.access, this.name + ".tables", "api/schedules?limit=0");
    return super.open(m, dialog, "");
  }

  override take(_m: Model, _request: Pending, body: string): void {
    this.missing = readScheduleList(new JsonReader(body)).missing;
  }

  private get identifier(): string {
    return this.target.substring(this.target.indexOf(" ") + 1);
  }

  override title(_dialog: OpenDialog): string {
    return this.target.length > 0 ? "Change " + this.identifier : this.command.title;
  }

  protected override members(_m: Model, _dialog: OpenDialog, form: Form): void {
    if (this.target.length > 0) {
      form.body.string("identifier", this.identifier);
      form.body.raw("revision", this.target.substring(0, this.target.indexOf(" ")));
    }
    writeFields(form, this.command);
  }
}
