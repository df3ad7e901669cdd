/** The workers, and choosing those whose locks are to be taken away. */
import { CPU } from "../../controls/icon";
import { Node } from "../../lib/node";
import { Mark, Model, noMark, Page } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { workersView } from "./view";

export class WorkersPage extends Page {
  private chosen: Set<string> = new Set<string>();

  constructor() {
    super("workers", "/workers");
    this.label = "Workers";
    this.drawing = CPU;
    this.letter = "w";
    this.asksOverview = true;
  }

  override title(): string {
    return "Workers";
  }

  override mark(m: Model): Mark {
    if (!m.facts.has("pulse")) return noMark;
    const pulse = m.facts.pulse;
    const all = pulse.alive + pulse.silent;
    if (pulse.silent === 0) return new Mark(all.toString(), "");
    return new Mark(`${pulse.alive} of ${all}`, pulse.alive === 0 ? "red" : "amber");
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
