/** Handles the outcome of a write. If a write from the open dialog is refused, the dialog shows the reason. */
import { Draft } from "../forms/draft";
import { Problem } from "../generated/records";
import { focus } from "../host";
import { Model } from "../model/model";
import { Pending } from "../model/requests";
import { requestLimits } from "../operations/limiting";
import { capitalise } from "./api-error";
import { reload } from "./navigate";

export function writeDone(m: Model, write: Pending, body: string): void {
  const page = m.pageNamed(write.owner);
  const dialog = write.dialog;
  const record = m.dialogNamed(dialog === null ? "" : dialog.name);
  if (page !== null) page.onAnswer(m, write, body);
  else if (record !== null) record.done(m, write, body);
  if (write.isStep) return;
  // The user may have opened another dialog since the write was sent. That dialog stays open.
  if (dialog !== null && dialog === m.dialog) m.dialog = null;
  for (let i = 0; i < m.pages.length; i++) m.pages[i].onWrite(write);
  reload(m);
  // The navigation shows the number of limits on every page.
  if (write.path === "api/limits") requestLimits(m);
}

/**
 * If a page sent the write, passes the failure to the page. Otherwise shows the failure in the write's dialog, or in a
 * notice if that dialog is not open.
 */
export function writeRefused(
  m: Model,
  write: Pending,
  status: i32,
  reason: string,
  problems: Problem[],
): void {
  const page = m.pageNamed(write.owner);
  const dialog = write.dialog;
  if (page !== null) page.onFailure(m, write, status, reason);
  else if (dialog === null || dialog !== m.dialog) m.notices.bad(reason);
  else if (!blamesFields(dialog.draft, problems)) dialog.error = reason;
}

/**
 * Shows each problem at its field, and returns true. If there are no problems, or if the field of one of them is not
 * shown, shows none and returns false.
 */
function blamesFields(draft: Draft, problems: Problem[]): bool {
  for (let i = 0; i < problems.length; i++) if (!draft.shows(problems[i].field)) return false;
  for (let i = 0; i < problems.length; i++) {
    draft.reject(problems[i].field, capitalise(problems[i].message) + ".");
  }
  if (problems.length > 0) focus("field-" + problems[0].field);
  return problems.length > 0;
}
