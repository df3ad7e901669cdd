// Colours of the output on a terminal. The variables NO_COLOR (no-color.org) and FORCE_COLOR turn them off or on.
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

/** Returns the text in the colour, or unchanged if the stream has no colours. `text` must already be printable. */
export function colourText(text: string, colour: Colour | null, stream: Stream): string {
  if (colour === null || text === "" || !hasColour(stream, process.env)) return text;
  const [on, off] = codes[colour];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

/**
 * Whether to use colours. NO_COLOR turns colours off, unless it is empty. Otherwise, if FORCE_COLOR is set, its values
 * `0` and `false` turn colours off, and all other values turn them on. If neither variable decides, a terminal has
 * colours, unless TERM is `dumb`.
 */
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
