// What `worker admin` and `worker demo` share: the server's options, its secrets from the
// environment, and what is printed once it listens.
import type { Pool } from "pg";
import type { AuthOptions } from "../../admin/config/auth-options.ts";
import type { AdminServerConfig } from "../../admin/config/config.ts";
import { loopbackOf } from "../../admin/config/listen-address.ts";
import type { AdminServer } from "../../admin/server.ts";
import { InputError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { VERSION } from "../../base/version.ts";
import { targetText } from "../../http/listen/listen-target.ts";
import type { Given, Values } from "../arguments/command.ts";
import { secretOf } from "../arguments/environment.ts";
import { Unfit, UsageError } from "../arguments/refusals.ts";
import { choice, defaulting, flag, type OptionValue, several, text } from "../arguments/values.ts";
import { print, printJson } from "../output/print.ts";
import { activatedAddress } from "../service/activation.ts";

/** `0660` */
function octal(describe: string): OptionValue<number | undefined> {
  const mode = text(describe, { form: "mode" });
  const read = ([typed]: readonly string[]) => {
    if (typed === undefined) return undefined;
    if (/^0?[0-7]{3}$/.test(typed)) return Number.parseInt(typed, 8);
    throw new Unfit("must be a mode in octal, such as 0660");
  };
  return { ...mode, read };
}

export const adminOptions = {
  listen: defaulting(
    text(
      "Address and port (0: any free one), unix:/path, or fd: for a socket that systemd passes",
      {
        form: "address",
        field: "listenAddr",
      },
    ),
    "127.0.0.1:5678",
  ),
  listenMode: octal("Who may connect to a unix socket [default: 0600, with a group 0660]"),
  listenGroup: text("Group that a unix socket is given to", { form: "group" }),
  tlsCert: text("Certificate in PEM, its chain behind it: TLS 1.2 and later, and nothing else", {
    form: "file",
    field: "tls.certFile",
  }),
  tlsKey: text("Key of the certificate", { form: "file", field: "tls.keyFile" }),
  hsts: flag("With TLS: take back that browsers come to this host by HTTPS only", {}, true),
  auth: defaulting(
    choice("How to log in; none only on a loopback address or a private socket", [
      "basic",
      "bearer",
      "header",
      "none",
    ]),
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
    text("Network of a proxy in front, or unix:; whom it names is the client; may be repeated", {
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
  "Secrets come from the environment, from files and from systemd's credentials: WORKER_ADMIN_PASSWORD (basic), WORKER_ADMIN_BEARER_TOKEN (bearer), WORKER_ADMIN_HEADER_TOKEN (header); WORKER_ADMIN_PASSWORD_FILE names a file, worker-admin-password is the credential. One that is not set is generated and printed once. WORKER_ADMIN_METRICS_TOKEN does for --metrics-token, which others see in the list of processes. A configured secret needs 12 characters where other machines can reach it. With --tls-cert SIGHUP reads certificate and key anew; without it, it means a stop.";

type AdminArguments = Given<typeof adminOptions>;

/** The configuration that the arguments ask for. Throws InputError with everything wrong. */
export async function adminConfig(
  args: AdminArguments,
  pool: Pool,
  schema: string,
  logger: Logger,
): Promise<AdminServerConfig> {
  const { adminServerConfig } = await import("../../admin/config/config-builder.ts");
  const builder = adminServerConfig(pool);
  if (args.label !== undefined) builder.label(args.label);
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

/** Has SIGHUP read the certificate anew. What will not do is a line in the log, and the old one stays. */
export function certificateReload(server: AdminServer, logger: Logger): () => void {
  return () => {
    try {
      server.reloadCertificate();
    } catch (error) {
      const problems =
        error instanceof InputError ? error.problems : [{ message: messageOf(error) }];
      const why = problems.map(({ message }) => message).join("; ");
      logger.error({ error: why }, "the new certificate will not do: the old one stays");
    }
  };
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
  print(`  ${server.url.startsWith("http") ? "URL   " : "Socket"}    ${server.url}`);
  if (config.label !== null) print(`  Label     ${config.label}`);
  if ("host" in config.listen && loopbackOf(config.listen) === null) {
    print(`  Listens   ${targetText(server.address)}`);
  }
  if (username !== null) print(`  User      ${username}`);
  if (headerName !== null) print(`  Header    ${headerName}`);
  const rights = config.readOnly ? "read everything" : "do everything";
  const who = "path" in config.listen ? "who may connect" : "on this machine";
  const kind = mode === "basic" ? "Password" : "Token   ";
  if (generatedSecret !== null) print(`  ${kind}  ${generatedSecret}   (generated for this run)`);
  else if (mode === "none") print(`  Login     none: everybody ${who} may ${rights}`);
  else print(`  ${kind}  as configured`);
}
