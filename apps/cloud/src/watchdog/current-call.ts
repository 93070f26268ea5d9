/**
 * Which call the main thread works on now. It follows a call through its promises, so that the call that holds the loop is named, and not
 * one that merely is in progress.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { StuckCall } from '@platform/base/watchdog';
import { loggablePath } from '../text-rules/loggable-path.ts';

export class CurrentCall {
  readonly #storage = new AsyncLocalStorage<{ readonly method: string; caller: string }>();
  readonly #began: (text: string) => void;

  /** @param began gets the JSON of each call, as `text` returns it */
  constructor(began: (text: string) => void) {
    this.#began = began;
  }

  /** The caller is the peer's address until `admit`. */
  enter<T>({ path, peerAddress }: { readonly path: string; readonly peerAddress: string }, run: () => T): T {
    const caller = `address:${peerAddress.replace(/:\d+$/, '')}`;
    return this.#storage.run({ method: loggablePath(path), caller }, () => {
      this.#began(this.text);
      return run();
    });
  }

  /** The call is of this caller. */
  admit(caller: string): void {
    const call = this.#storage.getStore();
    if (call === undefined) return;
    call.caller = caller;
    this.#began(this.text);
  }

  get call(): StuckCall | undefined {
    return this.#storage.getStore();
  }

  /** JSON of the call; null for none. */
  get text(): string {
    return JSON.stringify(this.call ?? null);
  }
}
