/** The unanswered requests. A newer read of a topic cancels the older one. */
import { request } from "../host";
import { Access } from "./access";
import { OpenDialog } from "./open-dialog";

/** The budget of quiet requests (`isQuiet`) grows by this number of bytes per millisecond. */
const BYTES_PER_MS: f64 = 0.4;
/** The largest budget, in bytes. */
const MAX_SAVED: f64 = 8000;
/** The approximate size of the headers of a request and its answer. */
const HEADER_BYTES: f64 = 1500;
/** The id of kept reads: reads that keep() has stored. */
const KEPT = -1;

export class Pending {
  id: i32 = 0;
  /** Whether the size of the answer is subtracted from the budget of quiet requests. */
  isQuiet: bool = false;
  /** Whether this write is sent a second time, with the CSRF token of a new session. */
  again: bool = false;
  /** `count` and `note`: values that the sender sets, for use when the answer arrives. */
  count: i32 = 0;
  note: string = "";
  /** The dialog of a write or of a kept read; null for all other requests. */
  dialog: OpenDialog | null = null;
  /** Whether the dialog stays open after the answer to this write, because another write may follow. */
  isStep: bool = false;

  /** `topic`: `<owner>.<what>`. The owner, a page, a dialog or `app`, gets the answer. */
  constructor(
    readonly topic: string,
    readonly path: string,
    readonly body: string,
  ) {}

  get isWrite(): bool {
    return this.body.length > 0;
  }

  get owner(): string {
    return this.topic.substring(0, max(this.topic.indexOf("."), 0));
  }

  get what(): string {
    return this.topic.substring(this.topic.indexOf(".") + 1);
  }
}

/** Unanswered requests and kept reads. They are global, so that ServerData can cancel requests without the model. */
let pending: Pending[] = [];

/** Removes and returns the request with this id or topic; null: none. */
function remove(id: i32, topic: string): Pending | null {
  let removed: Pending | null = null;
  const rest: Pending[] = [];
  for (let i = 0; i < pending.length; i++) {
    const one = pending[i];
    if (one.id === id || one.topic === topic) removed = one;
    else rest.push(one);
  }
  pending = rest;
  return removed;
}

/** Cancels a request: its answer will be ignored. */
export function cancel(topic: string): void {
  remove(0, topic);
}

export class Requests {
  private last: i32 = 0;
  /** Writes that the server refused because of an old CSRF token. They wait for the new session. */
  parked: Pending[] = [];
  /** The budget of quiet requests, in bytes. */
  private saved: f64 = 0;
  private savedAt: f64 = 0;

  read(access: Access, topic: string, path: string, isQuiet: bool = false): void {
    cancel(topic);
    const read = new Pending(topic, path, "");
    read.isQuiet = isQuiet;
    request(this.enter(read), "GET", path, access.headers(), "");
  }

  /** Updates the budget, and returns whether a quiet request may be sent. */
  mayRepeat(now: f64): bool {
    const passed = max(0, now - this.savedAt);
    this.saved = min(MAX_SAVED, this.saved + passed * BYTES_PER_MS);
    this.savedAt = now;
    return this.saved >= 0;
  }

  /** Subtracts the size of a quiet request's answer from the budget. `bytes`: the size without headers. */
  count(answered: Pending, bytes: i32): void {
    if (answered.isQuiet) this.saved -= HEADER_BYTES + <f64>bytes;
  }

  write(access: Access, write: Pending): void {
    const session = access.session;
    let headers = "content-type: application/json\n" + access.headers();
    if (session.csrfHeader.length > 0) headers += `\n${session.csrfHeader}: ${session.csrfToken}`;
    request(this.enter(write), "POST", write.path, headers, write.body);
  }

  /** Removes and returns the request with this id; null: the request was cancelled. */
  take(id: i32): Pending | null {
    return remove(id, "");
  }

  /** Keeps a dialog's read that failed, until the read is repeated or cancelled. */
  keep(read: Pending, dialog: OpenDialog): void {
    read.id = KEPT;
    read.dialog = dialog;
    pending.push(read);
  }

  /** Sends the kept reads of a dialog again. */
  repeat(access: Access, dialog: OpenDialog): void {
    const all = pending;
    for (let i = 0; i < all.length; i++) {
      const one = all[i];
      if (one.id === KEPT && one.dialog === dialog) this.read(access, one.topic, one.path);
    }
  }

  waitsFor(topic: string): bool {
    for (let i = 0; i < pending.length; i++) if (pending[i].topic === topic) return true;
    return false;
  }

  /** Whether a write of this dialog is unanswered or parked. */
  isBusy(dialog: OpenDialog): bool {
    const sent = pending.concat(this.parked);
    for (let i = 0; i < sent.length; i++)
      if (sent[i].dialog === dialog && sent[i].isWrite) return true;
    return false;
  }

  cancel(topic: string): void {
    cancel(topic);
  }

  cancelAll(): void {
    pending = [];
    this.parked = [];
  }

  private enter(sent: Pending): i32 {
    sent.id = ++this.last;
    pending.push(sent);
    return sent.id;
  }
}

/** Whether the server or its database cannot answer now. */
export function isAway(status: i32): bool {
  return status === 0 || status === 503;
}
