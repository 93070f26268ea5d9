/**
 * Makes one HTTP request and returns its outcome; throws only when its caller's signal is aborted. Redirects are not followed, proxies from
 * the environment are not used, and answers are not decompressed and are read to 64 KiB at most.
 */
import http from 'node:http';
import https from 'node:https';
import { createSecureContext, getCACertificates } from 'node:tls';
import { type Clock, errorText, PlatformError } from '@platform/base';
import type { SendResult } from '../channel.ts';
import { outcomeOf, retryAfterMs } from './classify.ts';
import { checkTarget, type Target, type TargetPolicy } from './target-guard.ts';
import type { WebhookRequest } from './webhook-request.ts';

export interface OutgoingRequest extends Pick<WebhookRequest, 'method' | 'headers' | 'body'> {
  readonly url: string;
  /** Whose webhook it is. */
  readonly organizationId: string;
}

export interface WebhookSenderDeps {
  readonly policy: TargetPolicy;
  readonly clock: Clock;
  /** Limit for the whole request: name, connection, TLS, answer and its body. Default 15,000 ms. */
  readonly timeoutMs?: number;
  /**
   * PEM of the certificate authority for our own address, if the system's authorities do not cover it. It is not trusted for other
   * addresses.
   */
  readonly ownAuthority: () => string | undefined;
}

export interface WebhookSender extends Disposable {
  send(request: OutgoingRequest, signal: AbortSignal): Promise<SendResult>;
}

const maxReadBytes = 64 * 1024;
const maxKeptBytes = 4 * 1024;

export function createWebhookSender(deps: WebhookSenderDeps): WebhookSender {
  const { policy, clock, timeoutMs = 15_000, ownAuthority } = deps;
  const agents = {
    'http:': new http.Agent({ keepAlive: true, scheduling: 'lifo' }),
    'https:': new https.Agent({ keepAlive: true, scheduling: 'lifo' }),
  };
  let ownAgent: https.Agent | undefined;
  const agentOf = ({ url, own }: Target): http.Agent => {
    if (url.protocol !== 'https:') return agents['http:'];
    const authority = own ? ownAuthority() : undefined;
    if (authority === undefined) return agents['https:'];
    ownAgent ??= agentTrusting(authority);
    return ownAgent;
  };

  const send = async (request: OutgoingRequest, signal: AbortSignal): Promise<SendResult> => {
    const late = new AbortController();
    using _timer = clock.after(timeoutMs, () =>
      late.abort(new PlatformError('deadline_exceeded', `no complete answer within ${timeoutMs / 1_000} s`)),
    );
    try {
      const target = checkTarget(request.url, policy, request.organizationId);
      return await exchange(request, target, agentOf(target), AbortSignal.any([signal, late.signal]), clock);
    } catch (caught) {
      signal.throwIfAborted();
      return failure(late.signal.aborted ? late.signal.reason : caught);
    }
  };

  return {
    send,
    [Symbol.dispose]() {
      agents['http:'].destroy();
      agents['https:'].destroy();
      ownAgent?.destroy();
    },
  };
}

/** Trusts `authority` (PEM) and the system's authorities. Its connections are separate: no other URL is requested over them. */
function agentTrusting(authority: string): https.Agent {
  const secureContext = createSecureContext({ ca: [...getCACertificates('default'), authority] });
  return new https.Agent({ keepAlive: true, scheduling: 'lifo', secureContext });
}

/** Our own refusals are final; network errors may be temporary. */
function failure(caught: unknown): SendResult {
  const ours =
    caught instanceof PlatformError && (caught.code === 'permission_denied' || caught.code === 'invalid_argument');
  const text = errorText(caught) || (caught instanceof AggregateError ? caught.errors.map(errorText).join('; ') : '');
  return { outcome: ours ? 'rejected' : 'retryLater', error: text || 'the connection failed' };
}

class StaleSocket extends Error {}

async function exchange(
  request: OutgoingRequest,
  target: Target,
  agent: http.Agent,
  signal: AbortSignal,
  clock: Clock,
): Promise<SendResult> {
  try {
    return await exchangeOnce(request, target, agent, signal, clock);
  } catch (caught) {
    // The target closed an idle connection just as it was reused. This is not an error: connect again at once.
    if (caught instanceof StaleSocket) return exchangeOnce(request, target, false, signal, clock);
    throw caught;
  }
}

function exchangeOnce(
  request: OutgoingRequest,
  target: Target,
  agent: http.Agent | false,
  signal: AbortSignal,
  clock: Clock,
): Promise<SendResult> {
  return new Promise((resolve, reject) => {
    const { url, lookup } = target;
    const begin = url.protocol === 'https:' ? https.request : http.request;
    const outgoing = begin(url, { method: request.method, headers: request.headers, agent, signal, lookup });
    let answered = false;
    outgoing.on('socket', (socket) => {
      const check = (): void => {
        try {
          target.checkSocket(socket.remoteAddress);
        } catch (caught) {
          outgoing.destroy(caught instanceof Error ? caught : new Error(String(caught)));
        }
      };
      if (socket.connecting) socket.once('connect', check);
      else check();
    });
    outgoing.on('response', (response) => {
      answered = true;
      readAnswer(response, clock).then(resolve, reject);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const stale = !answered && outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(stale ? new StaleSocket() : error);
    });
    outgoing.end(request.body === '' ? undefined : request.body);
  });
}

async function readAnswer(response: http.IncomingMessage, clock: Clock): Promise<SendResult> {
  const code = response.statusCode ?? 0;
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    readBytes += chunk.length;
    if (keptBytes < maxKeptBytes) {
      const part = chunk.subarray(0, maxKeptBytes - keptBytes);
      kept.push(part);
      keptBytes += part.length;
    }
    // Leaving the loop destroys the socket.
    if (readBytes >= maxReadBytes) break;
  }
  const outcome = outcomeOf(code);
  const answer = { code, response: Buffer.concat(kept).toString('utf8') };
  if (outcome === 'accepted') return { outcome, ...answer };
  if (outcome === 'rejected') {
    const error = `received unretryable status code: ${code} in webhook response`;
    return { outcome, ...answer, error, isTargetGone: code === 410 };
  }
  const askedMs = retryAfterMs(response.headers['retry-after'], clock.now());
  const error = `received retryable status code: ${code} in webhook response`;
  return { outcome, ...answer, error, ...(askedMs !== undefined && { retryAfterMs: askedMs }) };
}
