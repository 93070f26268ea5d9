/** The call that a server is working on. */
import { PlatformError } from '@platform/base';
import type { Vocabulary } from '../edge/api-names.ts';
import type { Call } from './call.ts';

/** What is known of a call before it is admitted. */
export type CallStart = Omit<Call, 'principal'>;

export class RunningCall<P> implements Call<P> {
  readonly method: string;
  readonly metadata: Headers;
  readonly peerAddress: string;
  readonly vocabulary: Vocabulary;
  readonly signal: AbortSignal;
  readonly deadline: number | undefined;
  readonly responseHeaders: Headers;
  readonly responseTrailers: Headers;
  #admitted: { principal: P } | undefined;

  constructor(start: CallStart) {
    this.method = start.method;
    this.metadata = start.metadata;
    this.peerAddress = start.peerAddress;
    this.vocabulary = start.vocabulary;
    this.signal = start.signal;
    this.deadline = start.deadline;
    this.responseHeaders = start.responseHeaders;
    this.responseTrailers = start.responseTrailers;
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
