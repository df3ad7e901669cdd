// Speaks to a server in bytes, for what no HTTP client would send.
import { once } from "node:events";
import net from "node:net";

/** Sends bytes as they are and gives everything that comes back until the server closes. */
export async function rawExchange(port: number, bytes = "", from?: string): Promise<string> {
  const connection = await connect(port, from);
  connection.socket.write(bytes, "latin1");
  return connection.end();
}

export interface RawConnection {
  readonly socket: net.Socket;
  /** Resolves when so much of what was received matches. Rejects when the server closes first. */
  received(pattern: RegExp): Promise<string>;
  /** Resolves when the server has closed, with all that came. */
  end(): Promise<string>;
}

/** `from`: the client's own address, in 127.0.0.0/8. */
export async function connect(port: number, from?: string): Promise<RawConnection> {
  const local = from === undefined ? {} : { localAddress: from };
  const socket = net.connect({ port, host: "127.0.0.1", ...local });
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString();
  socket.on("data", (chunk) => chunks.push(chunk));
  // The server may cut the connection while we still write.
  socket.on("error", () => {});
  await once(socket, "connect");
  return {
    socket,
    async received(pattern) {
      while (!pattern.test(text())) {
        if (socket.closed) throw new Error(`closed after ${text()}`);
        await Promise.race([once(socket, "data"), once(socket, "close")]);
      }
      return text();
    },
    async end() {
      if (!socket.closed) await once(socket, "close");
      return text();
    },
  };
}

/** The status codes of the answers in a stream of them. */
export function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
