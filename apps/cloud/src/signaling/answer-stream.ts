/**
 * One stream on which a machine waits for a caller. It serves one call, then ends; the machine opens another one.
 *
 * idle → taken by an offer → ended. What the machine may not say at that stage ends the stream with a typed error, and the call with it.
 */
import { codes, failedPrecondition, invalidArgument, type PlatformError } from '@platform/base';
import type { AnswerResponse } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { Feed } from './feed.ts';
import type { ForMachine, Offer } from './offer.ts';
import { errorFromAnswerer } from './refusals.ts';

export class AnswerStream {
  readonly partId: string;
  readonly forMachine: Feed<ForMachine> = new Feed();
  #offer: Offer | undefined;

  constructor(partId: string) {
    this.partId = partId;
  }

  get isIdle(): boolean {
    return this.#offer === undefined;
  }

  take(offer: Offer): void {
    this.#offer = offer;
    offer.offerTo(this.forMachine);
  }

  /** @throws failed_precondition, invalid_argument, resource_exhausted */
  received({ uuid, stage }: AnswerResponse): void {
    const offer = this.#offer;
    if (offer === undefined)
      throw failedPrecondition('Answer: expected no message before a caller has arrived, found one');
    if (uuid !== offer.uuid)
      throw invalidArgument(
        `Answer: expected the uuid of the call, "${offer.uuid}", found ${JSON.stringify(uuid.slice(0, 64))}`,
      );
    if (stage.case === undefined) throw invalidArgument('Answer: expected init, update, done or error, found none');
    if (stage.case !== 'error' && (stage.case === 'init') === offer.isAnswered)
      throw failedPrecondition(
        `Answer: expected ${offer.isAnswered ? 'only one init' : 'init first'}, found ${offer.isAnswered ? 'another one' : stage.case}`,
      );
    if (stage.case === 'error') this.#fail(undefined, errorFromAnswerer(stage.value.status));
    else if (stage.case === 'init') offer.answer(stage.value.sdp);
    else if (stage.case === 'update') offer.candidateOfMachine(stage.value.candidate);
    else offer.machineIsDone();
  }

  /** The machine has closed its side, or is gone. */
  closed(): void {
    if (this.forMachine.ended.aborted) return;
    this.forMachine.end();
    this.#offer?.machineLeft(failure('it closed its stream before it answered'));
  }

  /** Ends the stream. After its end, nothing happens. @param reason what the machine is told */
  end(reason: PlatformError): void {
    if (this.forMachine.ended.aborted) return;
    this.#fail(reason, failure(`its stream ended (${reason.code})`));
  }

  #fail(reason: PlatformError | undefined, told: PlatformError): void {
    this.forMachine.end(reason);
    this.#offer?.machineFailed(told);
  }
}

function failure(message: string): PlatformError {
  return errorFromAnswerer({ code: codes.unavailable, message });
}
