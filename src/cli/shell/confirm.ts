// Asks before something is lost. A command without a terminal cannot ask: it needs `--yes`.
import { WorkerError } from "../../base/errors.ts";
import { UsageError } from "../arguments/refusals.ts";
import { printable } from "../output/printable.ts";

/** True where a person can be asked: the question goes to stderr. */
export const isAtTerminal = (): boolean =>
  process.stdin.isTTY === true && process.stderr.isTTY === true;

/** For a command that destroys. Throws UsageError where it could neither ask nor was told `--yes`. */
export function assertMayAsk(command: string): void {
  if (isAtTerminal()) return;
  throw new UsageError(
    `${command} asks for confirmation, and there is no terminal: --yes confirms it`,
    command,
  );
}

/** Throws WorkerError `aborted` when the person does not say yes. `option`: does it without asking. */
export async function confirm(question: string, option = "--yes"): Promise<void> {
  if (!isAtTerminal()) return;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // The end of the input is no consent.
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question(`${printable(question)} [y/N] `), ended]);
    if (/^\s*y(es)?\s*$/i.test(answer)) return;
  } finally {
    lines.close();
  }
  throw new WorkerError("aborted", `nothing was changed (${option} does it without asking)`);
}
