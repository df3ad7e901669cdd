/** The workers, and choosing those whose locks are to be taken away. */
import { Node } from "../../lib/node";
import { Model, Page } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { workersView } from "./view";

export class WorkersPage extends Page {
  private chosen: Set<string> = new Set<string>();

  constructor() {
    super("workers", "/workers");
    this.label = "Workers";
  }

  override title(): string {
    return "Workers";
  }

  override view(m: Model): Node {
    return workersView(m, this.chosen);
  }

  /** What was chosen can be seen only here. */
  override leave(): void {
    this.chosen.clear();
  }

  override forget(_m: Model): void {
    this.chosen.clear();
  }

  override act(_m: Model, verb: string, arg: string, _value: string): void {
    const chosen = this.chosen;
    if (verb === "select-none") chosen.clear();
    else if (verb === "select" && !chosen.delete(arg)) chosen.add(arg);
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    dialog.workers = this.chosen.values().sort();
  }

  override written(write: Pending): void {
    if (write.topic === "ask.unlock") this.chosen.clear();
  }
}
