// A connection to the admin that sends raw bytes. Node's client would refuse to send many of the requests.
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, answerReader } from "./answer-reader.ts";

export interface Line {
  /**
   * Sends the pieces with pauses, and waits for the responses. `heads`: for each request, whether its method is HEAD.
   */
  exchange(
    pieces: readonly (string | Buffer)[],
    heads: readonly boolean[],
    waitMs?: number,
  ): Promise<Outcome>;
  /** If `isOrderly` is true, sends a FIN. Otherwise, closes the connection at once. */
  close(isOrderly?: boolean): void;
  readonly isOpen: boolean;
}

export interface Outcome {
  readonly answers: readonly Answer[];
  /**
   * `all`: all expected responses have arrived. `closed`: the connection ended earlier. `left`: the client closed the
   * connection during a long response or an event stream. `waited`: `waitMs` has passed.
   */
  readonly end: "all" | "closed" | "left" | "waited";
  /** What is wrong with the received bytes; null: nothing. */
  readonly problem: string | null;
}

export interface LineOptions {
  readonly port: number;
  /** An address of 127.0.0.0/8, by which the admin identifies the client. */
  readonly localAddress: string;
}

/** The default of `waitMs`. A statement of a heavy command, such as a cleanup, may take 30 s. */
const MAX_MS = 45_000;
/** After this many bytes of a response, the client closes the connection. */
const MAX_BYTES = 262_144;
/** After this time, the client closes an event stream, which has no end. */
const MAX_STREAM_MS = 20;
const PAUSE_MS = 2;

export function openLine({ port, localAddress }: LineOptions): Line {
  const socket = net.connect({ host: "127.0.0.1", port, localAddress, noDelay: true });
  let requests: readonly boolean[] = [];
  let answers: Answer[] = [];
  /** The first problem between two exchanges. The next exchange reports it. */
  let firstProblem: string | null = null;
  const keep = (_: Outcome["end"], problem: string | null = null) => {
    firstProblem ??= problem;
  };
  let settle = keep;
  let isOpen = true;
  let streaming: NodeJS.Timeout | undefined;

  const leave = () => {
    if (reader.begun === null) return;
    answers.push(reader.begun);
    isOpen = false;
    socket.destroy();
    settle("left");
  };
  const reader = answerReader(
    () => requests[answers.length] ?? null,
    (answer) => {
      answers.push(answer);
      if (answer.isLast) isOpen = false;
      if (answers.length === requests.length) settle("all");
    },
  );
  const guarded = (read: () => void, end: Outcome["end"] | null) => {
    try {
      read();
      if (end !== null) settle(end);
    } catch (error) {
      isOpen = false;
      socket.destroy();
      settle("closed", (error as Error).message);
    }
  };
  socket.on("data", (bytes) => {
    guarded(() => reader.take(bytes), null);
    if (reader.begun === null) return;
    if (reader.bytes > MAX_BYTES) leave();
    else if (/\r\ncontent-type: *text\/event-stream/i.test(reader.begun.headers)) {
      streaming ??= setTimeout(leave, MAX_STREAM_MS);
    }
  });
  socket.on("end", () => guarded(() => reader.end(), "closed"));
  socket.on("error", () => {});
  socket.on("close", () => {
    isOpen = false;
    clearTimeout(streaming);
    settle("closed");
  });

  return {
    get isOpen() {
      return isOpen;
    },
    async exchange(pieces, heads, waitMs = MAX_MS) {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      [requests, answers] = [heads, []];
      const late = setTimeout(() => settle("waited"), waitMs);
      settle = (end, problem = null) => {
        clearTimeout(late);
        settle = keep;
        resolve({ answers, end, problem: problem ?? firstProblem });
      };
      if (firstProblem !== null || socket.destroyed) settle("closed");
      for (const [at, piece] of pieces.entries()) {
        if (at > 0) await sleep(PAUSE_MS);
        if (socket.writable) socket.write(piece);
      }
      return promise;
    },
    close(isOrderly = false) {
      isOpen = false;
      if (isOrderly) socket.end();
      else socket.destroy();
    },
  };
}
