// A screen that refreshes in place on the terminal's alternate buffer, so that the earlier contents come back.
import { printable } from "./printable.ts";

export interface LiveScreen extends AsyncDisposable {
  readonly rows: number;
  readonly columns: number;
  /** Aborts at q, at Ctrl-C, or with the given signal. */
  readonly ended: AbortSignal;
  show(lines: readonly string[]): void;
  /** In the last line, below the contents. */
  showStatus(line: string): void;
}

const OTHER_PAGE = "\x1b[?1049h\x1b[?25l";
const BACK = "\x1b[?25h\x1b[?1049l";
const TO_THE_TOP = "\x1b[H";
const REST_OF_LINE = "\x1b[K";
const REST_OF_SCREEN = "\x1b[J";
const CTRL_C = "\x03";

/** Disposing of it restores the terminal. */
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
  stdout.write(OTHER_PAGE);
  const ended = AbortSignal.any([signal, quit.signal]);
  // A terminal of unknown size reports 0.
  const size = (given: number | undefined, otherwise: number) => given || otherwise;
  return {
    get rows() {
      return size(stdout.rows, 24);
    },
    get columns() {
      return size(stdout.columns, 80);
    },
    ended,
    show(lines) {
      const width = size(stdout.columns, 80);
      const shown = lines.map((line) => `${printable(line).slice(0, width)}${REST_OF_LINE}`);
      const text = shown.join("\r\n");
      stdout.write(`${TO_THE_TOP}${text}${REST_OF_SCREEN}`);
    },
    showStatus(line) {
      const text = printable(line).slice(0, size(stdout.columns, 80) - 1);
      stdout.write(`\x1b[${size(stdout.rows, 24)};1H${text}${REST_OF_LINE}`);
    },
    async [Symbol.asyncDispose]() {
      stdout.write(BACK);
      if (!hasKeys) return;
      stdin.off("data", onKey).pause();
      stdin.setRawMode(false);
    },
  };
}
