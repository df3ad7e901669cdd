/**
 * An action that is available by a key, from the palette, or both. Pages and the shell declare their shortcuts. The
 * handling of keys, the sheet that `?` opens and the palette use these declarations.
 */
import { NEXT } from "../controls/icon";
import { commands } from "../generated/commands";

export class Shortcut {
  constructor(
    /**
     * The keys: `r`, `Mod+k` (Ctrl or ⌘), `g j` (one after the other), `Shift+ArrowDown`. Keys with the same effect are
     * separated by a comma. Empty: only in the palette.
     */
    readonly keys: string,
    /** The label: `Reschedule…`. */
    readonly label: string,
    /** The action that is dispatched with `arg`. The actions of a page begin with the page's name. */
    readonly action: string,
    readonly arg: string,
    /** The heading above the shortcut in the sheet and the palette. */
    readonly group: string,
    /** The path of its icon in the palette (controls/icon.ts). */
    readonly drawing: string = NEXT,
    /** What the palette shows instead of a key, such as a count. */
    readonly note: string = "",
  ) {}

  /** Whether this key, or these keys one after the other, are among its `keys`. */
  takes(strokes: string): bool {
    return this.keys.length > 0 && ("," + this.keys + ",").includes("," + strokes + ",");
  }
}

/** Returns the key of a command, by its name or its action; empty: it has none. A command has one key everywhere. */
export function keyOf(name: string): string {
  for (let i = 0; i < commands.length; i++) {
    if (commands[i].name === name || commands[i].action === name) return commands[i].key;
  }
  return "";
}

/** The palette: the typed text, the entries that match, and which entry is marked. */
export class Palette {
  text: string = "";
  found: Shortcut[] = [];
  /** The entries that the server finds for the typed name: tasks, queues, workers, jobs by their keys. */
  named: Shortcut[] = [];
  /** Counts the changes of the text, so that names are requested only for the last text. */
  serial: i32 = 0;
  current: i32 = 0;
}
