// A proxy between bare sockets, and messages of PostgreSQL's protocol to send through it.
import { once } from "node:events";
import net from "node:net";
import { type TcpProxy, tcpProxy } from "../tcp-proxy.ts";
import { waitUntil } from "../until.ts";

/** Returns a message of PostgreSQL's protocol. */
export function message(letter: string, body = ""): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

export function login(application: string): Buffer {
  const body = Buffer.from(`\0\x03\0\0user\0me\0application_name\0${application}\0\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + body.length);
  return Buffer.concat([length, body]);
}

/** One end of a connection. `received`: all that it has received. pair() removes the client's first message from it. */
export class End {
  readonly socket: net.Socket;
  received = "";
  hasEnded = false;
  error = "";

  constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on("data", (bytes) => {
      this.received += bytes.toString("latin1");
    });
    socket.on("end", () => {
      this.hasEnded = true;
    });
    socket.on("error", (error) => {
      this.error = (error as NodeJS.ErrnoException).code ?? "";
    });
  }

  send(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** Resolves when `received` is exactly this text. */
  receives(text: Buffer | string): Promise<void> {
    const expected = text.toString("latin1");
    return waitUntil(`"${expected}" is received`, async () => this.received === expected);
  }
}

export interface Wired extends AsyncDisposable {
  readonly proxy: TcpProxy;
  /**
   * Connects a client, sends `first` (default: a login) to the server, and returns the two ends of the connection when
   * the server has received it.
   */
  pair(first?: Buffer): Promise<{ readonly client: End; readonly server: End }>;
  /** Returns a client that has sent nothing yet. */
  connect(): Promise<End>;
}

export async function connectProxy(): Promise<Wired> {
  const servers: End[] = [];
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    servers.push(new End(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  const proxy = await tcpProxy(`postgres://me@127.0.0.1:${port}/none`);
  const clients: End[] = [];
  const connect = async () => {
    const port = Number(new URL(proxy.url).port);
    const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const client = new End(socket);
    clients.push(client);
    await once(socket, "connect");
    return client;
  };
  return {
    proxy,
    connect,
    async pair(first = login("one")) {
      const count = servers.length;
      const client = await connect();
      client.send(first);
      await waitUntil("the server has accepted the connection", async () => servers.length > count);
      const end = servers[count] as End;
      await end.receives(first);
      end.received = "";
      return { client, server: end };
    },
    async [Symbol.asyncDispose]() {
      await proxy.close();
      for (const { socket } of [...clients, ...servers]) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
