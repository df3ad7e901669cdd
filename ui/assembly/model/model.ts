/**
 * The application's state, and what a page and a dialog are to it. The three are in one
 * file because each names the others. A page keeps its own state; what several pages show is here.
 */
import { Times } from "../controls/age";
import { Node } from "../lib/node";
import { Views } from "../saved/views";
import { Access } from "./access";
import { Address } from "./address";
import { Facts } from "./facts";
import { Known } from "./known";
import { Live } from "./live";
import { Notices } from "./notices";
import { OpenDialog } from "./open-dialog";
import { Kept, Places } from "./place";
import { isAway, Pending, Requests } from "./requests";
import { Palette, Shortcut } from "./shortcut";

export class Model {
  /** By this machine's clock. */
  now: f64 = 0;
  address: Address = new Address("/", new Map<string, string>());
  /** The page at hand. */
  page: Page;
  access: Access = new Access();
  requests: Requests = new Requests();
  live: Live = new Live();
  notices: Notices = new Notices();
  theme: string = "system";
  /** Whether the timer may have changed what is shown; a timer that only sends requests has not. */
  isNew: bool = false;
  /** The number of the history's entry at hand. */
  entry: i32 = 0;
  places: Places = new Places();
  /** The feed's data. */
  facts: Facts = new Facts();
  /** The first key of two, until the second comes. */
  chord: string = "";
  chordAt: f64 = 0;
  /** The version that the server had when the page was loaded. */
  version: string = "";
  /** Which layer is over the page: `keys`, `palette`, `more`, or nothing. */
  layer: string = "";
  palette: Palette = new Palette();
  views: Views = new Views();
  /** All that can be done here, as of the last draw. */
  shortcuts: Shortcut[] = [];

  known: Known = new Known();
  dialog: OpenDialog | null = null;
  /** The write that is being answered was only a step: its dialog stays. */
  keepDialog: bool = false;
  /** What takes the focus on the next page, in place of its heading. */
  focusNext: string = "";

  /** The last page is the one for addresses that no other page has. */
  constructor(
    readonly pages: Page[],
    readonly dialogs: Dialog[],
  ) {
    this.page = pages[0];
  }

  /** By the server's clock, which wrote the times of jobs and workers. */
  get serverNow(): f64 {
    return this.now + this.live.ahead;
  }

  /** For ages: what time it is, and whether they may go on counting. */
  get times(): Times {
    return new Times(this.serverNow, this.live.isStale(this.now));
  }

  pageNamed(name: string): Page | null {
    for (let i = 0; i < this.pages.length; i++) {
      if (this.pages[i].name === name) return this.pages[i];
    }
    return null;
  }

  /** The pages that have an entry in the navigation. */
  get entries(): Page[] {
    const list: Page[] = [];
    for (let i = 0; i < this.pages.length; i++) {
      if (this.pages[i].label.length > 0) list.push(this.pages[i]);
    }
    return list;
  }

  dialogNamed(name: string): Dialog | null {
    for (let i = 0; i < this.dialogs.length; i++) {
      if (this.dialogs[i].name === name) return this.dialogs[i];
    }
    return null;
  }
}

/** The mark behind a page's name in the navigation: a count, and its tone (red, amber or nothing). */
export class Mark {
  constructor(
    readonly text: string,
    readonly tone: string,
  ) {}
}

export const noMark: Mark = new Mark("", "");

/** One page. Its name begins its actions (`jobs.select`) and the topics of its requests. */
export abstract class Page {
  /** The text of its entry in the navigation, or the empty string for none. */
  label: string = "";
  /** Its drawing there (controls/icon.ts). */
  drawing: string = "";
  /** The letter that leads to it after `g`. */
  letter: string = "";
  /** Whether it is in the phone's bar; the others are in the More menu. */
  inBar: bool = false;
  /** The name of the page whose entry is marked while this one is at hand. */
  under: string;
  /** The id of the field that the key / goes to. */
  searchField: string = "";
  /** Whether it takes the whole width: lists do. */
  wide: bool = false;

  constructor(
    readonly name: string,
    readonly path: string,
  ) {
    this.under = name;
  }

