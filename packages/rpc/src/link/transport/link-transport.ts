/** The features that a link adds to gRPC: its token, headers, PlatformErrors, and a default deadline, which covers fetching the token. */

import type { DescMethod } from '@bufbuild/protobuf';
import { ConnectError, type Transport } from '@connectrpc/connect';
import {
  asPlatformError,
  PlatformError,
  resourceExhausted,
  systemClock,
  unavailable,
  unimplemented,
} from '@platform/base/portable';
import { fromConnectError } from '../../core/errors.ts';
import type { AccessToken } from '../access-token.ts';
import { AnswerTooLarge } from './answer-too-large.ts';
import type { HeaderInit } from './header-init.ts';

/** Returns the headers for a call of this method. @param signal ends the call */
export type HeadersOf = (
  method: DescMethod,
  signal: AbortSignal | undefined,
) => Promise<Readonly<Record<string, string>>>;

/** With names in lower case. A record, because `Headers` would be created three times for each call. */
type PlainHeaders = Readonly<Record<string, string>>;

export interface LinkTransportOptions {
  inner: Transport;
  /** Used in error messages. */
  baseUrl: string;
  /** Undefined: calls carry no authorization. */
  token: AccessToken | undefined;
  /** Deadline of unary and client-streaming calls that set none; 0: no deadline. Server streams have no default deadline. */
  timeoutMs: number;
  /** Ends calls that have no signal of their own. */
  signal: AbortSignal | undefined;
  /** Empty: that of the environment. */
  userAgent: string;
  /** Called after each call: whether the peer answered, or nobody did. */
  onReach?: ((isAnswered: boolean) => void) | undefined;
  /** Further headers of each call. Those of the call itself come first. */
  headersOf?: HeadersOf;
}

export class LinkTransport implements Transport {
  readonly #options: LinkTransportOptions;

  constructor(options: LinkTransportOptions) {
    this.#options = options;
  }

