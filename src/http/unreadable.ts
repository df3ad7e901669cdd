// The answer to bytes that never became a request, written to the socket by hand.
import { STATUS_CODES } from "node:http";
import { codeOf } from "../base/errors.ts";
import { Refusal } from "./refusal.ts";

/** What the parser's error means to the client. */
export function unreadable(error: Error): Refusal {
  switch (codeOf(error)) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal(431, "headers_too_large", "the request's headers are too large");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal(408, "request_timeout", "the request took too long to arrive");
    default:
      return new Refusal(400, "bad_request", "this is not an HTTP/1.1 request");
  }
}

/** A whole response in HTTP/1.1; the connection ends with it. */
export function rawResponse(status: number, headers: Record<string, string>, body: string): string {
  const all = { ...headers, "content-length": Buffer.byteLength(body), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
