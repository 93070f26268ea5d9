/**
 * Cross-origin calls from browsers. By default any origin may call, because only the bearer token authorizes such a call, never anything
 * that a browser attaches on its own. So `authenticate` must not accept cookies from other origins, and no answer to one allows them. A
 * server that asks for no token has a PageRule, and names the origins that it accepts.
 */
import type { IncomingHttpHeaders } from 'node:http2';
import { cors } from '@connectrpc/connect';
import type { NodeRequest, NodeResponse } from '../listener/node-types.ts';
import { writeResponse } from '../listener/write-response.ts';

/** How long a browser may cache a preflight; two hours is the most that browsers honour. */
const maxAgeSeconds = 7200;

/** `any`: pages of every origin may call. `own`: the request comes from an accepted page, and the answer names its origin. */
export type PageVerdict = 'any' | 'own' | { readonly refused: string };

/** Judges a request that a browser can have sent, before anything of it is handled. */
export type PageRule = (headers: IncomingHttpHeaders) => PageVerdict;

/**
 * Whether a page can have caused the request: browsers add `origin` to every POST and to every request to another origin, and send GET also
 * without it. Programs that call over gRPC do neither.
 */
export function canBeOfPage(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  return method === 'GET' || method === 'HEAD' || namesPage(headers);
}

const ofPages = ['origin', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user'] as const;

/** Whether the request has a header that browsers set and pages cannot. */
export function namesPage(headers: IncomingHttpHeaders): boolean {
  return ofPages.some((name) => headers[name] !== undefined);
}

const named = new WeakSet<NodeRequest>();

/** From now on, answers to this request name its origin in place of `*`. */
export function nameOrigin(request: NodeRequest): void {
  named.add(request);
}

/** @param exposed headers of the answer that pages may read, besides those of calls */
export function allowOrigin(request: NodeRequest, response: NodeResponse, exposed: readonly string[] = []): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  if (named.has(request)) {
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('vary', 'origin');
  } else response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', [...cors.exposedHeaders, ...exposed].join(', ').toLowerCase());
}

export function isPreflight(request: NodeRequest): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

/** Requested headers are echoed: public clients let their users add any. */
export function answerPreflight(request: NodeRequest, response: NodeResponse): void {
  allowOrigin(request, response);
  response.setHeader('access-control-allow-methods', 'POST, GET, OPTIONS');
  const asked = request.headers['access-control-request-headers'];
  if (asked !== undefined) response.setHeader('access-control-allow-headers', String(asked));
  response.setHeader('access-control-max-age', String(maxAgeSeconds));
  writeResponse(response, 204, {}, '');
}
