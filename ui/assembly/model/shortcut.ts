/**
 * One thing that can be done: by a key, from the palette, or both. Pages and the shell declare theirs;
 * the keys that work, the sheet behind `?` and the palette all follow from the declarations.
 */
import { NEXT } from "../controls/icon";
import { commands } from "../generated/commands";

export class Shortcut {
  constructor(
    /**
     * `r`, `Mod+k` (Ctrl or ⌘), `g j` (one after the other), `Shift+ArrowDown`; several that mean the
     * same are separated by a comma; the empty string: only in the palette.
     */
    readonly keys: string,
    /** What it does: `Reschedule…`. */
    readonly label: string,
    /** What is dispatched, with its argument. A page's own begin with its name. */
    readonly action: string,
    readonly arg: string,
    /** Its heading in the sheet and the palette. */
    readonly group: string,
    /** Its drawing in the palette (controls/icon.ts). */
    readonly drawing: string = NEXT,
    /** What the palette shows in place of a key: how many, in what state. */
    readonly note: string = "",
  ) {}

  /** Whether these strokes are among its keys. */
  takes(strokes: string): bool {
    return this.keys.length > 0 && ("," + this.keys + ",").includes("," + strokes + ",");
  }
}

/** The key of a command, by its name or its action, the same wherever it is offered; the empty string: it has none. */
export function keyOf(name: string): string {
  for (let i = 0; i < commands.length; i++) {
    if (commands[i].name === name || commands[i].action === name) return commands[i].key;
  }
  return "";
}

/** What the palette shows: the text that was typed, what it finds, which of it is marked. */
export class Palette {
  text: string = "";
  found: Shortcut[] = [];
  /** What the server finds by this name: tasks, queues, workers, keys. */
  named: Shortcut[] = [];
  /** Counts what is typed, so that only the last text is requested. */
  serial: i32 = 0;
  current: i32 = 0;
}
