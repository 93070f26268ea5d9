/** Sends each request to its codec: preflight, RPC, REST, unknown method, and everything else to the application. */

import { createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node';
import { type Clock, errorText, type Log } from '@platform/base';
import type { Codecs } from '../codecs/codecs.ts';
import { allowOrigin, answerPreflight, canBeOfPage, isPreflight, nameOrigin, type PageRule } from '../codecs/cors.ts';
import type { FindForwarded } from '../codecs/forward-call.ts';
import { withReadableStatus } from '../codecs/grpc-message.ts';
import { requestContextKey } from '../codecs/request-context.ts';
import { answerRest } from '../codecs/rest.ts';
import { matchRest } from '../codecs/rest-routes.ts';
import { answerUnknownMethod, looksLikeCall } from '../codecs/unknown-method.ts';
import { takesEncoded } from '../core/binding.ts';
import type { AnswerListener } from '../core/call.ts';
import { checksumHeader, checksumKind } from '../core/message-checksums.ts';
import { canonicalPath } from '../edge/alias.ts';
import { type Vocabulary, vocabularyAsked } from '../edge/api-names.ts';
import { checkMessages, compressionOf } from './check-messages.ts';
import { clientAddress } from './connections/client-address.ts';
import type { EnterRequest } from './enter-request.ts';
import { nameHost } from './name-host.ts';
import type { NodeListener, NodeRequest, NodeResponse } from './node-types.ts';
import { onAnswered } from './on-answered.ts';
import { readBody } from './read-body.ts';
import { endUnreadBody } from './unread-bodies.ts';
import { wrapMessages } from './wrap-messages.ts';
import { writeResponse } from './write-response.ts';

export interface RouteOptions {
  codecs: Codecs;
  /** Undefined: no call is forwarded. */
  findForwarded?: FindForwarded | undefined;
  fallback: NodeListener;
  enter?: EnterRequest | undefined;
  /** Default: pages of every origin may call. */
  pageRule?: PageRule | undefined;
  /** A body that stalls or trickles is ended within twice this time. */
  slowBodyMs: number;
  clock: Clock;
  log: Log;
}

export function createRouter(options: RouteOptions): NodeListener {
  const { codecs, findForwarded, fallback, enter, pageRule, slowBodyMs, clock, log } = options;
  const answer = (
    request: NodeRequest,
    response: NodeResponse,
    path: string,
    vocabulary: Vocabulary,
    method: UniversalHandler,
    isJson: boolean,
    run: (request: UniversalServerRequest) => Promise<UniversalServerResponse>,
  ): void => {
    allowOrigin(request, response);
    const incoming = universalRequest(request, response, path, vocabulary);
    if (incoming === undefined) {
      const text = 'expected a Host header and a valid path\n';
      writeResponse(response, 400, { 'content-type': 'text/plain; charset=utf-8' }, text);
      return;
    }
    const one = method.method.methodKind === 'unary' || method.method.methodKind === 'server_streaming';
    // A REST route is called as its method, and has its limits.
    const called = `/${method.service.typeName}/${method.method.name}`;
    const requestLimits = codecs.limits(called);
    const { maxRequestBytes: maxMessageBytes } = requestLimits;
    const splitAt = request.headers[checksumHeader] === undefined ? codecs.splitAt(called) : undefined;
    const quiet = method.method.methodKind === 'bidi_streaming';
    const limits = { path, maxMessageBytes, splitAt, one, quiet, slowBodyMs, clock };
    // An HTTP/2 response emits `finish` only when its stream is closed, so the stream is watched.
    const answered = 'stream' in response ? response.stream : response;
    answered.once('finish', () => endUnreadBody(request, slowBodyMs, clock));
    // Only the body's reader checks the length, and it decompresses.
    incoming.header.delete('content-length');
    fitTimeLimits(incoming.header);
    if (compressionOf(request.headers) !== undefined) incoming.header.delete('content-encoding');
    const isEncoded = takesEncoded(method.method);
    // Its codec decodes no elements.
    const checkedLimits = isEncoded ? { ...requestLimits, maxElements: Number.POSITIVE_INFINITY } : requestLimits;
    const isSummed = !isJson && request.headers[checksumHeader] === checksumKind;
    if (isSummed) dropDamagedTimeLimit(incoming.header);
    const checks = { path, type: method.method.input, maxMessageBytes, limits: checkedLimits, isJson, isSummed };
    const body = checkMessages(readBody(request, response, limits), request.headers, checks);
    run({ ...incoming, body: isEncoded ? wrapMessages(body, request.headers) : body })
      .then((answered) => universalResponseToNodeResponse(withReadableStatus(answered), response))
      .catch((caught: unknown) => log.debug('a response could not be delivered', { path, error: errorText(caught) }));
  };

  const route: NodeListener = (request, response) => {
    const verdict = canBeOfPage(request.method, request.headers) ? (pageRule?.(request.headers) ?? 'any') : 'any';
    if (typeof verdict === 'object') {
      endUnreadBody(request, 2 * slowBodyMs, clock);
      writeResponse(response, 403, { 'content-type': 'text/plain; charset=utf-8' }, `${verdict.refused}\n`);
      return;
    }
    if (verdict === 'own') nameOrigin(request);
    const [asked = ''] = (request.url ?? '').split('?', 1);
    const { path, vocabulary: ofPath } = canonicalPath(asked);
    const vocabulary = vocabularyAsked(request.headers) ?? ofPath;
    const verb = request.method ?? '';
    const contentType = request.headers['content-type'] ?? '';
    const handler = findForwarded?.(path, request.headers) ?? codecs.find(path, contentType);
    const preflight = isPreflight(request);
    if (handler !== undefined && !preflight)
      return answer(request, response, path, vocabulary, handler, contentType.includes('json'), handler);
    const match = matchRest(path);
    const restHandler = match === undefined ? undefined : codecs.find(match.route.method, 'json');
    if (match !== undefined && restHandler !== undefined && !preflight) {
      return answer(request, response, path, vocabulary, restHandler, true, (incoming) =>
        answerRest(restHandler, match, incoming, codecs.limits(match.route.method).maxRequestBytes),
      );
    }
    endUnreadBody(request, 2 * slowBodyMs, clock);
    const isCall = handler !== undefined || restHandler !== undefined || looksLikeCall(path, verb, contentType);
    if (!isCall) return fallback(request, response);
    if (preflight) return answerPreflight(request, response);
    allowOrigin(request, response);
    answerUnknownMethod(request, response, { path, asked }, codecs.hasService);
  };
  if (enter === undefined) return route;
  return (request, response) => {
    const { path } = canonicalPath((request.url ?? '').split('?', 1)[0] ?? '');
    enter({ path, peerAddress: clientAddress(request) }, () => route(request, response));
  };
}

function universalRequest(
  request: NodeRequest,
  response: NodeResponse,
  path: string,
  vocabulary: Vocabulary,
): UniversalServerRequest | undefined {
  const context = {
    peerAddress: clientAddress(request),
    vocabulary,
    sendHeaders: (headers: Headers) => sendHeaders(response, headers),
    onAnswered: (listener: AnswerListener) => onAnswered('stream' in response ? response.stream : response, listener),
  };
  try {
    const incoming = universalRequestFromNodeRequest(
      request,
      response,
      undefined,
      createContextValues().set(requestContextKey, context),
    );
    const url = new URL(incoming.url);
    url.pathname = path;
    nameHost(incoming.header, request.headers);
    return { ...incoming, url: url.toString() };
  } catch {
    return undefined;
  }
}

/** The longest time limit that Node's timers can hold, 24 days. Longer ones would fire at once. */
const mostMs = 2 ** 31 - 1;
const mostSeconds = Math.floor(mostMs / 1_000);
const unitSeconds: Readonly<Record<string, number>> = { H: 3_600, M: 60, S: 1 };

/** Shortens the time limit of a call, which clients without one may set to years, to what a timer can hold. */
function fitTimeLimits(headers: Headers): void {
  const [, digits, unit = ''] = /^(\d{1,8})([HMS])$/.exec(headers.get('grpc-timeout') ?? '') ?? [];
  if (Number(digits ?? 0) * (unitSeconds[unit] ?? 0) > mostSeconds) headers.set('grpc-timeout', `${mostSeconds}S`);
  const connect = headers.get('connect-timeout-ms') ?? '';
  if (/^\d{1,10}$/.test(connect) && Number(connect) > mostMs) headers.set('connect-timeout-ms', String(mostMs));
}

/** A call whose messages have checksums gives a valid limit, so another was damaged on the way. It is no fault of the request. */
function dropDamagedTimeLimit(headers: Headers): void {
  if (!/^\d{1,8}[HMSmun]$/.test(headers.get('grpc-timeout') ?? '1S')) headers.delete('grpc-timeout');
}

/** Has no effect if they are already sent or the client is gone. Whoever writes the response later may set them again. */
function sendHeaders(response: NodeResponse, headers: Headers): void {
  if (response.headersSent || response.destroyed) return;
  const fields = Object.fromEntries(headers);
  if ('stream' in response) {
    const { stream } = response;
    if (stream.destroyed || stream.closed) return;
    response.writeHead(200, fields);
    // Node has it; its types do not.
    (response as typeof response & { flushHeaders(): void }).flushHeaders();
    response.writeHead = () => response;
  } else {
    response.writeHead(200, fields);
    response.flushHeaders();
    response.writeHead = () => response;
  }
}
