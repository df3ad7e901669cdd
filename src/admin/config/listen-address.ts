// Parses the address to listen at, and checks whether addresses and requests are of this machine.
import { isIP, isIPv4 } from "node:net";
import { InputError } from "../../base/errors.ts";
import { type ListenTarget, type TcpTarget, UNIX_PEER } from "../../http/listen/listen-target.ts";
import { Refusal } from "../../http/refusal.ts";
import type { HttpRequest } from "../../http/request.ts";
import { gidOf } from "./group.ts";

const FORM =
  "must be host:port, such as 127.0.0.1:4000 or [::1]:4000, unix:/path of a socket, or fd:3 for an open one";
const HOST_NAME = /^(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.?$/;

/** The longest path of a unix socket on Linux, without the final zero byte. */
const MAX_PATH_BYTES = 107;

/** The mode and group of a unix socket. null: the default; the default mode is 0600, or 0660 if a group is given. */
export interface SocketPermissions {
  readonly mode: number | null;
  readonly group: string | null;
}

/**
 * Returns the target of `host:port`, `unix:/path` or `fd:3`. Permissions apply to a unix socket only. Throws InputError
 * if the text or the permissions are invalid.
 */
export function parseListenAddress(text: string, permissions: SocketPermissions): ListenTarget {
  if (text.startsWith("unix:")) return unixTarget(text.slice("unix:".length), permissions);
  for (const [path, given] of [
    ["listenMode", permissions.mode],
    ["listenGroup", permissions.group],
  ] as const) {
    if (given !== null) refuse(path, "applies to a unix socket only; listen on unix:/path");
  }
  const [, fd] = /^fd:(\d{1,6})$/.exec(text) ?? [];
  if (fd !== undefined) return { fd: Number(fd) };
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? "";
  const port = Number(digits);
  const fits = bracketed === undefined ? isIPv4(host) || isHostName(host) : isIP(host) === 6;
  if (!fits || !(port <= 65_535)) refuse("listenAddr", FORM);
  return { host, port };
}

const PRIVATE = 0o600;
const FOR_A_GROUP = 0o660;

function unixTarget(path: string, { mode, group }: SocketPermissions): ListenTarget {
  if (!path.startsWith("/") || path.endsWith("/") || path.includes("\0")) {
    refuse("listenAddr", "must have an absolute path, such as unix:/run/worker/admin.sock");
  }
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    refuse("listenAddr", `must have a path of at most ${MAX_PATH_BYTES} bytes`);
  }
  // The mode must let the owner connect.
  if (mode !== null && (!Number.isInteger(mode) || (mode & ~0o066) !== PRIVATE)) {
    refuse("listenMode", "must be a mode such as 0600, 0660 or 0666");
  }
  const gid = group === null ? null : gidOf(group);
  return { path, mode: mode ?? (gid === null ? PRIVATE : FOR_A_GROUP), gid };
}

function refuse(path: string, message: string): never {
  throw new InputError([{ path, message }]);
}

// If the last label is a number, the text is a mistyped IPv4 address.
function isHostName(host: string): boolean {
  return HOST_NAME.test(host) && !/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i.test(host);
}

/**
 * Whether the host is an address in 127.0.0.0/8, or ::1. IPv4-mapped addresses do not count, because such addresses
 * are suspicious in a Host header.
 */
function isLoopback(host: string): boolean {
  return isIPv4(host) ? host.startsWith("127.") : isIP(host) === 6 && isIPv6Loopback(host);
}

function isIPv6Loopback(host: string): boolean {
  return /^(?:0{0,4}:){1,7}0{0,3}1$/.test(host);
}

/**
 * Returns the address if only this machine can reach it; if not, null. `localhost` is replaced by 127.0.0.1 (RFC
 * 6761), because a resolver could return another address.
 */
export function loopbackOf({ host, port }: TcpTarget): TcpTarget | null {
  if (host.toLowerCase() === "localhost") return { host: "127.0.0.1", port };
  return isLoopback(host) ? { host, port } : null;
}

function isLoopbackPeer(address: string): boolean {
  return isLoopback(address.replace(/^::ffff:(?=\d+\.)/i, ""));
}

/** Whether a Host header has a loopback address or `localhost`, with any port or none. */
export function isLoopbackHost(header: string | undefined): boolean {
  const name = header?.replace(/:\d*$/, "").toLowerCase();
  if (name === undefined) return false;
  if (name === "localhost") return true;
  return isLoopback(name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name);
}

/**
 * Throws Refusal 403 for a request from another machine or through a proxy; only for mode `none`. A proxy on this
 * machine has a loopback address and may send a local Host, so a proxy is recognized by its headers or by HTTP/1.0.
 */
export function assertFromHere(request: HttpRequest): void {
  const { host, remoteAddress, headers, httpVersion } = request;
  // The peer and the Host must both be local. A peer on a unix socket is always local.
  const isHere = remoteAddress === UNIX_PEER || isLoopbackPeer(remoteAddress);
  if (!isHere || !isLoopbackHost(host)) throw new Refusal(403, "host", ELSEWHERE);
  const isForwarded = Object.keys(headers).some(isOfProxy);
  if (isForwarded || httpVersion === "1.0") throw new Refusal(403, "proxy", FORWARDED);
}

const ofProxies = new Set(["via", "forwarded", "x-real-ip"]);

const isOfProxy = (name: string) => ofProxies.has(name) || name.startsWith("x-forwarded");

const ELSEWHERE = "this server answers this machine only: use http://127.0.0.1 or localhost";

const FORWARDED =
  "this server has no login, so it serves no proxy: add a login with --auth basic, bearer or header, or connect without a proxy and by HTTP/1.1";
