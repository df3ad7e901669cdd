// The addresses at which a server can listen.

/** A host and a port to listen at. */
export interface TcpTarget {
  /** An IP address without brackets, or a host name. */
  readonly host: string;
  /** The port; 0: any free port. */
  readonly port: number;
}

/** A unix socket to listen at. */
export interface UnixTarget {
  /** The socket's absolute path. */
  readonly path: string;
  /** The socket's file mode, such as 0o660. The mode decides which users may connect. */
  readonly mode: number;
  /** The number of the socket's group; null: the default of the system. */
  readonly gid: number | null;
}

/** An open socket of this process, such as a socket that systemd has passed. */
export interface DescriptorTarget {
  /** The number of the file descriptor. */
  readonly fd: number;
}

/** An address to listen at. */
export type ListenTarget = TcpTarget | UnixTarget | DescriptorTarget;

/** The address at which a server listens. */
export interface BoundAddress {
  /** The IP address. For a unix socket: its path, or `fd:3` if the socket was inherited as descriptor 3. */
  readonly host: string;
  /** The port; 0 for a unix socket. */
  readonly port: number;
}

/** Replaces the address of a client of a unix socket, because such a client has no address. */
export const UNIX_PEER = "unix:";

/** Returns the target as it is written in the option `listenAddr`. */
export function targetText(target: ListenTarget): string {
  if ("path" in target) return `unix:${target.path}`;
  if ("fd" in target) return `fd:${target.fd}`;
  const { host, port } = target;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
