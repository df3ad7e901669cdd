// What `worker admin`, `worker demo` and `worker run --admin` share: the options of the admin server, its secrets from
// the environment, the reload of its certificate, and the lines that are printed when the server listens.
import type { Pool } from "pg";
import type { AuthOptions } from "../../admin/config/auth-options.ts";
import type { AdminServerConfig } from "../../admin/config/config.ts";
import { loopbackOf } from "../../admin/config/listen-address.ts";
import type { AdminServer } from "../../admin/server.ts";
import { InputError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { VERSION } from "../../base/version.ts";
import { targetText } from "../../http/listen/listen-target.ts";
import type { ArgumentValues, Values } from "../arguments/command.ts";
import { secretOf } from "../arguments/environment.ts";
import { InvalidValue, UsageError } from "../arguments/refusals.ts";
import { choice, flag, type OptionValue, several, text, withDefault } from "../arguments/values.ts";
import { print, printJson } from "../output/print.ts";
import { activatedAddress } from "../service/activation.ts";

/** Returns an option for a file mode in octal, such as `0660`. */
function octal(describe: string): OptionValue<number | undefined> {
  const mode = text(describe, { form: "mode" });
  const read = ([typed]: readonly string[]) => {
    if (typed === undefined) return undefined;
    if (/^0?[0-7]{3}$/.test(typed)) return Number.parseInt(typed, 8);
    throw new InvalidValue("must be a mode in octal, such as 0660");
  };
  return { ...mode, read };
}

export const adminOptions = {
  listen: withDefault(
    text(
      "Address and port (port 0: any free port), unix:/path, or fd: for a socket passed by systemd",
      {
        form: "address",
        field: "listenAddr",
      },
    ),
    "127.0.0.1:5678",
  ),
  listenMode: octal("Mode of a unix socket [default: 0600, or 0660 with --listen-group]"),
  listenGroup: text("Group of a unix socket", { form: "group" }),
  tlsCert: text("PEM certificate with its chain; only TLS 1.2 and later is served", {
    form: "file",
    field: "tls.certFile",
  }),
  tlsKey: text("Private key of the certificate", { form: "file", field: "tls.keyFile" }),
  hsts: flag("With TLS: make browsers delete HSTS for this host", {}, true),
  auth: withDefault(
    choice("Login method; none: only on a loopback address or a private socket", [
      "basic",
      "bearer",
      "header",
      "none",
    ]),
    "basic",
  ),
  username: text("User name for --auth basic [default: admin]", {
    form: "name",
    field: "auth.username",
  }),
  headerName: text("Header name for --auth header [default: x-worker-admin-token]", {
    form: "name",
    field: "auth.headerName",
  }),
  readOnly: flag("Reject every change"),
  basePath: withDefault(
    text("Path under which a reverse proxy serves the admin", { form: "path" }),
    "/",
  ),
  label: text("Name of this environment, such as production", { form: "name" }),
  metricsToken: text("Token that gives access to /metrics only", {
    form: "token",
    isSecret: true,
  }),
  trustedProxy: several(
    text(
      "Network of a trusted reverse proxy (unix: for unix sockets); its forwarded client address is used",
      {
        form: "cidr",
        field: "trustedProxies",
      },
    ),
  ),
  userHeader: text(
    "Header in which a trusted proxy names the user, such as X-Forwarded-User; a login is still required",
    { form: "name", field: "userHeader" },
  ),
  limit: several(
    text("Override a limit of the admin, such as viewers=200", {
      form: "name=number",
      field: "limits",
    }),
  ),
} satisfies Values;

export const adminNotes =
  "Secrets come from the environment, from files or from systemd credentials: WORKER_ADMIN_PASSWORD (basic), WORKER_ADMIN_BEARER_TOKEN (bearer), WORKER_ADMIN_HEADER_TOKEN (header). WORKER_ADMIN_PASSWORD_FILE names a file; worker-admin-password is the credential. A secret that is not set is generated and printed once. Prefer WORKER_ADMIN_METRICS_TOKEN to --metrics-token: options show up in ps. If other machines can connect, a configured secret needs at least 12 characters. With --tls-cert, SIGHUP reloads the certificate and the key; without it, SIGHUP stops the server.";

type AdminArguments = ArgumentValues<typeof adminOptions>;

/** Returns the configuration given by the arguments. Throws UsageError, or an InputError that lists all problems. */
export async function adminConfig(
  args: AdminArguments,
  pool: Pool,
  schema: string,
  logger: Logger,
): Promise<AdminServerConfig> {
  const { adminServerConfig } = await import("../../admin/config/config-builder.ts");
  const builder = adminServerConfig(pool);
  if (args.label !== undefined) builder.label(args.label);
  if (args.userHeader !== undefined) builder.userHeader(args.userHeader);
  if (args.metricsToken !== undefined) builder.metricsToken(args.metricsToken);
  if (args.listenMode !== undefined) builder.listenMode(args.listenMode);
  if (args.listenGroup !== undefined) builder.listenGroup(args.listenGroup);
  const { tlsCert: certFile, tlsKey: keyFile } = args;
  if (certFile !== undefined && keyFile !== undefined) builder.tls({ certFile, keyFile });
  else if (certFile !== undefined) throw new UsageError("--tls-cert needs --tls-key");
  else if (keyFile !== undefined) throw new UsageError("--tls-key needs --tls-cert");
  return builder
    .hsts(args.hsts)
    .trustedProxies(args.trustedProxy ?? [])
    .limits(limitsOf(args.limit ?? []))
    .schema(schema)
    .listenAddr(activatedAddress(args.listen, process.env, process.pid))
    .auth(authOptions(args))
    .readOnly(args.readOnly)
    .basePath(args.basePath)
    .logger(logger)
    .build();
}

/**
 * Returns the handler of SIGHUP, which reloads the certificate and the key. If the new pair is invalid, the handler
 * logs an error, and the old pair stays in use.
 */
export function certificateReload(server: AdminServer, logger: Logger): () => void {
  return () => {
    try {
      server.reloadCertificate();
    } catch (error) {
      const problems =
        error instanceof InputError ? error.problems : [{ message: messageOf(error) }];
      const why = problems.map(({ message }) => message).join("; ");
      logger.error(
        { error: why },
        "the new certificate or key is invalid; the old pair stays in use",
      );
    }
  };
}

/** Parses texts such as `viewers=200`. The builder's build() checks whether the names and numbers are valid. */
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

/** Prints the URL of the server and how to log in. A generated secret is printed, a configured secret is not. */
export function announce(server: AdminServer, config: AdminServerConfig, json: boolean): void {
  const { mode, username, headerName, generatedSecret } = config.auth;
  const login = { url: server.url, auth: mode, username, header_name: headerName };
  if (json) {
    const secret = { generated_secret: generatedSecret };
    printJson(JSON.stringify({ ...login, ...secret, version: VERSION }));
    return;
  }
  print(`worker admin ${VERSION}${config.readOnly ? " (read-only)" : ""}`);
  print(`  ${server.url.startsWith("http") ? "URL   " : "Socket"}    ${server.url}`);
  if (config.label !== null) print(`  Label     ${config.label}`);
  if ("host" in config.listen && loopbackOf(config.listen) === null) {
    print(`  Listens   ${targetText(server.address)}`);
  }
  if (username !== null) print(`  User      ${username}`);
  if (headerName !== null) print(`  Header    ${headerName}`);
  const rights = config.readOnly ? "read" : "read and change";
  const audience = "path" in config.listen ? "with access to the socket" : "on this machine";
  const kind = mode === "basic" ? "Password" : "Token   ";
  if (generatedSecret !== null) print(`  ${kind}  ${generatedSecret}   (generated for this run)`);
  else if (mode === "none") print(`  Login     none: every user ${audience} may ${rights}`);
  else print(`  ${kind}  as configured`);
}
