/**
 * A call whose costly parts are created on demand: most handlers read neither signal nor headers, and a fleet makes thousands of calls a
 * second.
 */
import type { Vocabulary } from '../edge/api-names.ts';
import type { AnswerListener } from './call.ts';
import type { CallStart } from './running-call.ts';

export interface FastPathCallOptions
  extends Pick<CallStart, 'method' | 'vocabulary' | 'deadline' | 'peerAddress' | 'onAnswered'> {
  readonly metadata: () => Headers;
}

/** What `abort()` makes, which costs more than the rest of a short call. */
const over = new DOMException('This operation was aborted', 'AbortError');

/** The properties of a call before it is admitted, and how it ended. */
export class FastPathCall implements CallStart {
  readonly method: string;
  readonly vocabulary: Vocabulary;
  readonly deadline: number | undefined;
  readonly peerAddress: string;
  readonly #options: FastPathCallOptions;
  #metadata: Headers | undefined;
  #responseHeaders: Headers | undefined;
  #responseTrailers: Headers | undefined;
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;
  #onEnd: ((reason: unknown) => void) | undefined;

  constructor(options: FastPathCallOptions) {
    this.method = options.method;
    this.vocabulary = options.vocabulary;
    this.deadline = options.deadline;
    this.peerAddress = options.peerAddress;
    this.#options = options;
  }

  onAnswered(listener: AnswerListener): void {
    if (this.hasEnded) listener(false);
    else this.#options.onAnswered(listener);
  }

  get metadata(): Headers {
    this.#metadata ??= this.#options.metadata();
    return this.#metadata;
  }

  get responseHeaders(): Headers {
    this.#responseHeaders ??= new Headers();
    return this.#responseHeaders;
  }

  get responseTrailers(): Headers {
    this.#responseTrailers ??= new Headers();
    return this.#responseTrailers;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason ?? over);
    }
    return this.#controller.signal;
  }

  /** Undefined if the handler never requested them: then they are empty. */
  get headersInUse(): { readonly headers: Headers | undefined; readonly trailers: Headers | undefined } {
    return { headers: this.#responseHeaders, trailers: this.#responseTrailers };
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Only the first end counts: the client's, the deadline's, the server's, or the answer. */
  end(reason?: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#controller?.abort(reason ?? over);
    this.#onEnd?.(reason);
  }

  /** The promise's outcome, or the reason why the call ended, whichever comes first. At most one wait at a time. */
  orEnded<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended.reason);
      this.#onEnd = reject;
      promise.then(resolve, reject);
    });
  }
}
