// worker healthcheck: checks whether an admin server is ready. Meant for containers without curl.
import {
  codeOf,
  InputError,
  messageOf,
  WorkerError,
  withoutNodeHint,
} from "../../../base/errors.ts";
import type { GetResponse } from "../../../http/get.ts";
import { flag, span, text } from "../../arguments/values.ts";
import { print, printJson } from "../../output/print.ts";
import { defineCommand } from "../../shell/globals.ts";
import { adminUrl } from "./admin-url.ts";

export const healthcheckCommand = defineCommand({
  name: "healthcheck",
  describe: "Check whether a running admin server is ready",
  positionals: {
    url: text("URL of the admin, or unix:/path [default: http://127.0.0.1:5678]", {
      form: "url",
      optional: true,
    }),
  },
  options: {
    timeout: { ...span("Time limit for the response"), fallback: "5s" },
    insecure: flag("Accept any certificate, also one for another host name"),
  },
  notes:
    "Requests <url>/readyz. Without a URL, the address comes from WORKER_ADMIN_LISTEN, WORKER_ADMIN_BASE_PATH and WORKER_ADMIN_TLS_CERT, the variables of worker admin. Exit status: 0 ready; 1 not ready or no response in time.",
  unsupported: {
    databaseUrl: "it connects to the admin, not to the database",
    schema: "it connects to the admin, not to the database",
  },
  run: async ({ url = adminUrl(process.env), timeout = 5_000, insecure, json }) => {
    const { address, socketPath } = readyAddress(url);
    const where = socketPath === undefined ? address.href : url;
    const { get } = await import("../../../http/get.ts");
    const { status, body } = await answerOf(where, timeout, () =>
      get(address, { socketPath, timeoutMs: timeout, trustsAnyCertificate: insecure }),
    );
    if (status !== 200) {
      const reason = typeof body["reason"] === "string" ? ` (${body["reason"]})` : "";
      throw new WorkerError("busy", `${where} is not ready: status ${status}${reason}`);
    }
    if (json) printJson(JSON.stringify(body));
    else print(`ready${body["read_only_server"] === true ? ", on a read-only server" : ""}`);
    return undefined;
  },
});

function readyAddress(typed: string): { address: URL; socketPath: string | undefined } {
  const [, socketPath, path = "/"] = /^unix:(\/[^:]+)(?::(\/.*))?$/.exec(typed) ?? [];
  const url = URL.parse(socketPath === undefined ? typed : `http://localhost${path}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const shown = typed.replace(/\/\/[^/]*@/, "//");
    const [, port] = /^https?:\/\/(?:\[[^\]]*\]|[^/:]*):([^/]*)/.exec(shown) ?? [];
    const message =
      port === undefined
        ? `must be a URL such as http://127.0.0.1:5678, or unix:/path of a socket, not "${shown}"`
        : `has "${port}" as its port, which must be a number up to 65535`;
    throw new InputError([{ path: "<url>", message }]);
  }
  // The route needs no login, so credentials in the URL are not sent.
  url.username = "";
  url.password = "";
  url.search = "";
  if (!url.pathname.endsWith("/readyz"))
    url.pathname = `${withoutLastSlashes(url.pathname)}/readyz`;
  return { address: url, socketPath };
}

function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}

async function answerOf(where: string, limitMs: number, request: () => Promise<GetResponse>) {
  try {
    const { status, text } = await request();
    return { status, body: membersOf(text) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const late = error instanceof Error && /Timeout|Abort/.test(error.name);
    if (CERTIFICATE.test(codeOf(cause) ?? "")) {
      throw new WorkerError(
        "configuration",
        `the certificate of ${where} is invalid (${withoutNodeHint(messageOf(cause))}); --insecure accepts any certificate`,
      );
    }
    const problem = late
      ? `${where} has not answered within ${limitMs} ms`
      : `cannot connect to ${where} (${codeOf(cause) ?? messageOf(cause)})`;
    throw new WorkerError("timeout", problem);
  }
}

/** Matches the error codes of OpenSSL and Node for a certificate that is untrusted, expired or of another host. */
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
