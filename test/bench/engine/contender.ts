// Runs duties of the benchmark, each in a child process. When all children are ready, they begin together.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Answer, Duty } from "./duty.ts";
import { bundledChild } from "./program.ts";

let program: Promise<string> | undefined;

export async function contend(...duties: readonly Duty[]): Promise<Answer[]> {
  program ??= bundledChild();
  const path = await program;
  const children = duties.map((duty) => start(duty, path));
  try {
    await Promise.all(children.map(({ ready }) => ready));
    for (const { child } of children) child.stdin?.write("go\n");
    return await Promise.all(children.map(({ answer }) => answer));
  } finally {
    for (const { child } of children) child.kill("SIGKILL");
  }
}

interface Contender {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly answer: Promise<Answer>;
}

function start(duty: Duty, path: string): Contender {
  const child = spawn(process.execPath, [path, JSON.stringify(duty)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (output.startsWith("ready\n")) resolve();
    });
    child.once("close", () =>
      reject(new Error(`the process of ${duty.engine} ended before it was ready`)),
    );
  });
  const overdue = setTimeout(() => child.kill("SIGKILL"), duty.limitMs * 8 + 60_000);
  const answer = once(child, "close").then(([code]) => {
    clearTimeout(overdue);
    const line = output.trimEnd().split("\n").at(-1) ?? "";
    if (code !== 0 || !line.startsWith("{")) throw new Error(`${duty.engine} failed: ${code}`);
    return JSON.parse(line) as Answer;
  });
  answer.catch(() => {});
  return { child, ready, answer };
}
