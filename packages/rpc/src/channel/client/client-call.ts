/** One call on the side of the client. */
import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '@platform/base/clock';
import type { Response } from '@platform/proto/proto/rpc/webrtc/v1/grpc';
import { Assembler } from '../assembler.ts';
import { headersIn, maxMessageBytes } from '../frames.ts';

/** Answers that nobody has read yet. The other end cannot be slowed down. */
const maxWaitingBytes: number = 2 * maxMessageBytes;

/** Made once: an error with its stack costs more than the rest of a short call. */
const callOver = new ConnectError('the call has ended', Code.Canceled);

export class ClientCall {
  readonly id: bigint;
  readonly method: string;
  /** The headers of the answer; rejects if the call fails before. */
  readonly headers: Promise<Headers>;
  /** Filled when the call has ended. */
  readonly trailers: Headers = new Headers();
  readonly #onEnd: (isAbandoned: boolean) => void;
  readonly #assembler = new Assembler();
  readonly #messages: Uint8Array[] = [];
  readonly #head = Promise.withResolvers<Headers>();
  #waitingBytes = 0;
  #hasHead = false;
  #end: { readonly error: ConnectError | undefined } | undefined;
  #wake = (): void => {};
  #reject: ((reason: unknown) => void) | undefined;
  #release = (): void => {};

  /** @param onEnd called once; abandoned: the other end does not know yet */
  constructor(id: bigint, method: string, onEnd: (isAbandoned: boolean) => void) {
    this.id = id;
    this.method = method;
    this.#onEnd = onEnd;
    this.headers = this.#head.promise;
    // Not every caller waits for them.
    this.headers.catch(() => {});
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Also ends the call with the signal, or when its time is over. */
  endWith(signal: AbortSignal | undefined, timeoutMs: number | undefined, clock: Pick<Clock, 'after'>): void {
    const onAbort = (): void => void this.abandon(ConnectError.from(signal?.reason, Code.Canceled));
    const timer =
      timeoutMs === undefined || timeoutMs <= 0
        ? undefined
        : clock.after(timeoutMs, () =>
            this.abandon(new ConnectError('the operation timed out', Code.DeadlineExceeded)),
          );
    this.#release = () => {
      timer?.[Symbol.dispose]();
      signal?.removeEventListener('abort', onAbort);
    };
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  }

  receive(type: Response['type']): void {
    if (this.#end !== undefined) return;
    try {
      if (type.case === 'headers') {
        this.#hasHead = true;
        this.#head.resolve(headersIn(type.value.metadata));
      } else if (type.case === 'message' && type.value.packetMessage !== undefined) {
        const { packetMessage } = type.value;
        if (this.#assembler.bytes + packetMessage.data.length > maxMessageBytes)
          throw new ConnectError(
            `${this.method}: expected an answer of at most ${maxMessageBytes} bytes, found more`,
            Code.ResourceExhausted,
          );
        const message = this.#assembler.add(packetMessage);
        if (message === undefined) return;
        this.#waitingBytes += message.length;
        if (this.#waitingBytes > maxWaitingBytes)
          throw new ConnectError(
            `${this.method}: the answers arrive faster than they are read`,
            Code.ResourceExhausted,
          );
        this.#messages.push(message);
        this.#wake();
      } else if (type.case === 'trailers') {
        const { status, metadata } = type.value;
        headersIn(metadata).forEach((value, name) => void this.trailers.append(name, value));
        const code = status?.code ?? Code.Unknown;
        this.#finish(code === 0 ? undefined : this.#error(code, status?.message ?? ''), false);
      }
    } catch (caught) {
      this.abandon(caught);
    }
  }

  /** The next message of the answer. @throws the error of the call, after all messages before it */
  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#messages.length === 0 && this.#end === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const message = this.#messages.shift();
    if (message !== undefined) {
      this.#waitingBytes -= message.length;
      return { done: false, value: message };
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    return { done: true, value: undefined };
  }

  /** The promise's outcome, or the error of the call. At most one wait at a time. */
  orEnded<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end.error ?? callOver);
      this.#reject = reject;
      promise.then(resolve, reject);
    });
  }

  /** Ends the call on this side, unless it has ended. @returns the error with which it ended */
  abandon(caught: unknown): ConnectError {
    const error = ConnectError.from(caught);
    this.#finish(error, true);
    return this.#end?.error ?? error;
  }

  /** The connection has ended. */
  fail(error: ConnectError): void {
    this.#finish(error, false);
  }

  #error(code: number, message: string): ConnectError {
    const error = new ConnectError(message, code, this.trailers);
    error.isWireError = true;
    return error;
  }

  #finish(error: ConnectError | undefined, isAbandoned: boolean): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#release();
    if (!this.#hasHead)
      this.#head.reject(
        error ?? new ConnectError(`${this.method}: expected headers before the end, found none`, Code.Internal),
      );
    this.#reject?.(error ?? callOver);
    this.#onEnd(isAbandoned);
    this.#wake();
  }
}