  withHeaders(headersOf: HeadersOf): LinkTransport {
    return new LinkTransport({ ...this.#options, headersOf });
  }

  /** Runs a request that is not a call with the headers of a call. Forgets a refused token, so that the next attempt fetches a new one. */
  async withToken<T>(signal: AbortSignal, run: (headers: Headers) => Promise<T>): Promise<T> {
    const token = await this.#token(signal, new Deadline(this.#options.timeoutMs));
    try {
      const answer = await run(new Headers(this.#headers({}, token)));
      this.#options.onReach?.(true);
      return answer;
    } catch (caught) {
      this.#failed(caught);
      if (token !== undefined && isUnauthenticated(caught)) await this.#options.token?.refuse(token);
      throw caught;
    }
  }

  readonly unary: Transport['unary'] = async (method, given, timeoutMs, header, input, contextValues) => {
    const signal = given ?? this.#options.signal;
    const { inner } = this.#options;
    const own = await this.#own(method, signal, header);
    const deadline = new Deadline(timeoutMs ?? this.#options.timeoutMs);
    return this.#twice(method, signal, deadline, own, async (headers) => {
      const answer = await inner.unary(method, signal, deadline.leftMs, headers, input, contextValues);
      this.#options.onReach?.(true);
      return answer;
    });
  };

  readonly stream: Transport['stream'] = async (method, given, timeoutMs, header, input, contextValues) => {
    const signal = given ?? this.#options.signal;
    const { inner } = this.#options;
    const own = await this.#own(method, signal, header);
    const deadline = new Deadline(
      timeoutMs ?? (method.methodKind === 'client_streaming' ? this.#options.timeoutMs : 0),
    );
    if (method.methodKind !== 'server_streaming') {
      // A sent stream cannot be repeated: a refused token is only forgotten, so that the next call fetches a new one.
      return this.#twice(method, signal, deadline, own, async (headers, token) => {
        const response = await inner.stream(method, signal, deadline.leftMs, headers, input, contextValues);
        return { ...response, message: this.#typed(method, response.message, token) };
      });
    }
    const request = await allOf(input);
    return this.#twice(method, signal, deadline, own, async (headers, token) => {
      const response = await inner.stream(method, signal, deadline.leftMs, headers, each(request), contextValues);
      // Only the first message shows whether the token was refused.
      const messages = response.message[Symbol.asyncIterator]();
      const first = await messages.next();
      return { ...response, message: this.#typed(method, resumed(first, messages), token) };
    });
  };

  /** Runs an attempt with the token. Runs it once more with a new token if the server refused the first and the request can be repeated. */
  async #twice<T>(
    method: DescMethod,
    signal: AbortSignal | undefined,
    deadline: Deadline,
    own: PlainHeaders,
    attempt: (headers: PlainHeaders, token: string | undefined) => Promise<T>,
  ): Promise<T> {
    const { token: source } = this.#options;
    try {
      const token = await this.#token(signal, deadline);
      try {
        return await attempt(this.#headers(own, token), token);
      } catch (caught) {
        if (token === undefined || !isUnauthenticated(caught)) throw caught;
        await source?.refuse(token);
        if (method.methodKind !== 'unary' && method.methodKind !== 'server_streaming') throw caught;
      }
      const fresh = await this.#token(signal, deadline);
      return await attempt(this.#headers(own, fresh), fresh);
    } catch (caught) {
      this.#failed(caught);
      throw this.#explain(caught, method);
    }
  }

  /** Waits for a sign-in no longer than the call may take; the sign-in itself continues, for the next call. */
  async #token(signal: AbortSignal | undefined, deadline: Deadline): Promise<string | undefined> {
    const { token: source, baseUrl } = this.#options;
    if (source === undefined || source.known !== undefined) return source?.known;
    const { limitMs, leftMs } = deadline;
    if (limitMs === 0) return source.get(signal);
    const late = Promise.withResolvers<never>();
    using _timer = systemClock.after(leftMs, () =>
      late.reject(
        new PlatformError('deadline_exceeded', `signing in to ${baseUrl} took longer than the call may: ${limitMs} ms`),
      ),
    );
    return await Promise.race([source.get(signal), late.promise]);
  }

  async #own(
    method: DescMethod,
    signal: AbortSignal | undefined,
    given: HeaderInit | undefined,
  ): Promise<PlainHeaders> {
    return { ...(await this.#options.headersOf?.(method, signal)), ...plain(given) };
  }

  #headers(given: PlainHeaders, token: string | undefined): PlainHeaders {
    return {
      ...given,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(this.#options.userAgent !== '' && { 'user-agent': this.#options.userAgent }),
    };
  }

  async *#typed<T>(method: DescMethod, messages: AsyncIterable<T>, token: string | undefined): AsyncGenerator<T, void> {
    let count = 0;
    let isFirst = true;
    try {
      for await (const message of messages) {
        if (isFirst) this.#options.onReach?.(true);
        isFirst = false;
        if (method.methodKind === 'client_streaming' && ++count > 1) throw notOne('found another');
        yield message;
      }
      if (method.methodKind === 'client_streaming' && count === 0) throw notOne('found none');
    } catch (caught) {
      this.#failed(caught);
      if (token !== undefined && isUnauthenticated(caught)) await this.#options.token?.refuse(token);
      throw this.#explain(caught, method);
    }
  }

  /** A peer that answers UNAVAILABLE can be reached, but another attempt would fail, too. */
  #failed(caught: unknown): void {
    const { onReach } = this.#options;
    if (onReach === undefined) return;
    const { code } = caught instanceof ConnectError ? fromConnectError(caught) : asPlatformError(caught);
    const isAnswer = caught instanceof ConnectError && caught.isWireError;
    if (code !== 'unavailable' && code !== 'deadline_exceeded') {
      if (isAnswer) onReach(true);
    } else if (!isAnswer) onReach(false);
  }

  #explain(caught: unknown, { name, parent }: DescMethod): unknown {
    if (!(caught instanceof ConnectError)) return caught;
    const error = fromConnectError(caught);
    if (caught.cause instanceof AnswerTooLarge) {
      const { maxBytes, foundBytes } = caught.cause;
      const found = foundBytes === undefined ? 'a larger one' : `one of ${foundBytes} bytes`;
      const text = `${parent.typeName}/${name}: expected a message of at most ${maxBytes} bytes (maxMessageBytes) from ${this.#options.baseUrl}, found ${found}: request less at once`;
      return resourceExhausted(text, error.cause);
    }
    if (error.message === '') {
      const how =
        error.code === 'deadline_exceeded'
          ? 'was not answered in time'
          : `was answered ${error.code.toUpperCase()} without a message`;
      return new PlatformError(error.code, `${parent.typeName}/${name} ${how}`, error.cause, {
        retryAfterMs: error.retryAfterMs,
      });
    }
    // A server's own answer already says what is wrong.
    if (caught.isWireError) return error;
    // Nobody has said so about the request: a file is set aside for INVALID_ARGUMENT.
    if (error.code === 'invalid_argument' || error.code === 'unknown') {
      const text = `${parent.typeName}/${name}: expected an answer of gRPC from ${this.#options.baseUrl}, found another: ${error.message}`;
      return new PlatformError('internal', text, error.cause);
    }
    if (error.code !== 'unavailable') return error;
    return unavailable(
      `${this.#options.baseUrl} cannot be reached, or the connection broke: ${error.message}`,
      error.cause,
    );
  }
}

function plain(given: HeaderInit | undefined): PlainHeaders {
  return given === undefined ? {} : Object.fromEntries(new Headers(given));
}

/** With the code that gRPC has for it. Connect would throw it past this transport. */
function notOne(found: string): PlatformError {
  return unimplemented(`expected one message as the answer, ${found}`);
}

/** When a call must have ended. */
class Deadline {
  /** 0: no limit. */
  readonly limitMs: number;
  readonly #startMs = systemClock.monotonic();

  constructor(limitMs: number) {
    this.limitMs = Math.max(0, limitMs);
  }

  /** Whole ms left, at least 1; 0 without a limit. */
  get leftMs(): number {
    if (this.limitMs === 0) return 0;
    return Math.max(1, Math.ceil(this.limitMs - (systemClock.monotonic() - this.#startMs)));
  }
}

function isUnauthenticated(caught: unknown): boolean {
  if (caught instanceof ConnectError) return fromConnectError(caught).code === 'unauthenticated';
  return caught instanceof PlatformError && caught.code === 'unauthenticated';
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void> {
  yield* items;
}

async function* resumed<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T, void> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}
