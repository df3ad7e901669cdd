// Sends a single GET request over TCP, TLS or a unix socket. At most about 64 KiB of the response are read.

import http from "node:http";
import https from "node:https";
import { timeoutSignal } from "../base/clock.ts";

export interface GetResponse {
  readonly status: number;
  readonly text: string;
}

export interface GetOptions {
  /** The path of a unix socket to connect to, instead of the URL's host. */
  readonly socketPath?: string | undefined;
  readonly timeoutMs: number;
  /** Whether any certificate is accepted, for example one that a server on this machine has for another host name. */
  readonly trustsAnyCertificate: boolean;
}

const MAX_ANSWER_BYTES = 64 * 1024;

/** Sends the request, and resolves to the response. Rejects after `timeoutMs`, or with the connection's error. */
export function get(url: URL, options: GetOptions): Promise<GetResponse> {
  const { socketPath, timeoutMs, trustsAnyCertificate } = options;
  const { promise, resolve, reject } = Promise.withResolvers<GetResponse>();
  const { get: start } = url.protocol === "https:" ? https : http;
  const signal = timeoutSignal(timeoutMs);
  const settings = { socketPath, signal, agent: false, rejectUnauthorized: !trustsAnyCertificate };
  const request = start(url, settings, (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = () => {
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      request.destroy();
    };
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) settle();
    });
    response.once("end", settle);
    response.once("error", reject);
  });
  request.once("error", reject);
  return promise;
}