  /** Whether an address is this page's. */
  matches(address: Address): bool {
    return address.path === this.path;
  }

  /** The address has become this page's, or has changed on it. */
  turn(_m: Model, _address: Address): void {}

  /** Takes an address that differs from the last one in a detail only; false: it is another view. */
  shift(_m: Model, _address: Address): bool {
    return false;
  }

  /** Another page takes its place. */
  leave(_m: Model): void {}

  /** The session has ended: what was read under it must go. */
  forget(_m: Model): void {}

  abstract title(): string;

  /** The mark behind its name in the navigation. */
  mark(_m: Model): Mark {
    return noMark;
  }

  /** What can be done here by key and from the palette. */
  shortcuts(_m: Model): Shortcut[] {
    return [];
  }

  /** How many new rows wait to be shown. */
  get news(): i32 {
    return 0;
  }

  /** What is to be kept of it for this entry of the history; null: nothing. */
  keep(): Kept | null {
    return null;
  }

  /** Takes back what was kept, after `turn` and before `load`. */
  restore(_m: Model, _kept: Kept): void {}

  /** An event of the feed has come, after it was taken in (`m.facts`): pulse, counts, operation, … */
  heard(_m: Model, _event: string, _data: string): void {}

  abstract view(m: Model): Node;

  /** Requests what it shows, when it is opened. */
  load(_m: Model): void {}

  /** Requests the data again, after a write or on request. */
  reload(m: Model): void {
    this.load(m);
  }

  /** Requests the data again, quietly, because time has passed: called once a second, so each page keeps its own intervals. */
  refresh(_m: Model): void {}

  /** The answer to its request `<name>.<what>`. */
  take(_m: Model, _request: Pending, _body: string): void {}

  /** Its request failed. During an outage the last data stay, under a banner. */
  miss(m: Model, _request: Pending, status: i32, reason: string): void {
    if (!isAway(status)) m.notices.bad(reason);
  }

  /** The action `<name>.<verb>` was triggered by input or a timer. */
  act(_m: Model, _verb: string, _arg: string, _value: string): void {}

  /** Passes its subject to a dialog that opens over it: the selected jobs, workers, settings. */
  aim(_m: Model, _dialog: OpenDialog): void {}

  /** The server has done a write, of this page or another. */
  written(_write: Pending): void {}
}

/** One dialog: its text before a write, its form, and the request. `ask.<name>` opens it. */
export abstract class Dialog {
  wide: bool = false;

  constructor(readonly name: string) {}

  /** Fills in the form; false when there is nothing that it could be about. */
  abstract open(m: Model, dialog: OpenDialog, arg: string): bool;

  abstract title(dialog: OpenDialog): string;

  /** The text of the button that does it. */
  abstract verb(dialog: OpenDialog): string;

  /** What will happen, in whole sentences. */
  abstract text(m: Model, dialog: OpenDialog): string;

  /** What the server will leave alone. */
  exception(_dialog: OpenDialog): string {
    return "";
  }

  /** Why it can't be done now; the empty string: it can. */
  blocked(_dialog: OpenDialog): string {
    return "";
  }

  /** Whether it can't be undone. */
  abstract danger(m: Model, dialog: OpenDialog): bool;

  /** Whether a mere Enter may do it; else the focus is on Cancel. */
  eager(m: Model, dialog: OpenDialog): bool {
    return !this.danger(m, dialog) && !this.wide;
  }

  abstract form(m: Model, dialog: OpenDialog): Node;

  /** The text beside its buttons. */
  footnote(): string {
    return "";
  }

  /** The request; faults of the form are left in its draft. */
  abstract request(m: Model, dialog: OpenDialog): Pending;

  /** Something was typed into a field; and `dialog.typed` has rung some time after. */
  typed(_m: Model, _dialog: OpenDialog, _field: string): void {}
  rested(_m: Model, _dialog: OpenDialog, _arg: string): void {}

  /** The answer to its own question `<name>.<what>`. */
  take(_m: Model, _request: Pending, _body: string): void {}

  /** The session has ended: drafts and what was read must go. */
  forget(): void {}

  /** The server has done it. */
  abstract done(m: Model, write: Pending, body: string): void;
}
