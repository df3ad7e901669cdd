/**
 * A shortcut is an action that is available by a key, in the palette (Mod+k), or both. The sheet that `?` opens lists
 * the shortcuts that have a key.
 */
import { NEXT } from "../controls/icon";
import { commands } from "../generated/commands";

export class Shortcut {
  constructor(
    /**
     * A key, such as `r` or `Mod+k` (Mod is Ctrl or ⌘), or two keys one after the other, such as `g j`. Commas separate
     * alternatives. Empty: the action is only in the palette.
     */
    readonly keys: string,
    readonly label: string,
    /** The action that is dispatched with `arg`. The actions of a page begin with the page's name. */
    readonly action: string,
    readonly arg: string,
    /** The heading above the shortcut in the sheet and the palette. */
    readonly group: string,
    /** The SVG path of the icon in the palette. */
    readonly drawing: string = NEXT,
    /** What the palette shows instead of a key, such as a count. */
    readonly note: string = "",
  ) {}

  /** Whether `strokes` is one of the alternatives in `keys`. */
  takes(strokes: string): bool {
    return this.keys.length > 0 && ("," + this.keys + ",").includes("," + strokes + ",");
  }
}

/** Returns the key of the command with this name or action; empty: no key. */
export function keyOf(name: string): string {
  for (let i = 0; i < commands.length; i++) {
    if (commands[i].name === name || commands[i].action === name) return commands[i].key;
  }
  return "";
}

/** The palette: the typed text and the entries that match. */
export class Palette {
  text: string = "";
  found: Shortcut[] = [];
  /** Links to tasks, queues, workers and jobs that the server has found, and actions on tasks and queues. */
  named: Shortcut[] = [];
  /** Counts the changes of the text, so that names are requested only for the last text. */
  serial: i32 = 0;
  current: i32 = 0;
}
