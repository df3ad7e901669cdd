// Where a server can listen: an address, a unix socket, or an inherited descriptor.

export interface TcpTarget {
  /** An IP address without brackets, or a host name. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** A unix socket. */
export interface UnixTarget {
  /** Absolute. */
  readonly path: string;
  /** Access mode, such as 0o660. */
  readonly mode: number;
  /** The number of the group that gets the socket; null: the group of the process. */
  readonly gid: number | null;
}

/** An open socket of this process, such as one passed by systemd. */
export interface DescriptorTarget {
  readonly fd: number;
}

/** Where a server listens. */
export type ListenTarget = TcpTarget | UnixTarget | DescriptorTarget;

/** Where a server is listening. A unix socket has its path as host, and port 0. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** Used as the address of peers on a unix socket, which have none. */
export const UNIX_PEER = "unix:";

/** The target as it is written in options. */
export function targetText(target: ListenTarget): string {
  if ("path" in target) return `unix:${target.path}`;
  if ("fd" in target) return `fd:${target.fd}`;
  const { host, port } = target;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
