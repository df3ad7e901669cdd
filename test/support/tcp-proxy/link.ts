// One connection through the proxy: two sockets, and a pipe in each direction.
import type net from "node:net";
import { type Chunk, Messages, type Start } from "./messages.ts";
import { Pipe, reset } from "./pipe.ts";

/** `requests`: data from a client; `answers`: data from a server. */
export type Direction = "requests" | "answers";
export const DIRECTIONS: readonly Direction[] = ["requests", "answers"];

export interface LinkParts {
  /** Called as soon as the link's `application` is final, before the current chunk is passed on. */
  onKnown(link: Link): void;
  onClosed(link: Link): void;
  /** Returns how many bytes of the chunk pass before a cut; null: no cut. */
  cutIn(link: Link, direction: Direction, chunk: Chunk): number | null;
}

export class Link {
  /** The `application_name` of the login; null before the login, and without a login. */
  application: string | null = null;
  readonly requests: Pipe;
  readonly answers: Pipe;
  /** Resolves when both sockets are closed. */
  readonly closed: Promise<void>;
  readonly #front: net.Socket;
  readonly #back: net.Socket;

  constructor(front: net.Socket, back: net.Socket, parts: LinkParts) {
    [this.#front, this.#back] = [front, back];
    const toClient = new Messages("letter");
    const started = (start: Start) => {
      if (start.kind === "encryption") toClient.expectByte();
      else if (start.kind === "other") toClient.giveUp();
      if (start.kind === "login") this.application = start.application;
      if (start.kind !== "encryption") parts.onKnown(this);
    };
    const toServer = new Messages("start", started);
    const cut = () => {
      reset(front);
      // The server's socket is not reset, so the server executes what it has received.
      back.end();
    };
    const pipe = (from: net.Socket, to: net.Socket, messages: Messages, direction: Direction) =>
      new Pipe({
        from,
        to,
        read: (bytes) => messages.read(bytes),
        cutIn: (chunk) => parts.cutIn(this, direction, chunk),
        stop: () => this.#stop(),
        cut,
      });
    this.requests = pipe(front, back, toServer, "requests");
    this.answers = pipe(back, front, toClient, "answers");
    const ends = [front, back].map((end) => new Promise((resolve) => end.once("close", resolve)));
    this.closed = Promise.all(ends).then(() => parts.onClosed(this));
  }

  reset(): void {
    this.#stop();
    reset(this.#front);
    reset(this.#back);
  }

  /** Ends one direction normally (FIN). */
  halfClose(direction: Direction): void {
    this[direction].close();
    (direction === "requests" ? this.#back : this.#front).end();
  }

  /** Resets the connection to `end`. The other end is not notified. */
  lose(end: "client" | "server"): void {
    this.#stop();
    reset(end === "client" ? this.#front : this.#back);
  }

  #stop(): void {
    this.requests.close();
    this.answers.close();
  }
}
