// Where a server can listen: an address, a socket in the file system, a socket that somebody has opened.

/** A host and a port. */
export interface TcpTarget {
  /** An IP address without brackets, or a host name. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** A socket in the file system. */
export interface UnixTarget {
  /** Absolute. */
  readonly path: string;
  /** Who may connect, such as 0o660. */
  readonly mode: number;
  /** Number of the group that it is given to; null: that of the process. */
  readonly gid: number | null;
}

/** An open socket of this process, such as one that systemd has passed. */
export interface DescriptorTarget {
  readonly fd: number;
}

/** Where a server listens. */
export type ListenTarget = TcpTarget | UnixTarget | DescriptorTarget;

/** Where a server listens; a unix socket has its path as its host, and the port 0. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** What stands for the address of whoever comes over a unix socket: there is none. */
export const UNIX_PEER = "unix:";

/** In words, as it is written in options. */
export function targetText(target: ListenTarget): string {
  if ("path" in target) return `unix:${target.path}`;
  if ("fd" in target) return `fd:${target.fd}`;
  const { host, port } = target;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
