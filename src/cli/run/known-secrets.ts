// The secrets in the environment and database URL of `worker run`. In the output of programs they are replaced.
import { secretsOfText } from "../../database/connection/server/connection-text.ts";

/** Environment variables whose whole value is a secret. */
const SECRETS = [
  "PGPASSWORD",
  "WORKER_ADMIN_PASSWORD",
  "WORKER_ADMIN_BEARER_TOKEN",
  "WORKER_ADMIN_HEADER_TOKEN",
  "WORKER_ADMIN_METRICS_TOKEN",
  "WORKER_RUN_METRICS_TOKEN",
];

export function knownSecrets(
  connectionString: string | undefined,
  environment: NodeJS.ProcessEnv,
): string[] {
  const whole = SECRETS.map((name) => environment[name] ?? "");
  const texts = [connectionString ?? "", environment["DATABASE_URL"] ?? ""];
  return [...whole, ...texts.flatMap(secretsOfText)].filter((secret) => secret !== "");
}
