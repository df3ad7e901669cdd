// Runs a command on a terminal of its own, which the program `script` creates, and types an answer.
import { spawn } from "node:child_process";
import { command, runner } from "./command.ts";

export interface Seen {
  readonly status: number | null;
  readonly screen: string;
}

/**
 * Runs a command. As soon as `prompt` is on the screen, types `answer`. If `answer` is a function, it is called at that
 * time, and the text to which it resolves is typed. `columns`: the width of the terminal; by default it is unknown. The
 * result has the exit status, and in `screen` all that was printed, with its control sequences.
 */
export async function onTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  answer: string | (() => Promise<string>),
  prompt = "[y/N]",
  columns = 0,
): Promise<Seen> {
  const line = [runner, ...command, ...args].map(quoted).join(" ");
  const child = spawn("script", ["-qefc", `stty cols ${columns}; ${line}`, "/dev/null"], {
    env: { ...process.env, ...env, SHELL: "/bin/sh" },
  });
  let screen = "";
  let isAnswered = false;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    screen += text;
    if (isAnswered || !screen.includes(prompt)) return;
    isAnswered = true;
    if (typeof answer === "string") child.stdin.write(answer);
    else void answer().then((text) => child.stdin.write(text));
  });
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, screen };
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
