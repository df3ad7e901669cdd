/**
 * Short messages of what happened, one at a time. Good news disappears by itself and gives way to
 * newer messages; an error stays until it is dismissed, and comes before the rest.
 */
import { after } from "../host";

/** So many wait at most; the oldest gives way. */
const MOST = 4;
const SHORT_MS = 8000;

export class Notice {
  /** A route that the notice leads to, or the empty string. */
  link: string = "";
  /** The words of a link of its own; the empty string: the text leads there. */
  see: string = "";
  detail: string = "";
  /** The operation that it offers to undo, or 0. */
  undo: i64 = 0;

  constructor(
    readonly id: i32,
    readonly tone: string,
    readonly text: string,
  ) {}
}

export class Notices {
  private list: Notice[] = [];
  private next: i32 = 1;

  /** The one that is shown. */
  get first(): Notice | null {
    return this.list.length > 0 ? this.list[0] : null;
  }

  /** How many wait behind it. */
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
  }

  private add(tone: string, text: string): Notice {
    // The same sentence is not shown twice, and of good news only the last is kept.
    for (let i = 0; i < this.list.length; i++) {
      const before = this.list[i];
      if (before.text === text || before.tone === "good") this.list.splice(i--, 1);
    }
    const notice = new Notice(this.next++, tone, text);
    this.list.push(notice);
    if (this.list.length > MOST) this.list.shift();
    if (tone === "good") after(SHORT_MS, "app.fade", notice.id.toString());
    return notice;
  }
}
