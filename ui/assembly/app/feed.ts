/** Receives the data about the whole queue: in the event stream, or as answers to requests. */
import { readOperations } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { Model } from "../model/model";
import { Pending } from "../model/requests";
import { announceEnd } from "../operations/news";
import { isAtWork } from "../operations/words";
import { reload } from "./navigate";

/** The path of the event stream. */
export const EVENTS = "api/events?events=pulse,counts,incidents,horizon,operation";

const CLOCKS_AGREE_MS: f64 = 2000;

/** Requests the data that an open stream would send, except the pulse. */
export function requestFacts(m: Model): void {
  m.live.requestedAt = m.now;
  read(m, "counts");
  read(m, "incidents");
  read(m, "horizon");
  read(m, "operations");
}

/** Requests only the counts. */
export function requestCounts(m: Model): void {
  m.live.requestedAt = m.now;
  read(m, "counts");
}

function read(m: Model, what: string): void {
  if (!m.requests.waitsFor("app." + what)) m.requests.read(m.access, "app." + what, "api/" + what);
}

export function takeAnswer(m: Model, request: Pending, body: string): void {
  if (request.what === "operations") takeOperations(m, body);
  else takeFact(m, request.what, body);
}

/**
 * Stores the data of an event or an answer, and passes the data to the page. Returns false if the data cannot be read.
 * While live updates are paused, only data of operations reach the page. Other data are kept until the pause ends.
 */
export function takeFact(m: Model, event: string, data: string): bool {
  if (m.live.isPaused && event !== "operation") {
    m.facts.store(event, data);
    return true;
  }
  const before = m.facts.counts;
  const fault = m.facts.take(event, data);
  if (fault.length > 0) {
    m.notices.bad(fault);
    return false;
  }
  if (event === "pulse") setClock(m, m.facts.pulse.at);
  else if (event === "counts") {
    setClock(m, m.facts.counts.asOf);
    m.facts.noteChanges(before, m.now);
  } else if (event === "operation") {
    m.facts.changedAt = m.now;
    // An operation that has stopped running may have changed jobs on the open page.
    if (announceEnd(m)) reload(m);
  }
  m.page.onEvent(m, event, data);
  return true;
}

/**
 * Estimates by how much PostgreSQL's clock is ahead of this machine's clock. A delay of the data makes `ahead` smaller,
 * so the largest `ahead` is the best estimate.
 */
function setClock(m: Model, at: f64): void {
  if (isNaN(at)) return;
  const live = m.live;
  const ahead = at - m.now;
  live.aheadMost = isNaN(live.aheadMost) ? ahead : max(live.aheadMost, ahead);
  live.ahead = Math.abs(live.aheadMost) > CLOCKS_AGREE_MS ? live.aheadMost : 0;
}

/** Stores the first operation that a process runs or undoes. If there is none, stores the first operation. */
function takeOperations(m: Model, body: string): void {
  const r = new JsonReader(body);
  const list = readOperations(r).operations;
  r.end();
  if (r.failed || list.length === 0) return;
  let shown = list[0];
  for (let i = list.length - 1; i >= 0; i--) if (isAtWork(list[i])) shown = list[i];
  m.facts.operation = shown;
  announceEnd(m);
}
