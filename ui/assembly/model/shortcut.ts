/**
 * A shortcut is an action that is available by a key, in the palette (the search that Mod+k opens), or both. The sheet
 * that `?` opens lists the shortcuts that have a key.
 */
import { NEXT } from "../controls/icon";
import { commands } from "../generated/commands";

export class Shortcut {
  constructor(
    /**
     * The key, such as `r`, `Shift+ArrowDown` or `Mod+k` (Mod is Ctrl or ⌘), or two keys that are pressed one after the
     * other, such as `g j`. Several alternatives are separated by commas. Empty: the action is only in the palette.
     */
    readonly keys: string,
    readonly label: string,
    /** The action that is dispatched with `arg`. The actions of a page begin with the page's name. */
    readonly action: string,
    readonly arg: string,
    /** The heading above the shortcut in the sheet and the palette. */
    readonly group: string,
    /** The SVG path of the icon in the palette (controls/icon.ts). */
    readonly drawing: string = NEXT,
    /** What the palette shows instead of a key, such as a count. */
    readonly note: string = "",
  ) {}

  /** Whether `strokes` is one of the shortcut's `keys`: a key, or two keys separated by a space. */
  takes(strokes: string): bool {
    return this.keys.length > 0 && ("," + this.keys + ",").includes("," + strokes + ",");
  }
}

/**
 * Returns the key of a command, which is the same on every page; empty if the command has no key. `name`: the command's
 * name or action.
 */
export function keyOf(name: string): string {
  for (let i = 0; i < commands.length; i++) {
    if (commands[i].name === name || commands[i].action === name) return commands[i].key;
  }
  return "";
}

/** The palette: the typed text, the entries that match, and the index of the marked entry. */
export class Palette {
  text: string = "";
  found: Shortcut[] = [];
  /** Links to the tasks, queues, workers and jobs that the server has found, and actions on these tasks and queues. */
  named: Shortcut[] = [];
  /** Counts the changes of the text, so that names are requested only for the last text. */
  serial: i32 = 0;
  current: i32 = 0;
}
