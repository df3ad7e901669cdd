// Notifies the service manager when this program is ready, while it runs, and when it stops. Node has no Unix datagram
// sockets, so the messages are sent by another program, systemd-notify. The service manager accepts messages of another
// program only with NotifyAccess=all. Without NOTIFY_SOCKET nothing is sent. Only the first failure to send is logged.

import { execFile } from "node:child_process";
import { clearInterval, setInterval } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

// Absolute paths: PATH must not decide which program runs.
const PROGRAMS = ["/usr/bin/systemd-notify", "/bin/systemd-notify"];
const PATIENCE_MS = 5_000;

export interface ServiceManager extends AsyncDisposable {
  /**
   * Sends READY with the text `status`, and starts the watchdog messages if the service manager requests them. When
   * `stop` aborts, STOPPING is sent.
   */
  ready(status: string, stop: AbortSignal): Promise<void>;
}

/**
 * Returns the service manager that the variables in `env` describe. Removes these variables from `env`, so that child
 * processes cannot send messages for this process.
 */
export function serviceManager(env: NodeJS.ProcessEnv, logger: Logger): ServiceManager {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC, WATCHDOG_PID } = env;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  const isOurs = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid);
  const watchdogMs = isOurs ? Number(WATCHDOG_USEC ?? 0) / 1_000 : 0;
  let hasFailed = false;
  let sending: Promise<void> = Promise.resolve();
  let feeding: NodeJS.Timeout | undefined;

  /** Sends the messages after all earlier ones. Resolves when they were sent or sending them has failed. */
  const notify = (...messages: string[]) => {
    if (!socket) return sending;
    sending = sending.then(async () => {
      try {
        await send(socket, messages);
      } catch (error) {
        if (!hasFailed) logger.warn({ error: messageOf(error) }, CANNOT_NOTIFY);
        hasFailed = true;
      }
    });
    return sending;
  };

  return {
    async ready(status, stop) {
      if (!socket) return;
      let isFed = true;
      const feed = async () => {
        if (!isFed) return; // the previous message is still being sent
        isFed = false;
        await notify("WATCHDOG=1");
        isFed = true;
      };
      if (watchdogMs > 0) feeding = setInterval(() => void feed(), watchdogMs / 2).unref();
      const ready = notify("READY=1", `STATUS=${status}`);
      const stopping = () => void notify("STOPPING=1");
      if (stop.aborted) stopping();
      else stop.addEventListener("abort", stopping, { once: true });
      await ready;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(feeding);
      await sending;
    },
  };
}

const CANNOT_NOTIFY =
  "cannot notify the service manager: systemd-notify is missing or fails; use Type=exec without WatchdogSec";

async function send(socket: string, messages: readonly string[]): Promise<void> {
  for (const program of PROGRAMS) {
    try {
      return await run(program, socket, messages);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
  throw new Error("systemd-notify is not installed");
}

function run(program: string, socket: string, messages: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { NOTIFY_SOCKET: socket };
    execFile(program, messages, { env, timeout: PATIENCE_MS }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
