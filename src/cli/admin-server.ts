// What `worker admin` and `worker demo` share: the server's options, its secrets from the
// environment, and what is printed once it listens.
import type { Pool } from "pg";
import type { Argv } from "yargs";
import type { AuthOptions } from "../admin/auth-options.ts";
import type { AdminServerConfig } from "../admin/config.ts";
import type { AdminServer } from "../admin/server.ts";
import type { Logger } from "../base/logger.ts";
import { VERSION } from "../base/version.ts";
import type { GlobalArguments } from "./connection.ts";
import { print } from "./output.ts";

export interface AdminArguments extends GlobalArguments {
  listen: string;
  auth: AuthOptions["mode"];
  username: string | undefined;
  headerName: string | undefined;
  readOnly: boolean;
  basePath: string;
}

export function adminOptions(yargs: Argv<GlobalArguments>): Argv {
  return yargs
    .options({
      listen: {
        type: "string",
        requiresArg: true,
        default: "127.0.0.1:5678",
        describe: "Address and port; port 0 takes any free one",
      },
      auth: {
        choices: ["basic", "bearer", "header", "none"] as const,
        default: "basic" as const,
        describe: "How to log in; none only on a loopback address",
      },
      username: { type: "string", requiresArg: true, describe: "For basic [default: admin]" },
      "header-name": {
        type: "string",
        requiresArg: true,
        describe: "For header [default: x-worker-admin-token]",
      },
      "read-only": { type: "boolean", default: false, describe: "Refuse every change" },
      "base-path": {
        type: "string",
        requiresArg: true,
        default: "/",
        describe: "Path under which a reverse proxy serves this",
      },
    })
    .epilogue(
      "Secrets come from the environment only: WORKER_ADMIN_PASSWORD (basic), WORKER_ADMIN_BEARER_TOKEN (bearer), WORKER_ADMIN_HEADER_TOKEN (header). One that is not set is generated and printed once.",
    );
}

/** The configuration that the arguments ask for. Throws InputError with everything wrong. */
export async function adminConfig(
  args: AdminArguments,
  pool: Pool,
  schema: string,
  logger: Logger,
): Promise<AdminServerConfig> {
  const { adminServerConfig } = await import("../admin/config.ts");
  return adminServerConfig(pool)
    .schema(schema)
    .listenAddr(args.listen)
    .auth(authOptions(args))
    .readOnly(args.readOnly)
    .basePath(args.basePath)
    .logger(logger)
    .build();
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

/** An empty variable counts as not set: it must never become an empty password. */
function secret(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** Says where to go and how to log in; a configured secret is never repeated. */
export function announce(server: AdminServer, config: AdminServerConfig, json: boolean): void {
  const { mode, username, headerName, generatedSecret } = config.auth;
  const login = { url: server.url, auth: mode, username, header_name: headerName };
  if (json) {
    print(JSON.stringify({ ...login, generated_secret: generatedSecret, version: VERSION }));
    return;
  }
  print(`worker admin ${VERSION}${config.readOnly ? " (read-only)" : ""}`);
  print(`  URL       ${server.url}`);
  if (username !== null) print(`  User      ${username}`);
  if (headerName !== null) print(`  Header    ${headerName}`);
  const kind = mode === "basic" ? "Password" : "Token   ";
  if (generatedSecret !== null) print(`  ${kind}  ${generatedSecret}   (generated for this run)`);
  else if (mode === "none") print("  Login     none: everybody on this machine may do everything");
  else print(`  ${kind}  as configured`);
}
