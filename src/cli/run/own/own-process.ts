// A process of this same program that `worker run` starts for itself: to start programs, or to be the
// worker that --watch begins anew. It is told over a channel that only its parent has what it is to
// be: nothing of it stands in its arguments or its environment. It ends when its parent does.
import { type ChildProcess, spawn } from "node:child_process";
import { isSea } from "node:sea";
import { OWN_PROCESS } from "./own-word.ts";

/** What it is told first. `args`: those of `worker run`. */
export type ProcessOrder =
  | { readonly be: "program-starter" }
  | { readonly be: "worker"; readonly args: object };

/** In a session of its own: Ctrl-C on a terminal is for its parent alone. */
export function startOwnProcess(
  order: ProcessOrder,
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess {
  const [, script = ""] = process.argv;
  const child = spawn(
    process.execPath,
    isSea() ? [OWN_PROCESS] : [...process.execArgv, script, OWN_PROCESS],
    {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
      detached: true,
      env,
    },
  );
  child.on("error", () => {}); // it has not started: its "exit" or "close" is what others wait for
  child.send(order, () => {});
  return child;
}
