/** Receives the answers to all requests, and passes each answer to the part that sent the request. */
import { ApiError } from "../generated/records";
import { Gate } from "../model/access";
import { Model } from "../model/model";
import { isAway, Pending } from "../model/requests";
import { errorOf } from "./api-error";
import { takeAnswer } from "./feed";
import { endOutage, outage } from "./freshness";
import { FINDS, takeNames } from "./palette";
import { handleDenied, requestSession, SESSION, sessionAnswered } from "./session";
import { writeDone, writeRefused } from "./writes";

const SLOW: string[] = ["timeout", "database_timeout", "busy", "database_busy"];

/** Handles an answer. `status`: 0 if there was no answer. `bytes`: the size of the body as transferred. */
export function takeReply(
  m: Model,
  id: i32,
  status: i32,
  retryAfter: string,
  body: string,
  bytes: i32,
): void {
  const pending = m.requests.take(id);
  if (pending === null) return;
  m.requests.count(pending, bytes);
  const open = m.access.gate === Gate.Open;
  if (status === 401) handleDenied(m, body);
  else if (pending.topic === SESSION) {
    sessionAnswered(m, status, retryAfter, body);
    if (status !== 200) unpark(m, errorOf(body, status).error);
  } else if (status >= 200 && status < 300) answered(m, pending, body);
  else if (pending.isWrite) writeFailed(m, pending, status, retryAfter, body);
  else {
    const error = errorOf(body, status);
    // If the server was too slow, this is an outage only for reads of data about the whole queue (feed.ts).
    const isSlow = SLOW.includes(error.code);
    const isOneTimeout = isSlow && (pending.owner !== "app" || pending.what.startsWith(FINDS));
    readFailed(m, pending, isOneTimeout ? 504 : status, error.error);
    if (isOneTimeout) return;
  }
  if (!open) return;
  if (isAway(status)) outage(m, outageOf(body, status));
  else if (status < 400 && pending.topic !== SESSION) {
    m.live.newsAt = m.now;
    endOutage(m);
  }
}

/** Replaces the server's text for a timeout, because that text is about one request. */
function outageOf(body: string, status: i32): ApiError {
  const error = errorOf(body, status);
  if (error.code.endsWith("timeout")) error.error = "PostgreSQL timed out.";
  return error;
}

function answered(m: Model, pending: Pending, body: string): void {
  if (pending.isWrite) writeDone(m, pending, body);
  else if (pending.what.startsWith(FINDS)) takeNames(m, pending, body);
  else if (pending.owner === "app") takeAnswer(m, pending, body);
  else {
    const page = m.pageNamed(pending.owner);
    const dialog = m.dialog;
    const record = m.dialogNamed(pending.owner);
    if (page !== null) page.onAnswer(m, pending, body);
    else if (dialog !== null && record !== null && dialog.name === pending.owner) {
      record.onAnswer(m, dialog, pending, body);
    }
  }
}

function readFailed(m: Model, pending: Pending, status: i32, reason: string): void {
  const page = m.pageNamed(pending.owner);
  const dialog = m.dialog;
  if (page !== null) page.onFailure(m, pending, status, reason);
  else if (dialog !== null && dialog.name === pending.owner) {
    m.requests.keep(pending, dialog);
    if (!isAway(status)) dialog.unread = reason;
  } else if (!isAway(status) && !pending.what.startsWith(FINDS)) m.notices.bad(reason);
}

function writeFailed(m: Model, write: Pending, status: i32, wait: string, body: string): void {
  const error = errorOf(body, status);
  if (status === 403 && error.code === "csrf" && !write.again) tryAgain(m, write);
  else writeRefused(m, write, status, writeReason(status, wait, error.error), error.problems);
}

/** Requests a new session, because the server may have restarted. The write waits for the new CSRF token. */
function tryAgain(m: Model, write: Pending): void {
  write.again = true;
  m.requests.parked.push(write);
  if (m.access.gate === Gate.Open) requestSession(m);
}

/** Reports the writes that wait for a new session as refused. */
function unpark(m: Model, reason: string): void {
  const parked = m.requests.parked;
  m.requests.parked = [];
  for (let i = 0; i < parked.length; i++) writeRefused(m, parked[i], 403, reason, []);
}

function writeReason(status: i32, retryAfter: string, reason: string): string {
  if (status === 0) {
    return "The server did not respond. The change may have been made: check before retrying.";
  }
  if (retryAfter.length === 0) return reason;
  return `${reason}${reason.endsWith(".") ? "" : "."} Try again in ${retryAfter} s.`;
}
