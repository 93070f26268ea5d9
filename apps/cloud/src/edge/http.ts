/** Helpers for the plain HTTP routes. They treat HTTP/1.1 and HTTP/2 requests alike. */
import { type CodeName, invalidArgument, type Log, type PlatformError } from '@platform/base';
import { reportedFault } from '@platform/rpc/server';
import { retryAfterHeader } from '../access/too-many-guesses.ts';
import { BodyTooLarge } from '../test-inbox/read-body.ts';
import type { Html } from '../text-rules/html.ts';
import { type HttpRequest, type HttpResponse, writeHead } from '../wire/route.ts';

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

/** A page: HTML that the `html` template made, so that every value in it is escaped. */
export function sendHtml(
  response: HttpResponse,
  status: number,
  page: Html,
  headers: Record<string, string | string[]> = {},
): void {
  send(response, status, 'text/html', page.html, headers);
}

/** Never HTML: that is `sendHtml`. */
type TextType = 'text/plain' | 'text/plain; version=0.0.4' | 'application/json' | 'image/x-icon';

export function sendText(
  response: HttpResponse,
  status: number,
  type: TextType,
  body: string,
  headers: Record<string, string | string[]> = {},
): void {
  send(response, status, type, body, headers);
}

/** After signing in, people return to the page that they requested. */
export function sendToSignIn(response: HttpResponse, { pathname, search }: URL): void {
  sendText(response, 303, 'text/plain', '', { location: `/sign-in?next=${encodeURIComponent(pathname + search)}` });
}

function send(
  response: HttpResponse,
  status: number,
  type: string,
  body: string,
  headers: Record<string, string | string[]>,
): void {
  writeHead(response, status, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...headers,
  }).end(body);
}

export function sendJson(
  response: HttpResponse,
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): void {
  sendText(response, status, 'application/json', `${JSON.stringify(body)}\n`, headers);
}

/** The HTTP status of an error; 413 for a body over its limit; 500 for an internal fault. */
export function statusOfError({ code, cause }: PlatformError): number {
  return cause instanceof BodyTooLarge ? 413 : (statusOf[code] ?? 500);
}

/** Sends the error's HTTP status and `{code, message}`; internal faults are logged (D37). @param path of the request, without its query. */
export function sendError(response: HttpResponse, caught: unknown, path: string, log: Log): void {
  const error = reportedFault(caught, { method: path }, log);
  const { code, message } = error;
  sendJson(response, statusOfError(error), { code, message }, retryAfterHeader(caught));
}

export function headerOf(request: HttpRequest, name: string): string {
  const value = request.headers[name];
  return Array.isArray(value) ? (value[0] ?? '') : (value ?? '');
}

/** The authority to which the client connected. */
export function authorityOf(request: HttpRequest): string {
  return headerOf(request, ':authority') || headerOf(request, 'host');
}

/** `address:port` of the caller, also behind a trusted proxy. */
export { clientAddress as peerAddressOf } from '@platform/rpc/server';

/** Another site's page can post forms with our cookies, but not JSON. @throws invalid_argument for another content type */
export function requireType(request: HttpRequest, type: string): void {
  const found = headerOf(request, 'content-type').split(';')[0]?.trim().toLowerCase();
  if (found !== type)
    throw invalidArgument(`content-type: expected ${type}, found ${JSON.stringify((found ?? '').slice(0, 60))}`);
}
