/** Adds a schedule, or changes one: what was typed, under the revision that the list has shown. */
import { writeFields } from "../forms/command-form";
import { Form } from "../forms/form";
import { readScheduleList } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { TablesDialog } from "./command";

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
