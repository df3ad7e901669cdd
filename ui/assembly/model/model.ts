/**
 * The state of the application (Model), and the base classes of pages and dialogs. The three classes are in one file
 * because they refer to each other.
 */
import { Times } from "../controls/age";
import { Node } from "../lib/node";
import { Views } from "../saved/views";
import { Access } from "./access";
import { Address } from "./address";
import { Facts } from "./facts";
import { Live } from "./live";
import { Notices } from "./notices";
import { OpenDialog } from "./open-dialog";
import { PageState, Places } from "./place";
import { isAway, Pending, Requests } from "./requests";
import { SharedData } from "./shared-data";
import { Palette, Shortcut } from "./shortcut";

export class Model {
  /** The present time by this machine's clock. */
  now: f64 = 0;
  address: Address = new Address("/", new Map<string, string>());
  page: Page;
  access: Access = new Access();
  requests: Requests = new Requests();
  live: Live = new Live();
  notices: Notices = new Notices();
  theme: string = "system";
  /** Whether the page is drawn again after a timer's action. An action that changes nothing can set this to false. */
  isNew: bool = false;
  /** The number of the current entry of the browser's history. */
  entry: i32 = 0;
  places: Places = new Places();
  /** The data that every page can read, such as the data of the feed. */
  facts: Facts = new Facts();
  /** The first key of an unfinished two-key shortcut; empty: none. */
  chord: string = "";
  /** When the key in `chord` was pressed. */
  chordAt: f64 = 0;
  /** The server's version when the first session began; empty before that. */
  version: string = "";
  /** The layer over the page: `keys`, `palette`, `more`, or empty. */
  layer: string = "";
  palette: Palette = new Palette();
  views: Views = new Views();
  /** The shortcuts that were available at the last draw. */
  shortcuts: Shortcut[] = [];

  shared: SharedData = new SharedData();
  dialog: OpenDialog | null = null;
  /** The id of the element that gets the focus on the next page; empty: the page's heading. */
  focusNext: string = "";

  /** `pages`: the last one is for addresses that no other page has. */
  constructor(
    readonly pages: Page[],
    readonly dialogs: Dialog[],
  ) {
    this.page = pages[0];
  }

  /** The present time by PostgreSQL's clock. The times of jobs and workers are by the same clock. */
  get serverNow(): f64 {
    return this.now + this.live.ahead;
  }

  /** The present time, and whether the data are stale. */
  get times(): Times {
    return new Times(this.serverNow, this.live.isStale(this.now));
  }

