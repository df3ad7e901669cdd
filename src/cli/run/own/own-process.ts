// A further process of this program that `worker run` starts. Its purpose is either to start the programs that are
// tasks, or to be the worker that --watch restarts. The first message of the parent is the order: the purpose and, for
// a worker, the arguments of `worker run`. The order is not in the process's own arguments or environment. If the
// parent ends, the process stops its work and ends, too.
import { type ChildProcess, spawn } from "node:child_process";
import { isSea } from "node:sea";
import { OWN_PROCESS } from "./own-word.ts";

/** The parent's first message to the process. `args`: the arguments of `worker run`. */
export type ProcessOrder =
  | { readonly be: "program-starter" }
  | { readonly be: "worker"; readonly args: object };

/** Starts the process, in its own session, so that Ctrl-C on a terminal reaches only the parent. Sends the order. */
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
  child.on("error", () => {}); // a failed start also emits "close", which callers wait for
  child.send(order, () => {});
  return child;
}
