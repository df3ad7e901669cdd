/** The requests under way. A newer request for the same thing makes the older answer worthless. */
import { request } from "../host";
import { Access } from "./access";

export enum Topic {
  Session,
  Overview,
  Failing,
  Jobs,
  /** A refresh of the list that nobody asked for. */
  JobsQuietly,
  Job,
  JobQuietly,
  Add,
  Act,
  RemoveByKey,
  Maintain,
}

export class Pending {
  /** Sent again with a new session's token, once. */
  again: bool = false;
  /** What a write does, in the past tense, and to how many jobs: for the notice afterwards. */
  done: string = "";
  asked: i32 = 0;

  constructor(
    readonly topic: Topic,
    readonly path: string,
    readonly body: string,
  ) {}
}

export class Requests {
  private last: i32 = 0;
  private pending: Map<i32, Pending> = new Map<i32, Pending>();
  /** Writes that the server refused for an old CSRF token; they wait for the new session. */
  parked: Pending[] = [];

  read(access: Access, topic: Topic, path: string): void {
    this.forget(topic);
    request(this.enter(new Pending(topic, path, "")), "GET", path, access.headers(), "");
  }

  write(access: Access, write: Pending): void {
    const session = access.session;
    let headers = "content-type: application/json\n" + access.headers();
    if (session.csrfHeader.length > 0) headers += `\n${session.csrfHeader}: ${session.csrfToken}`;
    request(this.enter(write), "POST", write.path, headers, write.body);
  }

  /** The request that an answer belongs to; null when nobody waits for it any more. */
  take(id: i32): Pending | null {
    if (!this.pending.has(id)) return null;
    const pending = this.pending.get(id);
    this.pending.delete(id);
    return pending;
  }

  waitsFor(topic: Topic): bool {
    const waiting = this.pending.values();
    for (let i = 0; i < waiting.length; i++) if (waiting[i].topic === topic) return true;
    return false;
  }

  forget(topic: Topic): void {
    const ids = this.pending.keys();
    for (let i = 0; i < ids.length; i++) {
      if (this.pending.get(ids[i]).topic === topic) this.pending.delete(ids[i]);
    }
  }

  forgetAll(): void {
    this.pending.clear();
    this.parked = [];
  }

  private enter(pending: Pending): i32 {
    this.last++;
    this.pending.set(this.last, pending);
    return this.last;
  }
}
