/** What has become of an operation's jobs, as its receipt has it: names, numbers and what they mean. */
import { exactly } from "../controls/value";
import { jobActionNamed, withJobs } from "../generated/commands";
import { Operation, OperationResults, Value } from "../generated/records";

export class Outcome {
  constructor(
    /** As the API has it; the empty string: there are no ids. */
    readonly name: string,
    readonly label: string,
    /** null: only the list of ids tells. */
    readonly count: Value | null,
    readonly meaning: string,
  ) {}

  /** Whether there is something to say of it. */
  get isThere(): bool {
    const count = this.count;
    return count === null || count.value > 0;
  }
}

/** Together they are all that matched. */
export function outcomesOf(operation: Operation): Outcome[] {
  const list: Outcome[] = [
    new Outcome("done", doneWord(operation.action), exactly(operation.done), ""),
    counted("locked", "Left alone", operation.skippedLocked, "ran at their turn"),
    counted("changed", "Changed", operation.skippedChanged, "written to since the rehearsal"),
    counted("gone", "Gone", operation.skippedGone, "removed before their turn"),
  ];
  const missing = operation.notFound;
  // None by an estimate is no news.
  if (missing !== null && (missing.value > 0 || missing.precision === "exact")) {
    list.push(new Outcome("", "Not found", missing, "gone, or matching no more"));
  }
  return list;
}

/** Of those that are done: what has become of them since, as they are now. */
export function resultsOf(results: OperationResults): Outcome[] {
  const meaning = results.errors.length > 0 ? results.errors[0].label : "";
  return [
    counted("", "Finished", results.finished, "gone from the queue"),
    counted("failed_again", "Failed again", results.failedAgain, meaning),
    counted("", "Running", results.running, ""),
    counted("", "Waiting", results.waiting, ""),
    counted("", "Changed by others", results.changed, ""),
  ];
}

/** Of those that are done: what an undo has made of them. */
export function undoOutcomesOf(operation: Operation): Outcome[] {
  const left = operation.undoSkipped;
  return [
    counted("undone", "Put back", operation.undone, "as they were"),
    counted("undo_changed", "Changed since", left.changed, "ran, or written to"),
    counted("undo_gone", "Gone since", left.gone, "finished or removed"),
    counted("undo_locked", "Running", left.locked, "left alone"),
    counted("undo_key_taken", "Key taken", left.keyTaken, "another job has their key"),
  ];
}

function counted(name: string, label: string, count: i64, meaning: string): Outcome {
  return new Outcome(name, label, exactly(count), meaning);
}

function doneWord(name: string): string {
  const action = jobActionNamed(name);
  return action === null ? name : withJobs(action.done, "");
}
