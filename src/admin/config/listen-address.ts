// Where to listen, as an operator writes it; whether only this machine can reach it, and whether a request comes
// from here.
import { isIP, isIPv4 } from "node:net";
import { InputError } from "../../base/errors.ts";
import { type ListenTarget, type TcpTarget, UNIX_PEER } from "../../http/listen/listen-target.ts";
import { Refusal } from "../../http/refusal.ts";
import type { HttpRequest } from "../../http/request.ts";
import { gidOf } from "./group.ts";

const FORM =
  "must be host:port, such as 127.0.0.1:4000 or [::1]:4000, unix:/path of a socket, or fd:3 for an open one";
const HOST_NAME = /^(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.?$/;

/** The system's bound, without the zero at the end. */
const LONGEST_PATH_BYTES = 107;

/** What is said of a socket in the file system beside its path. */
export interface SocketRights {
  readonly mode: number | null;
  readonly group: string | null;
}

/** Throws InputError for anything but `host:port`, `unix:/path` and `fd:3`. */
export function parseListenAddress(text: string, rights: SocketRights): ListenTarget {
  if (text.startsWith("unix:")) return unixTarget(text.slice("unix:".length), rights);
  for (const [path, given] of [
    ["listenMode", rights.mode],
    ["listenGroup", rights.group],
  ] as const) {
    if (given !== null) refuse(path, "is about a unix socket; listen on unix:/path");
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

function unixTarget(path: string, { mode, group }: SocketRights): ListenTarget {
  if (!path.startsWith("/") || path.endsWith("/") || path.includes("\0")) {
    refuse("listenAddr", "must have an absolute path, such as unix:/run/worker/admin.sock");
  }
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) {
    refuse("listenAddr", `must have a path of at most ${LONGEST_PATH_BYTES} bytes`);
  }
  // Others may be let in or not; its owner always is.
  if (mode !== null && (!Number.isInteger(mode) || (mode & ~0o066) !== PRIVATE)) {
    refuse("listenMode", "must be a mode such as 0600, 0660 or 0666");
  }
  const gid = group === null ? null : gidOf(group);
  return { path, mode: mode ?? (gid === null ? PRIVATE : FOR_A_GROUP), gid };
}

function refuse(path: string, message: string): never {
  throw new InputError([{ path, message }]);
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
export function loopbackOf({ host, port }: TcpTarget): TcpTarget | null {
  if (host.toLowerCase() === "localhost") return { host: "127.0.0.1", port };
  return isLoopback(host) ? { host, port } : null;
}

/** True when the other end of a connection is on this machine. */
function isLoopbackPeer(address: string): boolean {
  return isLoopback(address.replace(/^::ffff:(?=\d+\.)/i, ""));
}

/** True when a Host header names this machine's loopback, whatever the port. */
export function isLoopbackHost(header: string | undefined): boolean {
  const name = header?.replace(/:\d*$/, "").toLowerCase();
  if (name === undefined) return false;
  if (name === "localhost") return true;
  return isLoopback(name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name);
}

/**
 * Throws Refusal 403 for a request that does not come from this machine, or not without a proxy in between: mode none
 * serves no other. A proxy on this machine connects from here for all its clients, and nginx by default even with a
 * Host that is this machine's; but it leaves traces.
 */
export function assertFromHere(request: HttpRequest): void {
  const { host, remoteAddress, headers, httpVersion } = request;
  // Neither a name alone counts nor an address alone. Only this user may connect to the unix socket.
  const isHere = remoteAddress === UNIX_PEER || isLoopbackPeer(remoteAddress);
  if (!isHere || !isLoopbackHost(host)) throw new Refusal(403, "host", ELSEWHERE);
  const isForwarded = Object.keys(headers).some(isOfProxy);
  if (isForwarded || httpVersion === "1.0") throw new Refusal(403, "proxy", FORWARDED);
}

const ofProxies = new Set(["via", "forwarded", "x-real-ip"]);

const isOfProxy = (name: string) => ofProxies.has(name) || name.startsWith("x-forwarded");

const ELSEWHERE = "this server is for this machine only: use http://127.0.0.1 or localhost";

const FORWARDED =
  "this server has no login, so it serves no proxy: give it one with --auth basic, bearer or header, or connect without a proxy and by HTTP/1.1";
