/** The outcomes of an operation, such as “Skipped (changed)”. */
import { exactValue } from "../controls/value";
import { jobActionNamed, withJobs } from "../generated/commands";
import { Operation, OperationResults, Value } from "../generated/records";

export class Outcome {
  constructor(
    /** The outcome's name in the API; empty if the API does not list the jobs' ids. */
    readonly name: string,
    readonly label: string,
    /** The number of jobs; null if unknown. */
    readonly count: Value | null,
    readonly meaning: string,
  ) {}

  /** Whether the outcome has jobs, or the number of jobs is unknown. */
  get isThere(): bool {
    const count = this.count;
    return count === null || count.value > 0;
  }
}

/** Returns the outcomes of all jobs that matched the operation's query. */
export function outcomesOf(operation: Operation): Outcome[] {
  const action = jobActionNamed(operation.action);
  // `skippedLocked` counts: for cancel, running jobs whose workers were requested to end them; for stop-retrying, jobs
  // whose rows another transaction had locked.
  const isReached = action !== null && action.reachesRunning;
  const running = isReached ? withJobs(action!.doing, "") : "Skipped (running)";
  const list: Outcome[] = [
    new Outcome("done", doneWord(operation.action), exactValue(operation.done), ""),
    counted("locked", running, operation.skippedLocked, ""),
    counted("changed", "Skipped (changed)", operation.skippedChanged, "since the preview"),
    counted("gone", "Skipped (deleted)", operation.skippedGone, ""),
  ];
  const missing = operation.notFound;
  if (missing !== null && (missing.low > 0 || missing.precision === "exact")) {
    list.push(new Outcome("", "Not found", missing, "removed, or no longer matching"));
  }
  return list;
}

/** Returns how many of the changed jobs are now in each state, as far as the server has counted them. */
export function resultsOf(results: OperationResults): Outcome[] {
  const meaning = results.errors.length > 0 ? results.errors[0].label : "";
  return [
    counted("", "Finished", results.finished, "completed or removed"),
    counted("failed_again", "Failed again", results.failedAgain, meaning),
    counted("", "Running", results.running, ""),
    counted("", "Waiting", results.waiting, ""),
    counted("", "Changed since", results.changed, ""),
  ];
}

/** Returns the outcomes of the undo. */
export function undoOutcomesOf(operation: Operation): Outcome[] {
  const left = operation.undoSkipped;
  return [
    counted("undone", "Restored", operation.undone, ""),
    counted("undo_changed", "Skipped (changed)", left.changed, "ran or edited since"),
    counted("undo_gone", "Skipped (deleted)", left.gone, "finished or removed"),
    counted("undo_locked", "Skipped (running)", left.locked, ""),
    counted("undo_key_taken", "Skipped (key in use)", left.keyTaken, "another job has the key"),
  ];
}

function counted(name: string, label: string, count: i64, meaning: string): Outcome {
  return new Outcome(name, label, exactValue(count), meaning);
}

function doneWord(name: string): string {
  const action = jobActionNamed(name);
  return action === null ? name : withJobs(action.done, "");
}
