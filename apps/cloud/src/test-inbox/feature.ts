/**
 * The built-in test inbox for webhooks: a target on this server that shows what webhooks look like, without the internet.
 *
 * `GET|POST /test-inbox/webhooks/<name>` keeps the request in memory (the last 1,000, at most 16 MiB) and answers 200; anyone may post, and
 * nothing is executed. `GET /test-inbox/requests?after=<id>` returns the requests after that id that the reader may see.
 */
import { asPlatformError, type Clock } from '@platform/base';
import { type HttpRequest, type Route, writeHead } from '../wire/route.ts';
import { readBody } from './read-body.ts';

export interface StoredRequest {
  /** 1, 2, … since the start of the process. A mail is a request of the method MAIL. */
  readonly id: number;
  /** Wall clock in ms with fractions, when the head of the request arrived. */
  readonly receivedAt: number;
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  /** Names in lower case; multiple values are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface TestInboxDeps {
  readonly clock: Clock;
  /** Which of the kept requests the sender of this request may read; undefined: none. */
  readonly readerOf: (request: HttpRequest) => Promise<((kept: StoredRequest) => boolean) | undefined>;
  /** Requests kept. Default 1,000. */
  readonly maxRequests?: number;
  /** Larger bodies are refused with 413. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Limit for all kept requests together, in characters. Beyond it the oldest are dropped, because anyone may post. Default 16 Mi. */
  readonly maxKeptLength?: number;
}

