/** Stores answers about operations, and shows a notice when an operation whose page is not open no longer runs. */
import { Operation } from "../generated/records";
import { operationPath } from "../model/links";
import { Model } from "../model/model";
import { isAtWork, titleOf } from "./words";

/**
 * Shows a notice if the operation in `m.facts.left` has ended, or is paused or interrupted. Returns whether a notice
 * was shown.
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
 * Stores an answer about an operation for all pages. If another operation is stored, the answer is ignored unless a
 * process runs its operation or the undo of its operation.
 */
export function update(m: Model, operation: Operation): void {
  const known = m.facts.operation;
  if (known !== null && known.id !== operation.id && !isAtWork(operation)) return;
  // The stream may report the end of an undo before the request that began it is answered.
  if (known === null || known.id !== operation.id || known.state !== "undone") {
    m.facts.operation = operation;
  }
  announceEnd(m);
}