  send(dialog: OpenDialog, write: Pending): void {
    dialog.error = "";
    write.dialog = dialog;
    this.requests.write(this.access, write);
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

/** The mark after a page's name in the navigation. `text`: usually a count. `tone`: red, amber or empty. */
export class Mark {
  constructor(
    readonly text: string,
    readonly tone: string,
  ) {}
}

export const noMark: Mark = new Mark("", "");

/** One page. Its actions, such as `jobs.select`, and the topics of its requests begin with the page's name. */
export abstract class Page {
  /** The text of the page's entry in the navigation; empty: no entry. */
  label: string = "";
  /** The SVG path of the page's icon in the navigation. */
  drawing: string = "";
  /** The key that opens the page after `g`; empty: none. */
  letter: string = "";
  /** Whether the page is in the bar at the bottom of a phone's screen. */
  inBar: bool = false;
  /** The name of the page whose entry is highlighted while this page is open. */
  under: string;
  /** The id of the field that gets the focus when `/` is pressed; empty: none. */
  searchField: string = "";
  /** Whether the page takes the whole width, as lists do. */
  wide: bool = false;

  constructor(
    readonly name: string,
    readonly path: string,
  ) {
    this.under = name;
  }

  matches(address: Address): bool {
    return address.path === this.path;
  }

  /** Called when the page is opened, and when its address changes, unless shift() has handled the change. */
  turn(_m: Model, _address: Address): void {}

  /** Called when only parameters of the page's address change. Returns whether the page has handled the change. */
  shift(_m: Model, _address: Address): bool {
    return false;
  }

  /** Called when another page, or another path of this page, is opened. */
  leave(_m: Model): void {}

  /** Called when the session has ended. Discards the session's data. */
  reset(_m: Model): void {}

  title(): string {
    return this.label;
  }

  mark(_m: Model): Mark {
    return noMark;
  }

  /** Returns the page's own actions that have a key or are in the palette. */
  shortcuts(_m: Model): Shortcut[] {
    return [];
  }

  /** The number of new rows that wait to be shown. */
  get news(): i32 {
    return 0;
  }

  /** Returns the state to store for the entry of the history that was left; null: none. */
  saveState(): PageState | null {
    return null;
  }

  /** Called after Back or Forward, between turn() and load(). Restores the state that saveState() returned. */
  restoreState(_m: Model, _kept: PageState): void {}

  /** Called on the open page after new data of the feed. `event`: the name of the data, such as `pulse`. */
  onEvent(_m: Model, _event: string, _data: string): void {}

  abstract view(m: Model): Node;

  /** Requests the data that the page shows. Called after turn(), and after the sign-in. */
  load(_m: Model): void {}

  /** Requests the data again, for example after a write or an outage. */
  reload(m: Model): void {
    this.load(m);
  }

  /** Requests the data again if they are too old. Called at most about once a second. */
  refresh(_m: Model): void {}

  /** Takes the answer to a request of the page. */
  onAnswer(_m: Model, _request: Pending, _body: string): void {}

  /** Shows why a request of the page has failed, except in an outage, which a banner reports. */
  onFailure(m: Model, _request: Pending, status: i32, reason: string): void {
    if (!isAway(status)) m.notices.bad(reason);
  }

  /** Performs the action `<name>.<verb>`. */
  act(_m: Model, _verb: string, _arg: string, _value: string): void {}

  /** Passes the subject, such as the selected jobs, to a dialog that opens over the page. */
  aim(_m: Model, _dialog: OpenDialog): void {}

  /** Called on all pages when the server has performed a write, unless the write is a step of a dialog (`isStep`). */
  onWrite(_write: Pending): void {}
}

/** One dialog. The action `ask.<name>` opens the dialog. */
export abstract class Dialog {
  wide: bool = false;

  constructor(readonly name: string) {}

  /** Fills in the form. Returns false if the dialog has no subject and must not be shown. */
  abstract open(m: Model, dialog: OpenDialog, arg: string): bool;

  abstract title(dialog: OpenDialog): string;

  /** Returns the label of the button that confirms. */
  abstract verb(dialog: OpenDialog): string;

  /** Returns what the request will change, in whole sentences. */
  abstract text(m: Model, dialog: OpenDialog): string;

  /** Returns the remark below the text; empty: none. */
  exception(_dialog: OpenDialog): string {
    return "";
  }

  /** Returns why the request cannot be sent now; empty: it can. */
  blocked(_dialog: OpenDialog): string {
    return "";
  }

  /** Returns whether the request may do harm, such as deleting data. If so, the button is red. */
  abstract danger(m: Model, dialog: OpenDialog): bool;

  /** Whether the button that confirms, and not Cancel, gets the focus if no field of the form requests the focus. */
  eager(m: Model, dialog: OpenDialog): bool {
    return !this.danger(m, dialog) && !this.wide;
  }

  abstract form(m: Model, dialog: OpenDialog): Node;

  /** Returns the text beside the buttons; empty: none. */
  footnote(): string {
    return "";
  }

  /** Returns the request. Stores faults of the form in the dialog's draft. With a fault, the request is not sent. */
  abstract request(m: Model, dialog: OpenDialog): Pending;

  onInput(_m: Model, _dialog: OpenDialog, _field: string): void {}

  /** Called by the action `dialog.typed`, for example after a pause in typing. */
  onInputPause(_m: Model, _dialog: OpenDialog, _arg: string): void {}

  /** Takes the answer to a read of the open dialog. The read's topic is `<name>.<what>`. */
  onAnswer(_m: Model, _dialog: OpenDialog, _request: Pending, _body: string): void {}

  /** Called when the session has ended. Discards drafts and data. */
  reset(): void {}

  /** Called when the server has performed the request. The dialog (`write.dialog`) may have been closed. */
  abstract done(m: Model, write: Pending, body: string): void;
}
