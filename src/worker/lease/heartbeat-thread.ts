// The code of a thread that only sends heartbeats, so that a worker keeps its lease while a task blocks the event
// loop of the main thread. The build bundles this file and its imports into one text, because the executable has no
// files from which a thread could load its code.
import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import {
  type HeartbeatCommand,
  HeartbeatLoop,
  type HeartbeatReport,
  type HeartbeatSettings,
} from "./heartbeat-loop.ts";

export interface HeartbeatThreadData extends HeartbeatSettings {
  readonly needsPassword: boolean;
}

/**
 * The milliseconds to wait for a new password from the main thread, which may be blocked. After that, the last
 * password that has arrived is used, if there is one.
 */
const PASSWORD_WAIT_MS = 2_000;

const port = parentPort;
if (port === null)
  throw new WorkerError("configuration", "this file runs in a thread only, not as a program");
const settings = workerData as HeartbeatThreadData;
const answers = new EventTarget();
let password: string | null = null;

const loop = new HeartbeatLoop(
  settings,
  (report: HeartbeatReport) => port.postMessage(report),
  settings.needsPassword ? askPassword : undefined,
);
const running = loop.run();

port.on("message", (message: HeartbeatCommand) => {
  switch (message.command) {
    case "leases":
    case "metadata":
      loop.take(message);
      break;
    case "password":
      password = message.password;
      answers.dispatchEvent(new Event("password"));
      break;
    case "stop":
      // The thread ends when its port and its connection are closed.
      void loop.stop(running).then(() => port.close());
      break;
    default:
      message satisfies never;
  }
});

async function askPassword(): Promise<string> {
  const passwordGiven = new AbortController();
  port?.postMessage({ report: "password" } satisfies HeartbeatReport);
  const answered = once(answers, "password", { signal: passwordGiven.signal }).catch(() => {});
  await Promise.race([answered, wait(PASSWORD_WAIT_MS, passwordGiven.signal)]);
  passwordGiven.abort();
  if (password === null) throw new WorkerError("aborted", "the password function did not answer");
  return password;
}
