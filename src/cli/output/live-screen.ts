// A screen that refreshes in place. It uses the terminal's alternate buffer, so when the screen is closed, the earlier
// contents of the terminal return.
import { printable } from "./printable.ts";
import { cutTo } from "./table.ts";

export interface LiveScreen extends AsyncDisposable {
  readonly rows: number;
  readonly columns: number;
  /** Aborts when q or Ctrl-C is typed, or when the signal that was given to liveScreen() aborts. */
  readonly ended: AbortSignal;
  show(lines: readonly string[]): void;
  /** Shows a status in the last line, below the contents. */
  showStatus(line: string): void;
}

// ENTER_SCREEN also hides the cursor, and LEAVE_SCREEN shows it again.
const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l";
const LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l";
const TO_THE_TOP = "\x1b[H";
const REST_OF_LINE = "\x1b[K";
const REST_OF_SCREEN = "\x1b[J";
const CTRL_C = "\x03";

/** Opens the screen. Disposing of it restores the terminal. */
export function liveScreen(signal: AbortSignal): LiveScreen {
  const { stdin, stdout } = process;
  const quit = new AbortController();
  const onKey = (typed: Buffer) => {
    const text = typed.toString();
    if (text.includes("q") || text.includes(CTRL_C)) quit.abort();
  };
  const hasKeys = stdin.isTTY === true;
  if (hasKeys) {
    stdin.setRawMode(true);
    stdin.on("data", onKey).resume();
  }
  stdout.write(ENTER_SCREEN);
  const ended = AbortSignal.any([signal, quit.signal]);
  // A terminal of unknown size reports 0, or nothing.
  const sizeOr = (reported: number | undefined, otherwise: number) => reported || otherwise;
  return {
    get rows() {
      return sizeOr(stdout.rows, 24);
    },
    get columns() {
      return sizeOr(stdout.columns, 80);
    },
    ended,
    show(lines) {
      const width = sizeOr(stdout.columns, 80);
      const shown = lines.map((line) => `${cutTo(printable(line), width)}${REST_OF_LINE}`);
      const text = shown.join("\r\n");
      stdout.write(`${TO_THE_TOP}${text}${REST_OF_SCREEN}`);
    },
    showStatus(line) {
      const text = cutTo(printable(line), sizeOr(stdout.columns, 80) - 1);
      stdout.write(`\x1b[${sizeOr(stdout.rows, 24)};1H${text}${REST_OF_LINE}`);
    },
    async [Symbol.asyncDispose]() {
      stdout.write(LEAVE_SCREEN);
      if (!hasKeys) return;
      stdin.off("data", onKey).pause();
      stdin.setRawMode(false);
    },
  };
}
