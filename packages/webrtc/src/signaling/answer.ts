/**
 * The side of the machine: waits at a signaling server for callers, and connects to them.
 *
 * Two streams wait at any time, so that a second caller need not wait for the first to be connected. Each serves one caller, and another
 * takes its place at once. A server that ends a stream without a caller is asked again after a while.
 */
import { backoffMs, type Clock, errorText, inBackground, type Log, PlatformError, Wakeup } from '@platform/base';
import type { DirectCaller } from '@platform/proto/platform/relay/v1/relay';
import {
  type AnswerRequest,
  type AnswerRequestInitStage,
  type AnswerResponse,
  SignalingService,
} from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { MessageChannel } from '@platform/rpc/channel';
import type { Link } from '@platform/rpc/client';
import type { Engine, Peer } from '../peer.ts';
import { acceptOffer } from './accept-offer.ts';
import { iceServersIn, readCandidate, writeCandidate } from './description.ts';

const waitingStreams = 2;
/** Callers that are being connected; further ones wait at the server. */
const maxConnecting = 16;
/** A caller gives up after 10 s; a clock that differs must not make this less than 5. */
const connectMs = 10_000;
const backoff = { firstMs: 1_000, maxMs: 30_000 };

export interface AnsweredPeer {
  readonly peer: Peer;
  readonly channel: MessageChannel;
  /** Undefined if the signaling server does not say who calls. */
  readonly caller: DirectCaller | undefined;
}

export interface Answering extends AsyncDisposable {
  /** Resolves when it waits for callers no longer. */
  readonly over: Promise<void>;
}

