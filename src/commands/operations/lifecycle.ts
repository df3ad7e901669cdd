// Begins, pauses, resumes, stops and undoes operations. After a begin, a resume or an undo, the caller has to run the
// operation (work.ts).
import { InputError, type Problem, WorkerError } from "../../base/errors.ts";
import { limitTo } from "../../domain/value.ts";
import type { Origin } from "../audit/audit-entry.ts";
import { actionData, type OperationAction, type OperationSettings } from "./model/action.ts";
import type { JobOperation, OperationState } from "./model/operation.ts";
import type { OperationStore, Transition } from "./model/operation-store.ts";

export const lifecycleActions = ["pause", "resume", "stop", "undo"] as const;
export type LifecycleAction = (typeof lifecycleActions)[number];

export const MAX_RATE = 1_000_000;
export const MAX_CANARY = 1_000;
export const MAX_LIMIT = 1_000_000_000;

/**
 * Starts a rehearsed operation. Throws `not_found` if the rehearsal does not exist, has expired or was used, InputError
 * for invalid settings, and `conflict` while another operation runs or is being undone.
 */
export async function beginOperation(
  store: OperationStore,
  rehearsalId: string,
  origin: Origin,
  settings: OperationSettings,
): Promise<JobOperation> {
  const rehearsal = await store.take(rehearsalId);
  if (rehearsal === null) {
    const message =
      "preview not found: it is valid for 15 minutes and for one operation; preview again";
    throw new WorkerError("not_found", message);
  }
  try {
    const problems = settingsProblems(rehearsal.action, settings);
    if (problems.length > 0) throw new InputError(problems);
    const { limit } = settings;
    const expected = limit === null ? rehearsal.expected : limitTo(rehearsal.expected, limit);
    return await store.begin({ ...rehearsal, expected }, origin, settings);
  } catch (error) {
    // No job has changed, so the rehearsal can be used again.
    await store.keep(rehearsal).catch(() => {});
    throw error;
  }
}

/** Returns the problems of the rate, the canary and the limit. */
export function settingsProblems(
  action: OperationAction,
  { rate, canary, limit }: OperationSettings,
): Problem[] {
  const problems: Problem[] = [];
  if (canary !== null && actionData(action).canary === "none") {
    const message = `applies only to retry and run-now: after ${action}, the outcome of a job does not show whether the others would fail`;
    problems.push({ path: "canary", message });
  }
  if (canary !== null && !(canary >= 1 && canary <= MAX_CANARY)) {
    problems.push({ path: "canary", message: `must be from 1 to ${MAX_CANARY}` });
  }
  if (limit !== null && !(limit >= 1 && limit <= MAX_LIMIT)) {
    problems.push({ path: "limit", message: `must be from 1 to ${MAX_LIMIT}` });
  }
  if (rate !== null && !(rate >= 0 && rate <= MAX_RATE)) {
    problems.push({ path: "rate", message: `must be from 0 (no pauses) to ${MAX_RATE}` });
  }
  return problems;
}

/**
 * Pauses, resumes or stops an operation, or begins its undo. Throws `not_found`. Throws `conflict` if the operation's
 * state, or another operation that runs or is being undone, does not allow the action.
 */
export async function changeOperation(
  store: OperationStore | null,
  id: string,
  action: LifecycleAction,
): Promise<JobOperation> {
  if (store === null) throw noOperation(id);
  const operation = await existingOperation(store, id);
  const transition = transitionOf(operation, action);
  const moved = transition === null ? null : await store.move(id, transition);
  if (moved !== null) return moved;
  throw refusal(await existingOperation(store, id), action);
}

export async function existingOperation(
  store: OperationStore | null,
  id: string,
): Promise<JobOperation> {
  const operation = (await store?.find(id)) ?? null;
  if (operation === null) throw noOperation(id);
  return operation;
}

const noOperation = (id: string) => new WorkerError("not_found", `there is no operation ${id}`);

function transitionOf(operation: JobOperation, action: LifecycleAction): Transition | null {
  const { state, undoAfterId, canUndo } = operation;
  switch (action) {
    case "pause":
      return { from: ["running", "canary"], to: "paused" };
    case "resume":
      if (undoAfterId !== null) return { from: ["interrupted"], to: "undoing", takes: true };
      // An operation that its canary has paused continues with the jobs after the canary.
      return { from: ["paused", "interrupted"], to: "running", takes: true };
    case "stop":
      return { from: ["running", "canary", "paused", "interrupted", "undoing"], to: "stopped" };
    case "undo":
      if (state === "interrupted" && undoAfterId !== null) {
        return { from: ["interrupted"], to: "undoing", takes: true };
      }
      return canUndo ? { from: ["done", "stopped", "failed"], to: "undoing", takes: true } : null;
    default:
      return action satisfies never;
  }
}

const allowed: Readonly<Record<LifecycleAction, string>> = {
  pause: "only a running operation can be paused",
  resume: "only a paused or interrupted operation can be resumed",
  stop: "only an operation that has not ended can be stopped",
  undo: "an operation can be undone once, within 24 hours of its end, if the state of its jobs was kept",
};

function refusal(operation: JobOperation, action: LifecycleAction): WorkerError {
  const { id, state, done } = operation;
  if (action === "undo" && state === "done" && done === 0) {
    const message = `operation ${id} has changed no job: there is nothing to undo`;
    return new WorkerError("conflict", message);
  }
  return new WorkerError("conflict", `operation ${id} is ${words[state]}; ${allowed[action]}`);
}

const words: Readonly<Record<OperationState, string>> = {
  running: "running",
  canary: "watching its canary",
  paused: "paused",
  interrupted: "interrupted",
  stopped: "stopped",
  done: "done",
  failed: "failed",
  undoing: "being undone",
  undone: "undone",
};