/** A mail for which no server is configured. */
export interface InboxMail {
  readonly organizationId: string;
  readonly to: string;
  readonly messageId: string;
  readonly mail: {
    readonly subject: string;
    readonly text: string;
    readonly html?: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
}

/** A push notification for which no credentials are configured. */
export interface InboxPush {
  readonly organizationId: string;
  /** The address of the person. */
  readonly to: string;
  readonly messageId: string;
  readonly message: unknown;
}

export interface TestInbox {
  /** Handles requests below /test-inbox/. */
  readonly handle: Route;
  /** Keeps a mail of an organization as a request of the method MAIL: its headers, and as body JSON of `{text, html}`. */
  keepMail(mail: InboxMail): void;
  /** Keeps a push notification of an organization as a request of the method PUSH, with the provider's message as its body. */
  keepPush(push: InboxPush): void;
  /** Kept requests with an id above `after`, in order. */
  requests(after: number): readonly StoredRequest[];
  onRequest(listener: (request: StoredRequest) => void): Disposable;
}

export function createTestInbox(deps: TestInboxDeps): TestInbox {
  const { clock, readerOf, maxRequests = 1_000, maxBodyBytes = 1024 * 1024 } = deps;
  const { maxKeptLength = 16 * 1024 * 1024 } = deps;
  const preciseNow = createPreciseNow(clock);
  const listeners = new Set<(request: StoredRequest) => void>();
  let kept: StoredRequest[] = [];
  let keptLength = 0;
  let lastId = 0;

  const requests = (after: number): readonly StoredRequest[] => kept.filter(({ id }) => id > after);

  const keep = (caught: Omit<StoredRequest, 'id'>): StoredRequest => {
    const request = { id: ++lastId, ...caught };
    kept.push(request);
    keptLength += lengthOf(request);
    let dropped = 0;
    while (keptLength > maxKeptLength && dropped < kept.length) {
      const oldest = kept[dropped++];
      if (oldest !== undefined) keptLength -= lengthOf(oldest);
    }
    if (dropped > 0) kept = kept.slice(dropped);
    // Let the list grow to twice its limit, so that it is copied only once per thousand requests.
    if (kept.length >= 2 * maxRequests) {
      kept = kept.slice(-maxRequests);
      keptLength = kept.reduce((length, one) => length + lengthOf(one), 0);
    }
    for (const listener of listeners) listener(request);
    return request;
  };

  const answer = async (request: HttpRequest, url: URL, receivedAt: number): Promise<Answer> => {
    const method = request.method ?? 'GET';
    const route = url.pathname.slice(url.pathname.indexOf('/', 1));
    if (/^\/webhooks\/[^/]+$/.test(route)) {
      if (method !== 'GET' && method !== 'POST') return refusal(405, `expected GET or POST, found ${method}`);
      const body = await readBody(request, maxBodyBytes);
      const path = url.pathname + url.search;
      const { id } = keep({ receivedAt, method, path, headers: headersAsSent(request), body });
      return { status: 200, json: { caught: id } };
    }
    if (route === '/requests') {
      if (method !== 'GET') return refusal(405, `expected GET, found ${method}`);
      const sees = await readerOf(request);
      if (sees === undefined) return refusal(401, 'expected the access token of a key, or a signed-in session');
      const after = Number(url.searchParams.get('after') ?? 0);
      if (!Number.isSafeInteger(after)) return refusal(400, 'expected a whole number in after, the id of a request');
      return { status: 200, json: { requests: requests(after).filter(sees).slice(-maxRequests) } };
    }
    return refusal(404, 'expected /test-inbox/webhooks/<name> or /test-inbox/requests');
  };

  return {
    async handle(request, response, url) {
      if (!url.pathname.startsWith('/test-inbox/')) return false;
      const { status, json } = await answer(request, url, preciseNow()).catch(refusalFor);
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      writeHead(response, status, headers).end(JSON.stringify(json));
      return true;
    },
    keepMail({ organizationId, to, messageId, mail: { subject, text, html, headers } }) {
      keep({
        receivedAt: preciseNow(),
        method: 'MAIL',
        path: `/test-inbox/mail/${encodeURIComponent(to)}`,
        headers: { 'Org-Id': organizationId, To: to, Subject: subject, 'Message-ID': messageId, ...headers },
        body: JSON.stringify({ text, html }),
      });
    },
    keepPush({ organizationId, to, messageId, message }) {
      keep({
        receivedAt: preciseNow(),
        method: 'PUSH',
        path: `/test-inbox/push/${encodeURIComponent(to)}`,
        headers: { 'Org-Id': organizationId, To: to, 'Message-ID': messageId },
        body: JSON.stringify(message),
      });
    },
    requests: (after) => requests(after).slice(-maxRequests),
    onRequest(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

function lengthOf({ path, headers, body }: Omit<StoredRequest, 'id'>): number {
  const ofHeaders = Object.entries(headers).reduce((length, [name, value]) => length + name.length + value.length, 0);
  return path.length + ofHeaders + body.length;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

function refusal(status: number, error: string): Answer {
  return { status, json: { error } };
}

function refusalFor(caught: unknown): Answer {
  const error = asPlatformError(caught);
  return refusal(error.code === 'resource_exhausted' ? 413 : 500, error.isOwnFault ? 'internal error' : error.message);
}

/** Header names as the sender wrote them (HTTP/2 has lower case only); the values of a repeated header are joined. */
function headersAsSent({ rawHeaders }: HttpRequest): Record<string, string> {
  const headers = new Map<string, [name: string, value: string]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    // HTTP/2 passes the request line as headers whose names begin with a colon.
    if (name.startsWith(':')) continue;
    const known = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), known ? [known[0], `${known[1]}, ${value}`] : [name, value]);
  }
  return Object.fromEntries(headers.values());
}

/** Wall clock in ms with fractions: the monotonic clock, re-anchored to the wall clock whenever the two drift apart. */
function createPreciseNow(clock: Clock): () => number {
  let anchorMs = clock.now() - clock.monotonic();
  return () => {
    const wallMs = clock.now();
    const preciseMs = anchorMs + clock.monotonic();
    // The wall clock counts whole ms: the clocks agree if the precise time is less than 1 ms above it.
    if (preciseMs >= wallMs && preciseMs < wallMs + 1) return preciseMs;
    anchorMs += preciseMs < wallMs ? wallMs - preciseMs : wallMs + 0.999 - preciseMs;
    return anchorMs + clock.monotonic();
  };
}
