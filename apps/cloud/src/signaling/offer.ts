/**
 * One call: what a caller offers to one machine, and what both say until they are connected.
 *
 * waiting → offered: a stream of the machine took it → answered: the caller has the machine's answer → ended: the caller's side is over
 * → closed: the machine's stream is over, too. Each side may end at any stage, the deadline ends both, and every end closes in the end.
 *
 * Candidates of the caller may arrive after its own side ended, because machines report "done" as soon as they have gathered theirs. They
 * are passed on until the machine closes its stream, which it does once it is connected, or until the deadline.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type Clock,
  codes,
  invalidArgument,
  newId,
  type PlatformError,
  printable,
  resourceExhausted,
} from '@platform/base';

import type {
  AnswerRequestInitStageSchema,
  AnswerRequestSchema,
  CallResponseSchema,
  CallUpdateRequest,
  ICECandidate,
} from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { Feed } from './feed.ts';
import { tooLate } from './refusals.ts';

/** From the call until both sides are connected. */
export const offerSeconds = 10;
/** Bytes of a session description. */
const maxSdpBytes = 64 * 1024;
/** Bytes of a candidate. */
const maxCandidateBytes = 1_024;
/** Of each side. */
const maxCandidates = 100;
const maxTextLength = 500;

export type ForMachine = MessageInitShape<typeof AnswerRequestSchema>;
export type ForCaller = MessageInitShape<typeof CallResponseSchema>;
type InitStage = MessageInitShape<typeof AnswerRequestInitStageSchema>;

export interface OfferTerms {
  readonly partId: string;
  readonly organizationId: string;
  /** Of the session description. */
  readonly bytes: number;
  /** Who called: a key or a session. Others may not continue the call. */
  readonly callerId: string;
  readonly disableTrickle: boolean;
  /** What the machine gets, when one of its streams takes the offer. */
  init(): InitStage;
}

export interface OfferEvents {
  /** The caller has the uuid, and its side is over. */
  ended(offer: Offer): void;
  /** Nothing more happens. */
  closed(offer: Offer): void;
}

export class Offer {
  readonly uuid: string = newId();
  readonly terms: OfferTerms;
  readonly forCaller: Feed<ForCaller> = new Feed();
  readonly #events: OfferEvents;
  readonly #deadline: Disposable;
  /** For the stream that took the offer. */
  #forMachine: Feed<ForMachine> | undefined;
  #isAnswered = false;
  #isCallerDone: boolean;
  #isMachineDone = false;
  #isClosed = false;
  readonly #candidates = { caller: 0, machine: 0 };

  constructor(terms: OfferTerms, events: OfferEvents, clock: Clock) {
    this.terms = terms;
    this.#events = events;
    // Such a caller sends no candidates.
    this.#isCallerDone = terms.disableTrickle;
    this.#deadline = clock.after(offerSeconds * 1_000, () => this.end(tooLate(offerSeconds, this.#isAnswered)));
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** A stream of the machine takes the offer. */
  offerTo(forMachine: Feed<ForMachine>): void {
    this.#forMachine = forMachine;
    this.#tell({ case: 'init', value: this.terms.init() });
  }

  /** The answer of the machine. @throws invalid_argument, resource_exhausted */
  answer(sdp: string): void {
    requireSdp('Answer', sdp);
    this.#isAnswered = true;
    this.forCaller.push({ uuid: this.uuid, stage: { case: 'init', value: { sdp } } });
  }

  /** @throws invalid_argument, resource_exhausted */
  candidateOfMachine(candidate: ICECandidate | undefined): void {
    const value = { candidate: this.#counted('Answer', 'machine', candidate) };
    this.forCaller.push({ uuid: this.uuid, stage: { case: 'update', value } });
  }

  /** @throws invalid_argument, resource_exhausted */
  updateOfCaller({ update }: CallUpdateRequest): void {
    if (update.case === 'candidate') {
      const value = { candidate: this.#counted('CallUpdate', 'caller', update.value) };
      this.#tell({ case: 'update', value });
    } else if (update.case === 'error') {
      const text = printable(update.value.message.slice(0, maxTextLength));
      this.#leave(codes.canceled, `the caller has failed: ${text}`);
    } else if (update.case === 'done' && update.value) this.#callerIsDone();
    else throw invalidArgument('CallUpdate: expected a candidate, done or an error, found none of them');
  }

  /** The caller has ended its call. */
  callerLeft(): void {
    if (this.forCaller.ended.aborted) return;
    if (this.#isAnswered) {
      // It may be connected already.
      this.#endCaller();
      this.#callerIsDone();
    } else this.#leave(codes.canceled, 'the caller has left');
  }

  /** The machine says that it is connected, or has no more candidates. */
  machineIsDone(): void {
    this.#isMachineDone = true;
    this.#endCaller();
    this.#closeIfDone();
  }

  /** The machine's stream is over. @param reason what the caller is told if it has no answer */
  machineLeft(reason: PlatformError): void {
    this.#endCaller(this.#isAnswered ? undefined : reason);
    this.#close();
  }

  /** The machine reports an error, or says what it may not say. */
  machineFailed(reason: PlatformError): void {
    this.#endCaller(reason);
    this.#close();
  }

  /** Ends both sides. */
  end(reason: PlatformError): void {
    // After a clean end of the call there is nothing to complain about.
    const isOver = this.forCaller.ended.aborted;
    this.#endCaller(reason);
    if (isOver) this.#close();
    else this.#leave(codes[reason.code], `the call has ended: ${reason.code}`);
  }

  #leave(code: number, message: string): void {
    this.#endCaller();
    this.#tell({ case: 'error', value: { status: { code, message } } });
    this.#close();
  }

  #callerIsDone(): void {
    if (!this.#isCallerDone) this.#tell({ case: 'done', value: {} });
    this.#isCallerDone = true;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isCallerDone && this.#isMachineDone) this.#close();
  }

  #counted(method: string, side: 'caller' | 'machine', candidate: ICECandidate | undefined): object {
    if (candidate === undefined) throw invalidArgument(`${method}: expected a candidate in the update, found none`);
    const { candidate: text, sdpMid = '', sdpmLineIndex = 0, usernameFragment = '' } = candidate;
    const bytes = [text, sdpMid, usernameFragment].reduce((sum, one) => sum + Buffer.byteLength(one), 0);
    if (bytes > maxCandidateBytes)
      throw resourceExhausted(`${method}: expected a candidate of at most ${maxCandidateBytes} bytes, found ${bytes}`);
    this.#candidates[side] += 1;
    if (this.#candidates[side] > maxCandidates)
      throw resourceExhausted(`${method}: expected at most ${maxCandidates} candidates in a call, found more`);
    return { candidate: text, sdpMid, sdpmLineIndex, usernameFragment };
  }

  #tell(stage: ForMachine['stage']): void {
    this.#forMachine?.push({ uuid: this.uuid, ...(stage && { stage }) });
  }

  #endCaller(reason?: PlatformError): void {
    if (this.forCaller.ended.aborted) return;
    this.forCaller.end(reason);
    if (this.#isAnswered) this.#events.ended(this);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deadline[Symbol.dispose]();
    this.#forMachine?.end();
    this.#events.closed(this);
  }
}

/** @throws invalid_argument, resource_exhausted */
export function requireSdp(method: string, sdp: string): void {
  if (sdp === '') throw invalidArgument(`${method}: expected a session description, found none`);
  const bytes = Buffer.byteLength(sdp);
  if (bytes > maxSdpBytes)
    throw resourceExhausted(
      `${method}: expected a session description of at most ${maxSdpBytes} bytes, found ${bytes}`,
    );
}
