/** The actions that the palette offers for each task that it has found by name. */
import { PLUS, RETRY } from "../controls/icon";
import { valueText } from "../controls/value";
import { ListedTask } from "../generated/records";
import { operationArg } from "../kit/verb";
import { quoteIfNeeded } from "../model/links";
import { OF_TASK } from "../model/open-dialog";
import { Shortcut } from "../model/shortcut";
import { setShortcut } from "./limiting";
import { pauseShortcut } from "./pausing";

const GROUP = "Actions";

/** Returns the actions: retry the failed jobs, if there are any; add a job; pause or resume the task; limit it. */
export function taskVerbs(task: ListedTask): Shortcut[] {
  const name = task.identifier;
  const verbs: Shortcut[] = [];
  if (task.failed.value > 0) {
    const about = operationArg("retry", "is:failed task:" + quoteIfNeeded(name));
    const label = `Retry the ${valueText(task.failed)} failed ${name} jobs…`;
    verbs.push(new Shortcut("", label, "ask.operation", about, GROUP, RETRY, "preview first"));
  }
  verbs.push(new Shortcut("", `Add a ${name} job…`, "ask.add", OF_TASK + name, GROUP, PLUS));
  verbs.push(pauseShortcut("task " + name, task.paused !== null, "", GROUP));
  verbs.push(setShortcut("task " + name, "", GROUP));
  return verbs;
}
