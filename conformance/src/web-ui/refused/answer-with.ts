/** Makes the cloud answer a browser with a code, or not at all. */
import type { Page, Route } from 'playwright-core';

/** `html`: a proxy in between that does not know the API. `away`: no answer. The others are all codes of gRPC, as Connect spells them. */
export const answers = [
  ...['html', 'away', 'canceled', 'unknown', 'invalid_argument', 'deadline_exceeded', 'not_found', 'already_exists'],
  ...['permission_denied', 'resource_exhausted', 'failed_precondition', 'aborted', 'out_of_range', 'unimplemented'],
  // The last one, because it ends the session.
  ...['internal', 'unavailable', 'data_loss', 'unauthenticated'],
] as const;

/** Pages treat these in ways of their own, so each page and form meets them in each run, `unauthenticated` last. */
const always: readonly string[] = ['html', 'away', 'internal', 'unauthenticated'];

/** Of the others every third one, from another one on for each page or form and in each run. @param number of the page or form */
export function answersFor(number: number, seed: number): readonly string[] {
  return answers.filter((answer, at) => always.includes(answer) || (at + number + seed) % 3 === 0);
}

/** Calls to the API, except the one that asks who is signed in. */
export const anyCall = /\/(platform\.[\w.]+\/|api\/(?!whoami)|test-inbox)/;

/** Makes the cloud refuse calls, each time with a new message, so that an earlier one is not mistaken for it. */
export class Refusals implements AsyncDisposable {
  readonly #page: Page;
  readonly #calls: RegExp;
  readonly #but: RegExp;
  #answer = '';
  #count = 0;

  /** @param calls paths of the calls that are refused @param but paths of exceptions */
  constructor(page: Page, calls: RegExp, but: RegExp = /^$/) {
    [this.#page, this.#calls, this.#but] = [page, calls, but];
  }

  readonly #handle = async (route: Route): Promise<void> => {
    if (this.#but.test(new URL(route.request().url()).pathname)) return route.fallback();
    if (this.#answer === 'away') return route.abort('connectionrefused');
    if (this.#answer === 'html')
      return route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' });
    const error = { code: this.#answer, message: this.#message };
    const contentType = route.request().headers()['content-type'] ?? '';
    await route.fulfill(
      contentType.startsWith('application/connect+')
        ? { contentType, body: endOfStream(error) }
        : { status: this.#answer === 'unauthenticated' ? 401 : 500, json: error },
    );
  };

  get #message(): string {
    return `refused ${this.#count} with ${this.#answer}`;
  }

  /** @returns the text that the page must show */
  async answer(answer: string): Promise<RegExp> {
    if (this.#count === 0) await this.#page.route(this.#calls, this.#handle);
    this.#count += 1;
    this.#answer = answer;
    if (answer === 'unauthenticated') return /Your session has ended/;
    if (answer === 'html') return /Not reachable|without an explanation/;
    return answer === 'away' ? /The cloud does not answer/ : new RegExp(this.#message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#page.unroute(this.#calls, this.#handle);
  }
}

/** The message that ends a stream of Connect. */
function endOfStream(error: object): Buffer {
  const text = Buffer.from(JSON.stringify({ error }));
  const head = Buffer.from([2, 0, 0, 0, 0]);
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, text]);
}

/** Holds back all calls until they are released. */
export async function holdCalls(page: Page): Promise<AsyncDisposable> {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  const handle = async (route: Route): Promise<void> => {
    await released;
    // The page may have been left in the meantime.
    await route.continue().catch(() => {});
  };
  await page.route(anyCall, handle);
  return {
    async [Symbol.asyncDispose]() {
      resolve();
      await page.unroute(anyCall, handle);
    },
  };
}

/** Opens a page of the web UI like a link in it: without reloading it. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(`(() => {
    const link = document.createElement('a');
    link.href = ${JSON.stringify(path)};
    document.body.append(link);
    link.click();
    link.remove();
  })()`);
  await page.waitForURL((url) => `${url.pathname}${url.search}` === path);
}
