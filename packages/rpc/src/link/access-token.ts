/** The access token of a link: fetched once, shared by all calls, fetched again after a refusal (D5). */
import { orAborted } from '../core/until-aborted.ts';

export class AccessToken {
  readonly #fetch: () => Promise<string>;
  #current: Promise<string> | undefined;
  /** The result of `#current`, once there is one. */
  #known: string | undefined;

  constructor(fetch: () => Promise<string>) {
    this.#fetch = fetch;
  }

  /** The token, unless it still has to be fetched. */
  get known(): string | undefined {
    return this.#known;
  }

  /** The token; waits for the first fetch. A failed fetch fails all calls that wait for it; the next call tries again. */
  async get(signal: AbortSignal | undefined): Promise<string> {
    if (this.#current === undefined) {
      const fetching = this.#fetch();
      this.#current = fetching;
      fetching.then(
        (token) => {
          if (this.#current === fetching) this.#known = token;
        },
        () => {
          if (this.#current === fetching) this.#current = undefined;
        },
      );
    }
    return signal === undefined ? this.#current : orAborted(this.#current, signal);
  }

  /** Forgets the refused token, unless another call has already replaced it. */
  async refuse(token: string): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    const known = await current.catch(() => undefined);
    if (known !== token || this.#current !== current) return;
    this.#current = undefined;
    this.#known = undefined;
  }
}
