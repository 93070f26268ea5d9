/** Small tools for the plain HTTP routes: they see HTTP/1.1 and HTTP/2 requests alike. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { asPlatformError, type CodeName } from '@platform/base';
import { retryAfterSeconds } from '../access/too-many-guesses.ts';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

const statusOf: Partial<Record<CodeName, number>> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  aborted: 409,
  failed_precondition: 412,
  resource_exhausted: 429,
  unimplemented: 501,
  unavailable: 503,
  deadline_exceeded: 504,
};

export function sendText(
  response: HttpResponse,
  status: number,
  type: string,
  body: string,
  headers: Record<string, string> = {},
): void {
  // The two response classes agree on what is called here, but not in their overloads.
  const plain = response as ServerResponse;
  plain.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...headers,
  });
  plain.end(body);
}

export function sendJson(
  response: HttpResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  sendText(response, status, 'application/json', `${JSON.stringify(body)}\n`, headers);
}

/** Answers with the error's HTTP status and `{code, message}`. Returns true when the fault is ours, for the log. */
export function sendError(response: HttpResponse, caught: unknown): boolean {
  const error = asPlatformError(caught);
  const status = statusOf[error.code] ?? 500;
  const message = status === 500 ? 'internal error; the log of the cloud says more' : error.message;
  const waitSeconds = retryAfterSeconds(error);
  const headers = waitSeconds === undefined ? {} : { 'retry-after': String(waitSeconds) };
  sendJson(response, status, { code: error.code, message }, headers);
  return status === 500;
}

export function headerOf(request: HttpRequest, name: string): string {
  const value = request.headers[name];
  return Array.isArray(value) ? (value[0] ?? '') : (value ?? '');
}

/** The authority that the client dialled. */
export function authorityOf(request: HttpRequest): string {
  return headerOf(request, ':authority') || headerOf(request, 'host');
}
