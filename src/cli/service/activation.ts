// Sockets passed by systemd, as in sd_listen_fds(3). LISTEN_FDS is the number of sockets, whose descriptors begin at 3.
// LISTEN_FDNAMES has their names, and LISTEN_PID the id of the only process that may use them.
import { InputError } from "../../base/errors.ts";
import type { Environment } from "../arguments/environment.ts";

const FIRST = 3;

/**
 * Returns the address. An address `fd:` or `fd:name` is replaced by one with the number of the descriptor, such as
 * `fd:3`. Throws InputError if systemd has passed no such socket, or if the address is `fd:` and systemd has passed
 * several sockets.
 */
export function activatedAddress(address: string, env: Environment, pid: number): string {
  if (!address.startsWith("fd:") || /^fd:\d+$/.test(address)) return address;
  const name = address.slice("fd:".length);
  const passed = passedSockets(env, pid);
  if (passed.length === 0) {
    throw activationError(
      `${address} is a socket that systemd passes; none was passed to this process`,
    );
  }
  const all = passed.map((one, at) => `fd:${one || FIRST + at}`).join(", ");
  if (name === "" && passed.length > 1) {
    throw activationError(`systemd has passed ${passed.length} sockets; name one of ${all}`);
  }
  const at = name === "" ? 0 : passed.indexOf(name);
  if (at < 0)
    throw activationError(`systemd has passed no socket named ${name}; it has passed ${all}`);
  return `fd:${FIRST + at}`;
}

/** Returns the names of the sockets passed to this process, in their order; an unnamed socket has an empty name. */
function passedSockets(env: Environment, pid: number): readonly string[] {
  if (env["LISTEN_PID"] !== String(pid)) return [];
  const count = Number(env["LISTEN_FDS"] ?? 0);
  if (!Number.isInteger(count) || count < 1 || count > 1_000) return [];
  const names = (env["LISTEN_FDNAMES"] ?? "").split(":");
  return Array.from({ length: count }, (_, at) => names[at] ?? "");
}

function activationError(message: string): InputError {
  return new InputError([{ path: "listenAddr", message }]);
}
