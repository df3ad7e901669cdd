// Where the admin of this machine, or of this container, is to be asked, by the variables that it reads itself.
import type { Environment } from "../../arguments/environment.ts";

const DEFAULT = "127.0.0.1:5678";
/** Addresses of every interface, and those of them by which a process reaches its own machine. */
const OWN: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/** `WORKER_ADMIN_LISTEN=0.0.0.0:80` is http://127.0.0.1:80. What cannot be told from it, as fd:, is the default. */
export function adminUrl(env: Environment): string {
  const listen = env["WORKER_ADMIN_LISTEN"] || DEFAULT;
  const path = env["WORKER_ADMIN_BASE_PATH"] || "/";
  if (listen.startsWith("unix:")) return `${listen}:${path}`;
  const [, host = "", port = "0"] =
    /^(.+):(\d+)$/.exec(listen.startsWith("fd:") ? "" : listen) ?? [];
  const address = Number(port) === 0 ? DEFAULT : `${OWN[host] ?? host}:${port}`;
  return `${env["WORKER_ADMIN_TLS_CERT"] ? "https" : "http"}://${address}${path}`;
}
