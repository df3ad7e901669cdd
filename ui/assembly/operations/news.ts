/** Stores answers about operations. Shows a notice when an operation stops running while its page is not open. */
import { Operation } from "../generated/records";
import { operationPath } from "../model/links";
import { Model } from "../model/model";
import { isAtWork, titleOf } from "./words";

/**
 * Shows a notice if the operation with the id `m.facts.left` has ended, or is paused or interrupted. Returns whether a
 * notice was shown.
 */
export function announceEnd(m: Model): bool {
  const operation = m.facts.operation;
  if (operation === null || operation.id !== m.facts.left || isAtWork(operation)) {
    return false;
  }
  m.facts.left = 0;
  const title = titleOf(operation);
  const isWell = operation.state === "done" || operation.state === "undone";
  const notice = isWell ? m.notices.good(title) : m.notices.warn(title);
  notice.link = operationPath(operation.id);
  const error = operation.error;
  if (error !== null) notice.detail = error;
  if (operation.canUndo && m.access.canWrite) notice.undo = operation.id;
  return true;
}

/**
 * Stores `operation`, from an answer of the server, for all pages. If another operation is stored, it is replaced only
 * while a process runs `operation` or the undo of `operation`.
 */
export function update(m: Model, operation: Operation): void {
  const known = m.facts.operation;
  if (known !== null && known.id !== operation.id && !isAtWork(operation)) return;
  // The event stream may report the end of an undo before the answer to the request that began the undo arrives.
  if (known === null || known.id !== operation.id || known.state !== "undone") {
    m.facts.operation = operation;
  }
  announceEnd(m);
}
