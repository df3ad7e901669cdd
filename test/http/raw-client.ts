// A client that sends raw bytes, for requests that no HTTP client would send.
import { once } from "node:events";
import net from "node:net";

/** Sends the bytes on a new connection, and returns all text received until the server closes the connection. */
export async function rawExchange(port: number, bytes = "", from?: string): Promise<string> {
  const connection = await connect(port, from);
  connection.socket.write(bytes, "latin1");
  return connection.end();
}

export interface RawConnection {
  readonly socket: net.Socket;
  /** Resolves with all received text once the text matches. Rejects if the connection is closed before that. */
  received(pattern: RegExp): Promise<string>;
  /** Resolves with all received text when the connection is closed. */
  end(): Promise<string>;
}

/** Connects to a port of 127.0.0.1. `from`: the client's own address, in 127.0.0.0/8. */
export async function connect(port: number, from?: string): Promise<RawConnection> {
  const local = from === undefined ? {} : { localAddress: from };
  const socket = net.connect({ port, host: "127.0.0.1", ...local });
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString();
  socket.on("data", (chunk) => chunks.push(chunk));
  // The server may cut the connection during a write. That is not a failure.
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

/** Returns the status codes of all responses in the text. */
export function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
