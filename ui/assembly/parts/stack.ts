/** Parses the text of an error: its message, and the frames of its stack. */

import { replaced } from "../lib/letters";

/** A stack with more lines than this is not parsed, and is shown as text. */
const MAX_FRAMES = 500;

export class Frame {
  constructor(
    /** The name of the function, or the text of a line between frames; empty: the function has no name. */
    readonly name: string,
    /** File, line and column as in the stack; empty for a line between frames. */
    readonly place: string,
    /** Whether the function is a part of the application. */
    readonly own: bool,
    /** Whether this is a line between frames, such as `[cause]: Error: …`. */
    readonly between: bool,
  ) {}

  /** Returns the last two parts of the path, or the path after node_modules/, with the line and without the column. */
  get short(): string {
    const packaged = this.place.lastIndexOf("node_modules/");
    let path = packaged < 0 ? this.place : this.place.substring(packaged + 13);
    const column = path.lastIndexOf(":");
    const line = path.lastIndexOf(":", column - 1);
    if (
      line > 0 &&
      isDigits(path.substring(column + 1)) &&
      isDigits(path.substring(line + 1, column))
    ) {
      path = path.substring(0, column);
    }
    if (packaged >= 0) return path;
    const last = path.lastIndexOf("/");
    const before = path.lastIndexOf("/", last - 1);
    return before >= 0 && last > 0 ? path.substring(before + 1) : path;
  }
}

export class Stack {
  message: string = "";
  frames: Frame[] = [];

  get own(): i32 {
    let count = 0;
    for (let i = 0; i < this.frames.length; i++) if (this.frames[i].own) count++;
    return count;
  }
}

export function readStack(error: string): Stack {
  const stack = new Stack();
  const lines = replaced(error, "\r\n", "\n").split("\n");
  let first = 0;
  while (first < lines.length && !isFrame(lines[first])) first++;
  if (first === lines.length || lines.length - first > MAX_FRAMES) {
    stack.message = error.trimEnd();
    return stack;
  }
  stack.message = lines.slice(0, first).join("\n").trimEnd();
  for (let i = first; i < lines.length; i++) {
    const line = lines[i].trim();
    if (line.length === 0 || line === "}" || line === "{") continue;
    stack.frames.push(
      isFrame(lines[i]) ? frameOf(line.substring(3)) : new Frame(line, "", false, true),
    );
  }
  return stack;
}

function isFrame(line: string): bool {
  return line.trimStart().startsWith("at ") && line.length > 3 && line.charCodeAt(0) <= 0x20;
}

/** Parses `fn (file:1:2)` or `file:1:2`. */
function frameOf(line: string): Frame {
  const open = line.endsWith(")") ? line.lastIndexOf(" (") : -1;
  const name = open < 0 ? "" : line.substring(0, open);
  const place = open < 0 ? line : line.substring(open + 2, line.length - 1);
  return new Frame(name, place, isOwn(place), false);
}

function isOwn(place: string): bool {
  return !(
    place.includes("node_modules/") ||
    // A file of the executable `worker`. In a stack, its name has no folder.
    place.startsWith("chunk-") ||
    place.startsWith("node:") ||
    place.startsWith("internal/") ||
    place === "native" ||
    place === "<anonymous>" ||
    place.length === 0
  );
}

function isDigits(text: string): bool {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x30 || c > 0x39) return false;
  }
  return text.length > 0;
}
