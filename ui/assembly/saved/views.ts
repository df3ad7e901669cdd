/**
 * Saved views. A view is an address of the list of jobs, with query and order, and has a name. The views are stored as
 * one text in this browser: each line has an address, a space, and the name. No jobs and no names of users are stored.
 */
import { prefer, preferred } from "../host";

const KEY = "worker.views";
const MAX_VIEWS = 20;
const MAX_BESIDE = 5;
const MAX_NAME_LENGTH = 60;
const MAX_PATH_LENGTH = 2000;

export class SavedView {
  constructor(
    readonly name: string,
    readonly path: string,
  ) {}
}

/** The views that are not stored, but built in. */
const BUILT_IN: SavedView[] = [
  new SavedView("Failed in the last hour", "/jobs?q=is%3Afailed%20failed%3C1h"),
  new SavedView("Over 10 attempts", "/jobs?q=attempts%3E10"),
  new SavedView("Running over 10 minutes", "/jobs?q=running%3E10m"),
];

export class Views {
  private list: SavedView[] = [];
  private isRead: bool = false;

  /** The views that are saved in this browser. The view that was saved last is at the end. */
  get own(): SavedView[] {
    if (!this.isRead) this.read();
    return this.list;
  }

  /** The index in `own` of the first view that the navigation shows. The navigation shows only the last MAX_BESIDE. */
  get firstBeside(): i32 {
    return max(0, this.own.length - MAX_BESIDE);
  }

  get all(): SavedView[] {
    return this.own.concat(BUILT_IN);
  }

  /** Returns the name of the view with this address; empty if there is none. */
  nameOf(path: string): string {
    const all = this.all;
    for (let i = 0; i < all.length; i++) if (all[i].path === path) return all[i].name;
    return "";
  }

  /** Saves an address, and replaces a saved view of the same name. Returns why it was not saved; empty if it was. */
  save(name: string, path: string): string {
    const short = oneLine(name).substring(0, MAX_NAME_LENGTH).trim();
    if (short.length === 0) return "A view needs a name.";
    if (path.length > MAX_PATH_LENGTH) return "This query is too long to save.";
    this.read();
    const others = this.without(short);
    if (others.length >= MAX_VIEWS)
      return `At most ${MAX_VIEWS} views can be saved: delete one first.`;
    others.push(new SavedView(short, path));
    this.write(others);
    return "";
  }

  remove(name: string): void {
    this.read();
    this.write(this.without(name));
  }

  private without(name: string): SavedView[] {
    const others: SavedView[] = [];
    for (let i = 0; i < this.list.length; i++) {
      if (this.list[i].name !== name) others.push(this.list[i]);
    }
    return others;
  }

  /** Reads the stored views. Called before each change, too, because another tab may have written them since. */
  private read(): void {
    this.isRead = true;
    this.list = [];
    const lines = preferred(KEY).split("\n");
    for (let i = 0; i < lines.length && this.list.length < MAX_VIEWS; i++) {
      const space = lines[i].indexOf(" ");
      const path = lines[i].substring(0, max(space, 0));
      if (!path.startsWith("/")) continue;
      this.list.push(new SavedView(lines[i].substring(space + 1), path));
    }
  }

  private write(list: SavedView[]): void {
    this.list = list;
    const lines: string[] = [];
    for (let i = 0; i < list.length; i++) lines.push(list[i].path + " " + list[i].name);
    prefer(KEY, lines.join("\n"));
  }
}

function oneLine(text: string): string {
  let out = "";
  for (let i = 0; i < text.length; i++) out += text.charCodeAt(i) < 0x20 ? " " : text.charAt(i);
  return out;
}
