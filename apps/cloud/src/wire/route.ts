/** Plain HTTP routes of the port: one type for all of them, over HTTP/1.1 and HTTP/2 alike. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { NodeRequest, NodeResponse } from '@platform/rpc/server';

export type HttpRequest = NodeRequest;
export type HttpResponse = NodeResponse;

/** Resolves to true if it handled the request; to false for those of other routes, without doing anything. @throws the error to send instead */
export type Route = (request: HttpRequest, response: HttpResponse, url: URL) => Promise<boolean>;

/** Begins an answer; the caller ends it. */
export function writeHead(response: HttpResponse, status: number, headers: OutgoingHttpHeaders): ServerResponse {
  // The two response classes share these methods, but their overloads differ.
  const plain = response as ServerResponse;
  plain.writeHead(status, headers);
  return plain;
}
