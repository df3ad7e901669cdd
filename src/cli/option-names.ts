// Problems as the command line's user wrote them: the library's field names become option names.
import { InputError, type Problem } from "../base/errors.ts";

const options: Readonly<Record<string, string>> = {
  listenAddr: "--listen",
  auth: "--auth",
  "auth.username": "--username",
  "auth.headerName": "--header-name",
  "auth.password": "WORKER_ADMIN_PASSWORD",
  "auth.token": "WORKER_ADMIN_BEARER_TOKEN or WORKER_ADMIN_HEADER_TOKEN",
  basePath: "--base-path",
  schema: "--schema",
  identifier: "the task identifier",
  "spec.queueName": "--queue",
  "spec.runAt": "--run-at",
  "spec.priority": "--priority",
  "spec.maxAttempts": "--max-attempts",
  "spec.jobKey": "--key",
  "spec.jobKeyMode": "--key-mode",
  "spec.flags": "--flag",
  runAt: "--run-at",
  priority: "--priority",
  attempts: "--attempts",
  maxAttempts: "--max-attempts",
  limit: "--limit",
  cursor: "--cursor",
  search: "--search",
  queue: "--queue",
  sweepThreshold_s: "--threshold",
  recoveryDelay_s: "--delay",
};

/** All problems in one line. */
export function inOptionNames(error: InputError): string {
  const problems = error.problems.map(renamed);
  return new InputError(problems).message;
}

function renamed({ path, message }: Problem): Problem {
  const field = path.replace(/\[\d+\]$/, "");
  return { path: options[field] ?? path, message };
}