export interface AnswerDeps {
  /** To the signaling server. */
  readonly link: Pick<Link, 'client'>;
  /** The name of the machine. */
  readonly host: () => string;
  readonly engine: Engine;
  /** Takes over a connection that is open. */
  readonly onPeer: (answered: AnsweredPeer) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Answers callers until it is disposed, or the first of them has shown that this computer has no engine: then it waits for none, so that
 * the signaling server tells callers to take another way. Connections that are open stay open.
 */
export function answerCallers(deps: AnswerDeps): Answering {
  const over = Promise.withResolvers<void>();
  const running = inBackground(async (stopped) => {
    const useless = new AbortController();
    const signal = AbortSignal.any([stopped, useless.signal]);
    const connecting: Connecting = { count: 0, left: Promise.withResolvers() };
    await Promise.all(Array.from({ length: waitingStreams }, () => waitForCallers(deps, connecting, signal, useless)));
    over.resolve();
  });
  return { over: over.promise, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

interface Connecting {
  count: number;
  /** Resolves when one is no longer being connected. */
  left: PromiseWithResolvers<void>;
}

async function waitForCallers(
  deps: AnswerDeps,
  connecting: Connecting,
  signal: AbortSignal,
  useless: AbortController,
): Promise<void> {
  const { clock, log } = deps;
  for (let failures = 0; !signal.aborted; ) {
    try {
      while (connecting.count >= maxConnecting && !signal.aborted) await connecting.left.promise;
      const attempt = new Attempt(deps, signal);
      await attempt.offered;
      failures = 0;
      connecting.count++;
      void attempt.run().finally(() => {
        connecting.count--;
        connecting.left.resolve();
        connecting.left = Promise.withResolvers();
        if (deps.engine.isMissing) useless.abort();
      });
    } catch (caught) {
      if (signal.aborted) return;
      failures++;
      log.debug('waiting for callers over WebRTC failed; waiting again', { error: errorText(caught) });
      await clock.sleep(backoffMs(failures, backoff), signal).catch(() => {});
    }
  }
}

/** One stream: waits for one caller, and connects to it. */
class Attempt {
  /** Resolves when a caller has come; rejects if the stream ends before. */
  readonly offered: Promise<void>;
  readonly #deps: AnswerDeps;
  readonly #over = new AbortController();
  readonly #requests: AsyncIterator<AnswerRequest>;
  readonly #responses: Partial<AnswerResponse>[] = [];
  readonly #wake: Wakeup;
  #isDone = false;
  #offer: { readonly uuid: string; readonly init: AnswerRequestInitStage } | undefined;

  constructor(deps: AnswerDeps, signal: AbortSignal) {
    this.#deps = deps;
    const { link, host, clock } = deps;
    this.#wake = new Wakeup(clock);
    const ended = AbortSignal.any([signal, this.#over.signal]);
    const headers = { 'rpc-host': host(), 'heartbeats-allowed': 'true' };
    const requests = link
      .client(SignalingService)
      .answer(this.#outgoing() as never, { headers, signal: ended, timeoutMs: 0 });
    this.#requests = requests[Symbol.asyncIterator]();
    this.offered = this.#waitForOffer();
  }

  async run(): Promise<void> {
    const { engine, clock, log, onPeer } = this.#deps;
    const { uuid, init } = this.#offer ?? {};
    if (uuid === undefined || init === undefined) return;
    let peer: Peer | undefined;
    using _timer = clock.after(connectMs, () =>
      this.#over.abort(new PlatformError('deadline_exceeded', 'the caller has not connected in time')),
    );
    try {
      const accepted = await acceptOffer(engine, init.sdp, iceServersIn(init.optionalConfig));
      peer = accepted.peer;
      this.#respond({ uuid, stage: { case: 'init', value: { sdp: accepted.answer } } as never });
      void this.#sendCandidates(peer, uuid);
      void this.#takeCandidates(peer);
      const { promise: late, reject } = Promise.withResolvers<never>();
      this.#over.signal.addEventListener('abort', () => reject(this.#over.signal.reason), { once: true });
      const channel = await Promise.race([peer.opened, late]);
      // Clients look at the state of the connection when the stream of their call ends, so it ends now.
      this.#respond({ uuid, stage: { case: 'done', value: {} } as never });
      this.#finish();
      onPeer({ peer, channel, caller: init.caller });
    } catch (caught) {
      log.debug('a caller could not be connected over WebRTC', { caller: init.caller?.id, error: errorText(caught) });
      const { code, message } = asStatus(caught);
      this.#respond({ uuid, stage: { case: 'error', value: { status: { code, message } } } as never });
      this.#finish();
      await peer?.[Symbol.asyncDispose]();
    }
  }

  async #waitForOffer(): Promise<void> {
    for (;;) {
      const { value, done } = await this.#requests.next();
      if (done === true) throw new PlatformError('unavailable', 'the signaling server has ended the stream');
      const { uuid, stage } = value;
      if (stage.case === 'heartbeat') continue;
      if (stage.case !== 'init')
        throw new PlatformError(
          'internal',
          `expected an offer from the signaling server, found ${JSON.stringify(stage.case)}`,
        );
      this.#offer = { uuid, init: stage.value };
      return;
    }
  }

  async #sendCandidates(peer: Peer, uuid: string): Promise<void> {
    for await (const candidate of peer.candidates)
      this.#respond({ uuid, stage: { case: 'update', value: { candidate: writeCandidate(candidate) } } as never });
  }

  async #takeCandidates(peer: Peer): Promise<void> {
    try {
      for (let next = await this.#requests.next(); next.done !== true; next = await this.#requests.next()) {
        const { stage } = next.value;
        if (stage.case === 'update' && stage.value.candidate !== undefined)
          peer.addCandidate(readCandidate(stage.value.candidate));
        else if (stage.case === 'error')
          this.#over.abort(new PlatformError('unavailable', stage.value.status?.message ?? 'the caller gave up'));
      }
    } catch {
      // The connection may be made without further candidates.
    }
  }

  #respond(response: Partial<AnswerResponse>): void {
    if (this.#isDone) return;
    this.#responses.push(response);
    this.#wake.wake();
  }

  /** The stream ends once everything was sent. */
  #finish(): void {
    this.#isDone = true;
    this.#wake.wake();
  }

  async *#outgoing(): AsyncGenerator<Partial<AnswerResponse>, void> {
    for (;;) {
      const response = this.#responses.shift();
      if (response !== undefined) yield response;
      else if (this.#isDone) return;
      else await this.#wake.wait(connectMs, new AbortController().signal);
    }
  }
}

function asStatus(caught: unknown): { readonly code: number; readonly message: string } {
  const deadline = caught instanceof PlatformError && caught.code === 'deadline_exceeded';
  return {
    code: deadline ? 4 : caught instanceof PlatformError && caught.code === 'invalid_argument' ? 3 : 14,
    message: errorText(caught),
  };
}
