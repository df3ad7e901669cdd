/** Short messages of what happened. A few at a time: an old one goes when there is no room. */
import { after } from "../host";

const MOST = 4;
const SHORT_MS = 8000;
const LONG_MS = 30000;

export class Notice {
  /** A route that the notice leads to, or the empty string. */
  link: string = "";
  detail: string = "";

  constructor(
    readonly id: i32,
    readonly tone: string,
    readonly text: string,
  ) {}
}

export class Notices {
  list: Notice[] = [];
  private next: i32 = 1;

  good(text: string): Notice {
    return this.add("good", text, SHORT_MS);
  }

  warn(text: string): Notice {
    return this.add("warn", text, LONG_MS);
  }

  bad(text: string): Notice {
    return this.add("bad", text, LONG_MS);
  }

  dismiss(id: i32): void {
    for (let i = 0; i < this.list.length; i++) {
      if (this.list[i].id === id) this.list.splice(i--, 1);
    }
  }

  private add(tone: string, text: string, ms: i32): Notice {
    // The same sentence twice says nothing new.
    for (let i = 0; i < this.list.length; i++) {
      if (this.list[i].text === text && this.list[i].tone === tone) this.list.splice(i--, 1);
    }
    const notice = new Notice(this.next++, tone, text);
    this.list.push(notice);
    if (this.list.length > MOST) this.list.shift();
    after(ms, "app.dismiss", notice.id.toString());
    return notice;
  }
}
