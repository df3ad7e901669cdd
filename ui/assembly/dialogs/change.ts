/** The dialog that stops or undoes an operation. It shows the progress, or how many jobs an undo can restore. */
import { ago } from "../controls/age";
import { jobActionNamed } from "../generated/commands";
import {
  Operation,
  OperationResults,
  readOperation,
  readOperationResults,
} from "../generated/records";
import { navigate } from "../host";
import { JsonReader } from "../lib/json-reader";
import { Node, nothing } from "../lib/node";
import { numberText, parseWhole } from "../lib/number";
import { operationPath } from "../model/links";
import { Dialog, Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { update } from "../operations/news";
import { aimOf, processedOf } from "../operations/progress";
import { jobs, pastOf } from "../operations/words";
import { isReadable } from "./command";

const FEW: i64 = 20;
const RESULTS = "change.results";

export class ChangeDialog extends Dialog {
  private id: i64 = 0;
  private isUndo: bool = false;
  /** The operation; null while its answer has not arrived. */
  private operation: Operation | null = null;
  private results: OperationResults | null = null;

  constructor() {
    super("change");
  }

  /** `arg`: `undo` or `stop` and the id of the operation, such as `undo 214`. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    const id = parseWhole(arg.substring(5));
    const known = m.facts.operation;
    this.isUndo = arg.startsWith("undo ");
    if (!id.valid || (!this.isUndo && !arg.startsWith("stop "))) return false;
    this.id = id.value;
    this.operation = known !== null && known.id === this.id ? known : null;
    dialog.jobs = [];
    dialog.workers = [];
    this.results = null;
    // A request for the results of another operation may be under way.
    m.requests.cancel(RESULTS);
    if (this.operation === null) m.requests.read(m.access, "change.one", this.path);
    else this.requestResults(m);
    return true;
  }

  private requestResults(m: Model): void {
    if (this.isUndo) m.requests.read(m.access, RESULTS, this.path + "/results");
  }

  private get path(): string {
    return `api/operations/${this.id}`;
  }

  override onAnswer(m: Model, _dialog: OpenDialog, request: Pending, body: string): void {
    const r = new JsonReader(body);
    if (request.topic === RESULTS) {
      const results = readOperationResults(r);
      if (!r.failed) this.results = results;
      return;
    }
    const operation = readOperation(r);
    r.end();
    if (r.failed || operation.id !== this.id) return;
    this.operation = operation;
    this.requestResults(m);
  }

  override reset(): void {
    this.operation = null;
  }

  override title(_dialog: OpenDialog): string {
    return `${this.isUndo ? "Undo" : "Stop"} operation ${this.id}?`;
  }

  override verb(_dialog: OpenDialog): string {
    const operation = this.operation;
    const results = this.results;
    if (!this.isUndo) return "Stop";
    if (operation === null || results === null) return "Undo";
    // The results may cover only the first jobs of the operation.
    if (results.scanned < operation.done) return "Restore jobs";
    return "Restore " + jobs(results.restorable);
  }

  override text(m: Model, _dialog: OpenDialog): string {
    const operation = this.operation;
    if (operation === null) return "";
    if (!this.isUndo) {
      return `Stops after the current batch. ${numberText(processedOf(operation))} of ${aimOf(operation)} are processed; the rest are not changed.`;
    }
    return `${pastOf(operation)}, ${ago(operation.startedAt, m.times)}. ${meaning(operation.action)}`;
  }

  override exception(_dialog: OpenDialog): string {
    const operation = this.operation;
    if (!this.isUndo || operation === null) return "";
    const kept =
      operation.undoJobs < operation.done
        ? ` Only the first ${numberText(operation.undoJobs)} can be restored.`
        : "";
    const results = this.results;
    if (results === null) return `Jobs that have run or changed since are skipped.${kept}`;
    const some = results.scanned < operation.done ? "the first " : "";
    return `Restores ${numberText(results.restorable)} of ${some}${jobs(results.scanned)}${whyNot(results)}.${kept}`;
  }

  override blocked(_dialog: OpenDialog): string {
    const results = this.results;
    const operation = this.operation;
    if (!this.isUndo || results === null || operation === null) return "";
    const isNone = results.restorable === 0 && results.scanned === operation.done;
    return isNone ? "No job can be restored." : "";
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return !this.isUndo;
  }

  override eager(_m: Model, _dialog: OpenDialog): bool {
    return false;
  }

  override form(_m: Model, _dialog: OpenDialog): Node {
    return nothing;
  }

  override request(_m: Model, _dialog: OpenDialog): Pending {
    const write = new Pending("ask.change", `${this.path}/${this.isUndo ? "undo" : "stop"}`, "{}");
    write.count = 1;
    return write;
  }

  override done(m: Model, _write: Pending, body: string): void {
    const r = new JsonReader(body);
    const operation = readOperation(r);
    if (!isReadable(m, r)) return;
    // An undo of a few jobs ends quickly, so the present page stays, and a notice shows the result.
    const path = operationPath(operation.id);
    const stays = this.isUndo && operation.done <= FEW;
    if (m.address.path !== path) {
      if (stays) m.facts.left = operation.id;
      else navigate(path, false);
    }
    update(m, operation);
  }
}

function meaning(action: string): string {
  const done = jobActionNamed(action);
  return done !== null && done.deletes
    ? "Restores each removed job under its id, unless another job has its id or key."
    : "Restores the previous state.";
}

/** Returns a reason such as `: 296 finished, 49 failed again`. */
function whyNot(results: OperationResults): string {
  const reasons: string[] = [];
  if (results.finished > 0) reasons.push(`${numberText(results.finished)} finished`);
  if (results.failedAgain > 0) reasons.push(`${numberText(results.failedAgain)} failed again`);
  if (results.running > 0) reasons.push(`${numberText(results.running)} running`);
  if (results.changed > 0) reasons.push(`${numberText(results.changed)} changed since`);
  return results.restorable < results.scanned && reasons.length > 0
    ? `: ${reasons.join(", ")}`
    : "";
}
