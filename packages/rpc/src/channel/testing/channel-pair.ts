/** Two ends of a channel in this process. */
import { unavailable } from '@platform/base';
import type { MessageChannel } from '../message-channel.ts';

export interface TestChannel extends MessageChannel {
  /** What it sends waits until it is released. */
  hold(): void;
  release(): void;
}

const fullBytes = 1024 * 1024;

export function channelPair(): [TestChannel, TestChannel] {
  const over = new AbortController();
  const near: End = new End(over, (message) => far.deliver(message));
  const far: End = new End(over, (message) => near.deliver(message));
  return [near, far];
}

class End implements TestChannel {
  readonly #over: AbortController;
  readonly #toOther: (message: Uint8Array) => void;
  readonly #early: Uint8Array[] = [];
  readonly #held: Uint8Array[] = [];
  #isHeld = false;
  #onMessage: MessageChannel['onMessage'];
  #wake = Promise.withResolvers<void>();
  bufferedBytes = 0;

  constructor(over: AbortController, toOther: (message: Uint8Array) => void) {
    this.#over = over;
    this.#toOther = toOther;
    over.signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
  }

  get ended(): AbortSignal {
    return this.#over.signal;
  }

  set onMessage(listener: MessageChannel['onMessage']) {
    this.#onMessage = listener;
    for (const message of this.#early.splice(0)) listener?.(message);
  }

  deliver(message: Uint8Array): void {
    if (this.#onMessage === undefined) this.#early.push(message);
    else this.#onMessage(message);
  }

  send(message: Uint8Array): void {
    if (this.ended.aborted) return;
    this.bufferedBytes += message.length;
    if (this.#isHeld) this.#held.push(message);
    else setImmediate(() => this.#pass(message));
  }

  async drained(): Promise<void> {
    while (this.bufferedBytes >= fullBytes && !this.ended.aborted) await this.#wake.promise;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const message of this.#held.splice(0)) this.#pass(message);
  }

  close(): void {
    this.#over.abort(unavailable('the channel was closed'));
  }

  #pass(message: Uint8Array): void {
    this.bufferedBytes -= message.length;
    if (!this.ended.aborted) this.#toOther(message);
    this.#wake.resolve();
    if (!this.ended.aborted) this.#wake = Promise.withResolvers();
  }
}
