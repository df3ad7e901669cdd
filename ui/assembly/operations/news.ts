/** Tells the end of an operation that was begun here, wherever one is by then. */
import { Operation } from "../generated/records";
import { operationPath } from "../model/links";
import { Model } from "../model/model";
import { leftOf } from "./progress";
import { isAtWork, jobs, titleOf } from "./words";

/** Takes in what is known of an operation now. */
export function tellEnd(m: Model): void {
  const operation = m.facts.operation;
  if (operation === null || operation.id !== m.facts.begun || isAtWork(operation)) return;
  m.facts.begun = 0;
  // Its own page says it all.
  const path = operationPath(operation.id);
  if (m.address.path === path) return;
  const title = titleOf(operation);
  const isWell = operation.state === "done" || operation.state === "undone";
  const notice = isWell ? m.notices.good(title) : m.notices.warn(title);
  notice.link = path;
  const error = operation.error;
  const left = leftOf(operation);
  if (error !== null) notice.detail = error;
  else if (left > 0) notice.detail = `${jobs(left)} left alone.`;
  if (operation.canUndo && m.access.canWrite) notice.undo = operation.id;
}

/** Another answer about an operation is what the shell shows of it, too. */
export function learn(m: Model, operation: Operation): void {
  const known = m.facts.operation;
  if (known !== null && known.id !== operation.id && isAtWork(known)) return;
  m.facts.operation = operation;
  tellEnd(m);
}
