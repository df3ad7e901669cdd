/**
 * Short messages about what happened, shown one at a time, oldest first. A shown good message disappears after 8
 * seconds (later if the pointer or the focus is on it), or as soon as another message is added. A warning or an error
 * does not disappear by itself.
 */
import { after } from "../host";

const MAX_NOTICES = 4;
const SHORT_MS = 8000;

export class Notice {
  /** The address to which the message links; empty: none. */
  link: string = "";
  /** The text of a separate link; empty: the message itself is the link. */
  linkText: string = "";
  detail: string = "";
  /** The id of the operation that the message offers to undo; 0: none. */
  undo: i64 = 0;

  constructor(
    readonly id: i32,
    readonly tone: string,
    readonly text: string,
  ) {}
}

export class Notices {
  private list: Notice[] = [];
  private nextId: i32 = 1;
  /** The id of the message that is shown, or was shown last. */
  private shown: i32 = 0;

  /** The message that is shown; null: none. */
  get first(): Notice | null {
    return this.list.length > 0 ? this.list[0] : null;
  }

  /** The number of messages that wait to be shown. */
  get waiting(): i32 {
    return max(0, this.list.length - 1);
  }

  good(text: string): Notice {
    return this.add("good", text);
  }

  warn(text: string): Notice {
    return this.add("warn", text);
  }

  bad(text: string): Notice {
    return this.add("bad", text);
  }

  dismiss(id: i32): void {
    for (let i = 0; i < this.list.length; i++) {
      if (this.list[i].id === id) this.list.splice(i--, 1);
    }
    this.show();
  }

  clear(): void {
    this.list = [];
  }

  private add(tone: string, text: string): Notice {
    for (let i = 0; i < this.list.length; i++) {
      const before = this.list[i];
      const isPassing = before.tone === "good" && before.id === this.shown;
      if (isPassing || before.text === text) this.list.splice(i--, 1);
    }
    const notice = new Notice(this.nextId++, tone, text);
    this.list.push(notice);
    if (this.list.length > MAX_NOTICES) this.list.shift();
    this.show();
    return notice;
  }

  /** Called when another message may have become the first. Starts the 8 seconds of a good message. */
  private show(): void {
    const first = this.first;
    if (first === null || first.id === this.shown) return;
    this.shown = first.id;
    if (first.tone === "good") after(SHORT_MS, "app.fade", first.id.toString());
  }
}
