/** One HTTP request to a cloud, over TLS with the authority that the link trusts (`fetch` has no option for that). */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type RequestOptions as HttpsOptions, request as httpsRequest } from 'node:https';
import { unavailable } from '@platform/base';
import { checkServerIdentity, isLoopback, loopbackLookup } from '@platform/rpc/client';

export interface HttpRequest {
  readonly url: URL;
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** The parsed body if it is JSON, otherwise its text. */
  readonly body: unknown;
}

/** Returns redirects as answers. @throws unavailable if there is no answer, the reason of `signal` when it aborts. */
export async function sendHttp(request: HttpRequest): Promise<HttpAnswer> {
  return readAnswer(await openHttp(request), request);
}

/** The complete answer. @throws as sendHttp does. */
export async function readAnswer(response: IncomingMessage, request: HttpRequest): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bodyChunks(response, request)) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return { status: response.statusCode ?? 0, body: bodyOf(text, response.headers['content-type']) };
}

/** Returns the answer before its body arrives. @throws as sendHttp does. */
export function openHttp(request: HttpRequest): Promise<IncomingMessage> {
  const { url, method = 'GET', headers = {}, body, ca, signal } = request;
  const options: HttpsOptions = { method, headers, signal, ca, checkServerIdentity };
  // A header may contain a key or session.
  if (url.protocol === 'http:' && isLoopback(url.hostname)) options.lookup = loopbackLookup;
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
    open(url, options, resolve)
      .on('error', (caught) => reject(brokenOff(request, caught)))
      .end(body);
  });
}

/** The body of an answer. @throws as sendHttp does. */
export async function* bodyChunks(response: IncomingMessage, request: HttpRequest): AsyncGenerator<Buffer> {
  try {
    yield* response;
  } catch (caught) {
    throw brokenOff(request, caught as Error);
  }
}

function brokenOff({ url, signal }: HttpRequest, caught: Error): unknown {
  if (signal.aborted) return signal.reason;
  return unavailable(`${url.origin} cannot be reached, or the connection broke: ${reasonOf(caught)}`, caught);
}

/** An error for several failed addresses has no message of its own. */
function reasonOf(caught: Error): string {
  if (caught instanceof AggregateError) return caught.errors.map(String).join(' and ');
  return caught.message;
}

function bodyOf(text: string, contentType: string | undefined): unknown {
  if (!contentType?.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
