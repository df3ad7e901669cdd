// Runs a group of faults in a child process, which leads a process group. The whole process group is killed when the
// child process has ended, when it exceeds the time limit of the group of faults, and on SIGINT or SIGTERM. Servers of
// PostgreSQL are outside of the process group; they stop by themselves when the process that started them has ended.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FaultGroup } from "./field/field.ts";
import type { GroupResult } from "./field/result.ts";
import type { ChildMessage, ChildOptions } from "./group-child.ts";

const child = fileURLToPath(new URL("./group-child.ts", import.meta.url));
const register = fileURLToPath(new URL("../support/register.mjs", import.meta.url));

export async function runInChild(
  { name, limitMinutes }: FaultGroup,
  options: Omit<ChildOptions, "group">,
): Promise<GroupResult> {
  mkdirSync(options.directory, { recursive: true });
  const output = openSync(join(options.directory, "output"), "a");
  const args = ["--import", register, child, JSON.stringify({ ...options, group: name })];
  const started = spawn(process.execPath, args, {
    detached: true,
    stdio: ["ignore", output, output, "ipc"],
  });
  const killAll = () => {
    try {
      process.kill(-(started.pid ?? 0), "SIGKILL");
    } catch {} // All processes have ended.
  };
  const end = () => {
    killAll();
    process.exit(130);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  let result: GroupResult | undefined;
  let isLate = false;
  started.on("message", (message: ChildMessage) => {
    if ("result" in message) result = message.result;
    else console.log(`  ${message.say}`);
  });
  const late = setTimeout(() => {
    isLate = true;
    killAll();
  }, limitMinutes * 60_000);
  const [code, signal] = await once(started, "exit");
  clearTimeout(late);
  for (const one of ["SIGINT", "SIGTERM"] as const) process.off(one, end);
  killAll();
  if (result !== undefined) return result;
  const why = isLate
    ? `did not end within ${limitMinutes} minutes`
    : `ended with ${signal ?? code}`;
  return { figures: [], problems: [`all: the group ${why}; see ${options.directory}/output`] };
}
