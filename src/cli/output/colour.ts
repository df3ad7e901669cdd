// Colour on a terminal. NO_COLOR turns it off (no-color.org); FORCE_COLOR turns it on, also for a pipe.
import type { WriteStream } from "node:tty";
import { type Condition, conditionData } from "../../domain/condition.ts";

export type Colour = "red" | "yellow" | "green" | "cyan" | "faint" | "bold";

const codes: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
  faint: [2, 22],
  bold: [1, 22],
};

type Stream = Pick<WriteStream, "isTTY">;

/** Returns the text in a colour, if the stream has colours. `text` must already be printable. */
export function colourText(text: string, colour: Colour | null, stream: Stream): string {
  if (colour === null || text === "" || !hasColour(stream, process.env)) return text;
  const [on, off] = codes[colour];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

/** Whether to use colours. The first that is set decides: NO_COLOR, FORCE_COLOR (0, false: no), TERM=dumb, isTTY. */
export function hasColour(stream: Stream, env: NodeJS.ProcessEnv): boolean {
  if (env["NO_COLOR"]) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** Returns the colour of a job's condition or state, or of a finding's level; null: none. */
export function colourOf(word: string): Colour | null {
  const data = Object.hasOwn(conditionData, word) ? conditionData[word as Condition] : null;
  return data?.colour ?? colours[word] ?? null;
}

const colours: Readonly<Record<string, Colour>> = {
  bad: "red",
  warn: "yellow",
  ok: "green",
  locked: "cyan",
};
