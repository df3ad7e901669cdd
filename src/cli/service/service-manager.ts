// What the service manager is told: that the service is ready, that it lives, that it stops. Node has no
// unix datagram socket, so systemd's own program says it (NotifyAccess=all lets it). Without NOTIFY_SOCKET
// nothing is told to anybody, and where the program is missing the log says so once.

import { execFile } from "node:child_process";
import { clearInterval, setInterval } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

// Never looked for in PATH: what stands there is not for the environment to say.
const PROGRAMS = ["/usr/bin/systemd-notify", "/bin/systemd-notify"];
const PATIENCE_MS = 5_000;

export interface ServiceManager extends AsyncDisposable {
  /** The service does its work; the watchdog is fed from now on. Says "stopping" when `stop` aborts. */
  ready(status: string, stop: AbortSignal): Promise<void>;
}

/** Takes what it needs out of `env`: what this process starts must not speak for it. */
export function serviceManager(env: NodeJS.ProcessEnv, logger: Logger): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC, WATCHDOG_PID } = env;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  const isOurs = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid);
  const watchdogMs = isOurs ? Number(WATCHDOG_USEC ?? 0) / 1_000 : 0;
  let hasFailed = false;
  let telling: Promise<void> = Promise.resolve();
  let feeding: NodeJS.Timeout | undefined;

  /** One after the other: a message must not overtake another. */
  const tell = (...messages: string[]) => {
    if (!socket) return telling;
    telling = telling.then(async () => {
      try {
        await send(socket, messages);
      } catch (error) {
        if (!hasFailed) logger.warn({ error: messageOf(error) }, NOT_TOLD);
        hasFailed = true;
      }
    });
    return telling;
  };

  return {
    async ready(status, stop) {
      if (!socket) return;
      let isFed = true;
      const feed = async () => {
        if (!isFed) return; // the last one is still on its way
        isFed = false;
        await tell("WATCHDOG=1");
        isFed = true;
      };
      if (watchdogMs > 0) feeding = setInterval(() => void feed(), watchdogMs / 2).unref();
      stop.addEventListener("abort", () => void tell("STOPPING=1"), { once: true });
      await tell("READY=1", `STATUS=${status}`);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(feeding);
      await telling;
    },
  };
}

const NOT_TOLD =
  "the service manager cannot be told anything: systemd-notify is missing or fails; use Type=exec without WatchdogSec";

async function send(socket: string, messages: readonly string[]): Promise<void> {
  for (const program of PROGRAMS) {
    try {
      return await run(program, socket, messages);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
  throw new Error("there is no program systemd-notify");
}

function run(program: string, socket: string, messages: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { NOTIFY_SOCKET: socket };
    execFile(program, messages, { env, timeout: PATIENCE_MS }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
