// The URL of the admin on this machine or in this container, from the environment variables that `worker admin` reads.
import type { Environment } from "../../arguments/environment.ts";

const DEFAULT = "127.0.0.1:5678";
/** For each address that means every interface, the loopback address to which a client on this machine connects. */
const OWN: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/**
 * Returns the URL, such as http://127.0.0.1:80/ for the address 0.0.0.0:80, or unix:/path:/ for a unix socket. If the
 * setting is fd: or has port 0, it does not contain the real port. Then the URL has the default address.
 */
export function adminUrl(env: Environment): string {
  const listen = env["WORKER_ADMIN_LISTEN"] || DEFAULT;
  const path = env["WORKER_ADMIN_BASE_PATH"] || "/";
  if (listen.startsWith("unix:")) return `${listen}:${path}`;
  const [, host = "", port = "0"] =
    /^(.+):(\d+)$/.exec(listen.startsWith("fd:") ? "" : listen) ?? [];
  const address = Number(port) === 0 ? DEFAULT : `${OWN[host] ?? host}:${port}`;
  return `${env["WORKER_ADMIN_TLS_CERT"] ? "https" : "http"}://${address}${path}`;
}
