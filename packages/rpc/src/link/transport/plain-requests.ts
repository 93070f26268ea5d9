/**
 * Sends long bodies to routes of plain HTTP, over separate connections. As gRPC messages, they would be copied several times, split into
 * frames of 16 KiB, and fill the window of the connection that all calls share.
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { asPlatformError, type CodeName, codes, PlatformError, unavailable, unimplemented } from '@platform/base';
import { checkServerIdentity } from '../../core/certificate-names.ts';
import { redirectText } from './redirect.ts';

export interface PlainBody {
  /** Path and query, relative to the address of the link. */
  readonly path: string;
  readonly bytes: number;
  /**
   * Passes the body to `send`, in order. Each call resolves when its bytes have been passed on and may change. Throws to abandon the
   * request.
   */
  readonly write: (send: (bytes: Uint8Array) => Promise<void>) => Promise<void>;
}

export interface PutOptions {
  readonly signal: AbortSignal;
  /** A connection without traffic for this long is closed. */
  readonly quietMs: number;
}

/** Our servers never send a longer answer. */
const maxAnswerBytes = 64 * 1024;

export interface PlainRequestsOptions {
  /** PEM certificates to trust instead of the system's. */
  readonly ca: string | undefined;
  /** A Unix socket in place of host and port. */
  readonly socketPath: string | undefined;
  /** Finds the addresses of the host. Default: the system's. */
  readonly lookup: LookupFunction | undefined;
}

export class PlainRequests implements Disposable {
  readonly #origin: string;
  readonly #agent: HttpAgent;
  readonly #request: typeof httpRequest;

  /** @param origin `http://…` or `https://…` */
  constructor(origin: string, { ca, socketPath, lookup }: PlainRequestsOptions) {
    const isTls = origin.startsWith('https:');
    const options = {
      keepAlive: true,
      ...(ca !== undefined && { ca }),
      ...(socketPath !== undefined && { socketPath }),
      ...(lookup && { lookup }),
    };
    this.#origin = origin;
    this.#agent = isTls ? new HttpsAgent({ ...options, checkServerIdentity }) : new HttpAgent(options);
    this.#request = isTls ? httpsRequest : httpRequest;
  }

  /**
   * Sends a `PUT`, and returns its answer, parsed from JSON.
   *
   * @throws the server's error; unimplemented if the answer is not from our server; unavailable if it cannot be reached
   */
  async put({ path, bytes, write }: PlainBody, headers: Headers, { signal, quietMs }: PutOptions): Promise<unknown> {
    const request = this.#request(`${this.#origin}${path}`, {
      ...{ method: 'PUT', agent: this.#agent, signal, timeout: quietMs },
      headers: {
        ...Object.fromEntries(headers),
        ...{ 'content-type': 'application/octet-stream', 'content-length': bytes },
      },
    });
    request.once('timeout', () =>
      request.destroy(
        new PlatformError('deadline_exceeded', `nothing moved for ${quietMs} ms in an upload to ${this.#origin}`),
      ),
    );
    const answered = answerOf(request);
    const writing = write((piece) => sendPiece(request, piece)).then(() => void request.end());
    // The promise of the answer reports how the request ends.
    writing.catch((caught: unknown) => request.destroy(asPlatformError(caught)));
    try {
      return await answered;
    } catch (caught) {
      if (signal.aborted) throw asPlatformError(signal.reason);
      throw caught instanceof PlatformError ? caught : unreachable(this.#origin, caught);
    } finally {
      // The answer may come before the end of the body; the rest is then not sent.
      if (!request.writableFinished) request.destroy();
      await writing.catch(() => {});
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

function sendPiece(request: ClientRequest, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(new PlatformError('canceled', 'the request has ended'));
    // A destroyed request may never call back.
    const onClose = (): void => reject(new PlatformError('canceled', 'the request has ended'));
    request.once('close', onClose);
    request.write(piece, (caught) => {
      request.off('close', onClose);
      if (caught) reject(caught);
      else resolve();
    });
  });
}

async function answerOf(request: ClientRequest): Promise<unknown> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', reject);
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxAnswerBytes) break;
    chunks.push(chunk as Buffer);
  }
  const answer = parsed(Buffer.concat(chunks).toString('utf8'));
  const { statusCode = 0, headers } = response;
  if (statusCode === 200 && answer !== undefined) return answer;
  const code = codeOf(answer?.['code']);
  if (code !== undefined) {
    const seconds = Number(headers['retry-after'] ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
    throw new PlatformError(code, String(answer?.['message'] ?? ''), undefined, { isOwnFault: false, retryAfterMs });
  }
  const asked = `an answer of the cloud to PUT ${request.path.split('?', 1)[0]}`;
  if (statusCode >= 300 && statusCode < 400)
    throw unimplemented(`expected ${asked}, found a server that ${redirectText(statusCode, headers.location)}`);
  throw new PlatformError(
    statusCode >= 500 && statusCode !== 501 ? 'unavailable' : 'unimplemented',
    `expected ${asked}, found status ${statusCode} from something else`,
  );
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(value: unknown): CodeName | undefined {
  return typeof value === 'string' && Object.hasOwn(codes, value) ? (value as CodeName) : undefined;
}

function unreachable(origin: string, caught: unknown): PlatformError {
  const text = caught instanceof Error ? caught.message : String(caught);
  return unavailable(`${origin} cannot be reached, or the connection broke: ${text}`, caught);
}
