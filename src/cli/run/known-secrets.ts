// Secrets in the environment of programs: `worker run` removes them from the lines that they print.
import { parse } from "node:querystring";

/** Variables that contain only a secret. */
const SECRETS = [
  "PGPASSWORD",
  "WORKER_ADMIN_PASSWORD",
  "WORKER_ADMIN_BEARER_TOKEN",
  "WORKER_ADMIN_HEADER_TOKEN",
  "WORKER_ADMIN_METRICS_TOKEN",
];
const URLS = ["DATABASE_URL"];

export function knownSecrets(
  connectionString: string | undefined,
  environment: NodeJS.ProcessEnv,
): string[] {
  const urls = [connectionString, ...URLS.map((name) => environment[name])];
  const found = [
    ...SECRETS.map((name) => environment[name] ?? ""),
    ...urls.flatMap((url) => (url === undefined ? [] : passwordsOf(url))),
  ];
  return found.filter((secret) => secret !== "");
}

/** As written and decoded; before the host or as a parameter. */
function passwordsOf(url: string): string[] {
  const [, before = ""] = /^[a-z]+:\/\/[^:@/]*:([^@/]*)@/.exec(url) ?? [];
  const at = url.indexOf("?");
  const { password = "" } = at < 0 ? {} : parse(url.slice(at + 1));
  return [before, decoded(before), ...[password].flat()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
