// `host:port` as an operator writes it, and whether only this machine can reach it.
import { isIP, isIPv4 } from "node:net";
import { InputError } from "../../base/errors.ts";

/** Where the admin listens. */
export interface ListenAddress {
  /** An IP address without brackets, or a host name. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const FORM = "must be host:port, such as 127.0.0.1:4000 or [::1]:4000";
const HOST_NAME = /^(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.?$/;

/** Throws InputError for anything but `host:port`. */
export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? "";
  const port = Number(digits);
  const fits = bracketed === undefined ? isIPv4(host) || isHostName(host) : isIP(host) === 6;
  if (!fits || !(port <= 65_535)) throw new InputError([{ path: "listenAddr", message: FORM }]);
  return { host, port };
}

// A last label of digits is a mistyped IPv4 address, never a name.
function isHostName(host: string): boolean {
  return HOST_NAME.test(host) && !/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i.test(host);
}

/**
 * True only for a literal 127.0.0.0/8 or ::1. A host name is what a resolver says today, and an
 * IPv4-mapped address is written by those who want to be mistaken.
 */
function isLoopback(host: string): boolean {
  return isIPv4(host) ? host.startsWith("127.") : isIP(host) === 6 && isIPv6Loopback(host);
}

function isIPv6Loopback(host: string): boolean {
  return /^(?:0{0,4}:){1,7}0{0,3}1$/.test(host);
}

/**
 * The address that only this machine reaches, or null where others reach it, too. `localhost` is
 * taken for 127.0.0.1, as RFC 6761 wants: no resolver is asked, so none can say otherwise.
 */
export function loopbackOf({ host, port }: ListenAddress): ListenAddress | null {
  if (host.toLowerCase() === "localhost") return { host: "127.0.0.1", port };
  return isLoopback(host) ? { host, port } : null;
}

/** True when the other end of a connection is on this machine. */
export function isLoopbackPeer(address: string): boolean {
  return isLoopback(address.replace(/^::ffff:(?=\d+\.)/i, ""));
}

/** True when a Host header names this machine's loopback, whatever the port. */
export function isLoopbackHost(header: string | undefined): boolean {
  const name = header?.replace(/:\d*$/, "").toLowerCase();
  if (name === undefined) return false;
  if (name === "localhost") return true;
  return isLoopback(name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name);
}

/** The address as a URL's authority. */
export function authority({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
