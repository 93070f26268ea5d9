/**
 * One end of a channel of messages, whatever carries it: what was received before anybody listens, and what waits to be sent.
 */
import { PlatformError } from '@platform/base/errors';
import { resourceExhausted } from '@platform/base/refusals';
import type { MessageChannel } from '@platform/rpc/channel';
import { drainedBytes, maxKeptBytes, maxMessageBytes, maxWaitingBytes } from './limits.ts';

/** What a kept message takes beside its bytes, about. */
const keptOverheadBytes = 128;

export interface ChannelDeps {
  readonly send: (message: Uint8Array) => void;
  /** Ends the connection. */
  readonly end: (reason: PlatformError) => void;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
}

export class ChannelState implements MessageChannel {
  readonly #deps: ChannelDeps;
  #onMessage: ((message: Uint8Array) => void) | undefined;
  /** Messages before `onMessage`, in order; while there are any, new ones queue behind them. */
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #bufferedBytes = 0;
  #drained: (() => void)[] = [];

  constructor(deps: ChannelDeps) {
    this.#deps = deps;
    deps.ended.addEventListener('abort', () => this.#resolveDrained(), { once: true });
  }

  get onMessage(): ((message: Uint8Array) => void) | undefined {
    return this.#onMessage;
  }

  set onMessage(listener: ((message: Uint8Array) => void) | undefined) {
    this.#onMessage = listener;
    if (this.#kept.length > 0) queueMicrotask(() => this.#passKept());
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  get ended(): AbortSignal {
    return this.#deps.ended;
  }

  send(message: Uint8Array): void {
    if (this.ended.aborted) return;
    if (message.length > maxMessageBytes)
      throw new RangeError(`expected a message of at most ${maxMessageBytes} bytes, found ${message.length}`);
    this.#bufferedBytes += message.length;
    if (this.#bufferedBytes <= maxWaitingBytes) this.#deps.send(message);
    else this.#deps.end(resourceExhausted(`more than ${maxWaitingBytes} bytes wait to be sent`));
  }

  drained(): Promise<void> {
    if (this.ended.aborted || this.#bufferedBytes < drainedBytes) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  close(): void {
    this.#deps.end(new PlatformError('canceled', 'this side closed the connection'));
  }

  /** Passes a message on, or keeps it. @param message not changed afterwards */
  receive(message: Uint8Array): void {
    if (this.ended.aborted) return;
    if (this.#onMessage !== undefined && this.#kept.length === 0) this.#pass(message);
    else this.#keep(message);
  }

  #keep(message: Uint8Array): void {
    this.#keptBytes += message.length + keptOverheadBytes;
    // A copy, because it may be a small part of something large.
    if (this.#keptBytes <= maxKeptBytes) this.#kept.push(Uint8Array.from(message));
    else this.#deps.end(resourceExhausted(`more than ${maxKeptBytes} bytes arrived that nobody reads`));
  }

  /** @param bytes of messages that have left since the last call */
  sent(bytes: number): void {
    this.#bufferedBytes = Math.max(0, this.#bufferedBytes - bytes);
    if (this.#bufferedBytes < drainedBytes) this.#resolveDrained();
  }

  #passKept(): void {
    while (this.#onMessage !== undefined && !this.ended.aborted) {
      const [message] = this.#kept;
      if (message === undefined) break;
      this.#pass(message);
      this.#kept.shift();
      this.#keptBytes -= message.length + keptOverheadBytes;
    }
  }

  #pass(message: Uint8Array): void {
    try {
      this.#onMessage?.(message);
    } catch (caught) {
      this.#deps.end(new PlatformError('internal', 'a message could not be handled', caught));
    }
  }

  #resolveDrained(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
