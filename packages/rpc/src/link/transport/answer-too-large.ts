/** Why an answer was not read. */
import { Code, ConnectError } from '@connectrpc/connect';

/** The cause of a call's error if its answer is larger than the link accepts. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  readonly maxBytes: number;
  /** Undefined: larger than `maxBytes`, but not known. */
  readonly foundBytes: number | undefined;

  constructor(maxBytes: number, foundBytes?: number) {
    const size = foundBytes === undefined ? '' : `${foundBytes} `;
    super(`message size ${size}is larger than configured readMaxBytes ${maxBytes}`);
    this.maxBytes = maxBytes;
    this.foundBytes = foundBytes;
  }
}

/** As Connect says it; `LinkTransport` interprets its cause. */
export function answerTooLarge(maxBytes: number, foundBytes?: number): ConnectError {
  const cause = new AnswerTooLarge(maxBytes, foundBytes);
  return new ConnectError(cause.message, Code.ResourceExhausted, undefined, undefined, cause);
}
