/**
 * Cross-origin calls from browsers. Any origin may call, because only the bearer token authorizes such a call, never anything that a
 * browser attaches on its own. So `authenticate` must not accept cookies from other origins, and no answer to one allows them.
 */
import { cors } from '@connectrpc/connect';
import type { NodeRequest, NodeResponse } from '../listener/node-types.ts';
import { writeResponse } from '../listener/write-response.ts';

/** How long a browser may cache a preflight; two hours is the most that browsers honour. */
const maxAgeSeconds = 7200;

/** @param exposed headers of the answer that pages may read, besides those of calls */
export function allowOrigin(request: NodeRequest, response: NodeResponse, exposed: readonly string[] = []): void {
  if (request.headers.origin === undefined) return;
  response.setHeader('access-control-allow-origin', '*');
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
