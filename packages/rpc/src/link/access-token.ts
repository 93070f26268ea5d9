/** The access token of a link: fetched once, shared by all calls, fetched again after it was refused (D5). */
import { orAborted } from '../core/until-aborted.ts';

export class AccessToken {
  readonly #fetch: () => Promise<string>;
  #current: Promise<string> | undefined;

  constructor(fetch: () => Promise<string>) {
    this.#fetch = fetch;
  }

  /** The token; waits for the first fetch. A failed fetch is told to all who wait, and tried again by the next call. */
  async get(signal: AbortSignal | undefined): Promise<string> {
    if (this.#current === undefined) {
      const fetching = this.#fetch();
      this.#current = fetching;
      fetching.catch(() => {
        if (this.#current === fetching) this.#current = undefined;
      });
    }
    return signal === undefined ? this.#current : orAborted(this.#current, signal);
  }

  /** Forgets the token that was refused, unless another call has replaced it already. */
  async refuse(token: string): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    const known = await current.catch(() => undefined);
    if (known === token && this.#current === current) this.#current = undefined;
  }
}
