/** The housekeeping of the queue: its settings, and the dry run that comes before a sweep. */
import { TOOL } from "../../controls/icon";
import { beginBody, writeFields } from "../../forms/command-form";
import { commandNamed } from "../../generated/commands";
import { focus } from "../../host";
import { Node } from "../../lib/node";
import { Model, Page } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { takeUpkeep } from "../../records/upkeep";
import { MaintenanceModel } from "./model";
import { maintenanceView } from "./view";

export class MaintenancePage extends Page {
  private model: MaintenanceModel = new MaintenanceModel();

  constructor() {
    super("maintenance", "/maintenance");
    this.label = "Maintenance";
    this.drawing = TOOL;
    this.asksOverview = true;
    this.writes = true;
  }

  override title(): string {
    return "Maintenance";
  }

  override view(m: Model): Node {
    return maintenanceView(m, this.model);
  }

  override forget(_m: Model): void {
    this.model.busy = false;
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    if (verb === "input") this.model.draft.set(arg, value);
    else if (verb === "try-sweep" && m.access.canWrite) this.trySweep(m);
  }

  override aim(m: Model, dialog: OpenDialog): void {
    dialog.draft = this.model.draft.copy();
    dialog.note = m.upkeep.message;
  }

  override take(m: Model, request: Pending, body: string): void {
    this.model.busy = false;
    takeUpkeep(m, request, body);
  }

  override miss(m: Model, _request: Pending, _status: i32, reason: string): void {
    this.model.busy = false;
    m.notices.bad(reason);
  }

  private trySweep(m: Model): void {
    const model = this.model;
    if (model.busy) return;
    const sweep = commandNamed("sweep");
    const form = beginBody(sweep, model.draft);
    form.body.bool("dry_run", true);
    writeFields(form, sweep);
    if (model.draft.faulty) {
      focus("field-" + model.draft.firstFault);
      return;
    }
    const write = new Pending("maintenance.try-sweep", sweep.path, form.body.end());
    write.note = model.sweepSettings();
    model.busy = true;
    m.requests.write(m.access, write);
  }
}
