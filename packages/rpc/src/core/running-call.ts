/** A call in progress on the server. */
import { type LogFields, PlatformError } from '@platform/base';
import type { Vocabulary } from '../edge/api-names.ts';
import type { AnswerListener, Call } from './call.ts';

/** The properties of a call before it is admitted. */
export type CallStart = Omit<Call, 'principal'>;

export class RunningCall<P> implements Call<P> {
  readonly #start: CallStart;
  #admitted: { principal: P } | undefined;

  constructor(start: CallStart) {
    this.#start = start;
  }

  get method(): string {
    return this.#start.method;
  }

  get metadata(): Headers {
    return this.#start.metadata;
  }

  get peerAddress(): string {
    return this.#start.peerAddress;
  }

  get vocabulary(): Vocabulary {
    return this.#start.vocabulary;
  }

  get signal(): AbortSignal {
    return this.#start.signal;
  }

  get deadline(): number | undefined {
    return this.#start.deadline;
  }

  get responseHeaders(): Headers {
    return this.#start.responseHeaders;
  }

  get responseTrailers(): Headers {
    return this.#start.responseTrailers;
  }

  onAnswered(listener: AnswerListener): void {
    this.#start.onAnswered(listener);
  }

  /** Undefined before the call is admitted, and if the method needs no authentication. */
  get caller(): P | undefined {
    return this.#admitted?.principal;
  }

  admit(principal: P): void {
    this.#admitted = { principal };
  }

  get principal(): P {
    if (this.#admitted === undefined) {
      throw new PlatformError('internal', `${this.method} is served without authentication and has no principal`);
    }
    return this.#admitted.principal;
  }
}

/** Log fields about the caller. */
export function callerOf<P>({ caller }: RunningCall<P>, fieldsOf: (principal: P) => LogFields): LogFields | undefined {
  return caller === undefined ? undefined : fieldsOf(caller);
}
