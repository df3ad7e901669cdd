// What `worker admin` and `worker demo` share: the server's options, its secrets from the
// environment, and what is printed once it listens.
import type { Pool } from "pg";
import type { AuthOptions } from "../../admin/config/auth-options.ts";
import type { AdminServerConfig } from "../../admin/config/config.ts";
import { authority, loopbackOf } from "../../admin/config/listen-address.ts";
import type { AdminServer } from "../../admin/server.ts";
import type { Logger } from "../../base/logger.ts";
import { VERSION } from "../../base/version.ts";
import type { Given, Values } from "../arguments/command.ts";
import { secretOf } from "../arguments/environment.ts";
import { UsageError } from "../arguments/refusals.ts";
import { choice, defaulting, flag, several, text } from "../arguments/values.ts";
import { print, printJson } from "../output/print.ts";

export const adminOptions = {
  listen: defaulting(
    text("Address and port; port 0 takes any free one", { form: "host:port", field: "listenAddr" }),
    "127.0.0.1:5678",
  ),
  auth: defaulting(
    choice("How to log in; none only on a loopback address", ["basic", "bearer", "header", "none"]),
    "basic",
  ),
  username: text("For basic [default: admin]", { form: "name", field: "auth.username" }),
  headerName: text("For header [default: x-worker-admin-token]", {
    form: "name",
    field: "auth.headerName",
  }),
  readOnly: flag("Refuse every change"),
  basePath: defaulting(text("Path under which a reverse proxy serves this", { form: "path" }), "/"),
  label: text("What to call this environment, such as production", { form: "name" }),
  metricsToken: text("What a scraper may send to read /metrics, and nothing else", {
    form: "token",
    isSecret: true,
  }),
  trustedProxy: several(
    text("Network of a proxy in front: who it says the client is, is it; may be repeated", {
      form: "cidr",
      field: "trustedProxies",
    }),
  ),
  limit: several(
    text("A bound other than the default, such as viewers=200; may be repeated", {
      form: "name=number",
      field: "limits",
    }),
  ),
} satisfies Values;

export const adminNotes =
  "Secrets come from the environment, from files and from systemd's credentials: WORKER_ADMIN_PASSWORD (basic), WORKER_ADMIN_BEARER_TOKEN (bearer), WORKER_ADMIN_HEADER_TOKEN (header); WORKER_ADMIN_PASSWORD_FILE names a file, worker-admin-password is the credential. One that is not set is generated and printed once. WORKER_ADMIN_METRICS_TOKEN does for --metrics-token, which others see in the list of processes. A configured secret needs 12 characters where other machines can reach it.";

type AdminArguments = Given<typeof adminOptions>;

/** The configuration that the arguments ask for. Throws InputError with everything wrong. */
export async function adminConfig(
  args: AdminArguments,
  pool: Pool,
  schema: string,
  logger: Logger,
): Promise<AdminServerConfig> {
  const { adminServerConfig } = await import("../../admin/config/config.ts");
  const builder = adminServerConfig(pool);
  if (args.label !== undefined) builder.label(args.label);
  if (args.metricsToken !== undefined) builder.metricsToken(args.metricsToken);
  return builder
    .trustedProxies(args.trustedProxy ?? [])
    .limits(limitsOf(args.limit ?? []))
    .schema(schema)
    .listenAddr(args.listen)
    .auth(authOptions(args))
    .readOnly(args.readOnly)
    .basePath(args.basePath)
    .logger(logger)
    .build();
}

/** `viewers=200`; what the names and numbers must be, the configuration knows. */
function limitsOf(texts: readonly string[]): Record<string, number> {
  const pairs = texts.map((typed) => {
    const [, name = "", number] = /^(\w+)=(\d{1,15})$/.exec(typed) ?? [];
    if (name === "") throw new UsageError(`--limit: "${typed}" is not name=number`);
    return [name, Number(number)] as const;
  });
  return Object.fromEntries(pairs);
}

function authOptions(args: AdminArguments): AuthOptions {
  switch (args.auth) {
    case "basic":
      return { mode: "basic", username: args.username, password: secret("WORKER_ADMIN_PASSWORD") };
    case "bearer":
      return { mode: "bearer", token: secret("WORKER_ADMIN_BEARER_TOKEN") };
    case "header":
      return {
        mode: "header",
        headerName: args.headerName,
        token: secret("WORKER_ADMIN_HEADER_TOKEN"),
      };
    case "none":
      return { mode: "none" };
    default:
      return args.auth satisfies never;
  }
}

const secret = (name: string) => secretOf(name, process.env)?.text;

/** Says where to go and how to log in; a configured secret is never repeated. */
export function announce(server: AdminServer, config: AdminServerConfig, json: boolean): void {
  const { mode, username, headerName, generatedSecret } = config.auth;
  const login = { url: server.url, auth: mode, username, header_name: headerName };
  if (json) {
    const secret = { generated_secret: generatedSecret };
    printJson(JSON.stringify({ ...login, ...secret, version: VERSION }));
    return;
  }
  print(`worker admin ${VERSION}${config.readOnly ? " (read-only)" : ""}`);
  print(`  URL       ${server.url}`);
  if (config.label !== null) print(`  Label     ${config.label}`);
  if (loopbackOf(config.listen) === null) print(`  Listens   ${authority(server.address)}`);
  if (username !== null) print(`  User      ${username}`);
  if (headerName !== null) print(`  Header    ${headerName}`);
  const rights = config.readOnly ? "read everything" : "do everything";
  const kind = mode === "basic" ? "Password" : "Token   ";
  if (generatedSecret !== null) print(`  ${kind}  ${generatedSecret}   (generated for this run)`);
  else if (mode === "none") print(`  Login     none: everybody on this machine may ${rights}`);
  else print(`  ${kind}  as configured`);
}
