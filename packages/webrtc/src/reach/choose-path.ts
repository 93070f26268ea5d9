/**
 * The paths to one machine: what works at once (the relay of the cloud, or the machine's own address), and a connection over WebRTC, which
 * is better.
 *
 * States: connecting → connected(path) → lost → connecting → … No timer runs: calls dial. The first call goes by the floor, and dials WebRTC
 * besides. Once the connection is open and a small call over it has been answered, new calls take it; those that run stay where they are.
 * When it ends, its calls end with UNAVAILABLE, new calls take the floor again, and one of them dials once the backoff has passed (1 s to
 * 60 s; after a refusal, such as lost rights or a machine without WebRTC, 60 s). Without a floor, calls wait for WebRTC, or fail with the
 * reason of the last attempt.
 *
 * No Node: browsers load this file.
 */
import type { DescMethod } from '@bufbuild/protobuf';
import {
  asPlatformError,
  type Backoff,
  backoffMs,
  type Clock,
  type CodeName,
  PlatformError,
} from '@platform/base/portable';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { type Choice, choosingConnection } from './choose-link.ts';
import type { Connection, Path, PathChange, Reached } from './path.ts';

/** A connection over WebRTC that is open. */
export interface FastLink extends AsyncDisposable {
  readonly link: Connection;
  /** Aborts when it has ended; the reason is a PlatformError. */
  readonly ended: AbortSignal;
}

export interface PathsDeps {
  /** Undefined: calls wait for WebRTC. */
  readonly floor: { readonly path: 'direct' | 'relay'; readonly link: Connection } | undefined;
  /** Undefined: only the floor is used. At least one of both is given. */
  readonly dial: ((signal: AbortSignal) => Promise<FastLink>) | undefined;
  /** Called last, when it is disposed. */
  readonly onClose?: (() => PromiseLike<void>) | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
}

const backoff: Backoff = { firstMs: 1_000, maxMs: 60_000 };
const refusedMs = 60_000;
/** A connection that lived shorter counts as a failed attempt. */
const stableMs = 10_000;
const probeMs = 5_000;
/** Calls that fail do not double the load. */
const probesApartMs = 1_000;

/** Another attempt at once would be refused, too. */
const refusals: ReadonlySet<CodeName> = new Set([
  ...(['permission_denied', 'unauthenticated', 'not_found', 'unimplemented', 'invalid_argument'] as const),
  'failed_precondition',
]);
/** After these the floor may not work any more; resources of the machine also answer with them. */
const doubtful: ReadonlySet<CodeName> = new Set([
  ...(['unavailable', 'deadline_exceeded', 'permission_denied', 'unauthenticated', 'not_found'] as const),
]);

const { getVersion, sendSessionHeartbeat } = RobotService.method;
/** Their time is that of the path. */
const small: ReadonlySet<DescMethod> = new Set([getVersion, sendSessionHeartbeat]);

interface Fast {
  readonly dialed: FastLink;
  readonly openMs: number;
}

/** Calls a machine by the best of its paths; begins with the first call. */
export class Paths implements Reached, Choice {
  readonly link: Connection = choosingConnection(this);
  readonly #deps: PathsDeps;
  readonly #listeners = new Set<(change: PathChange) => void>();
  readonly #stop = new AbortController();
  #fast: Fast | undefined;
  #dialing: Promise<Connection> | undefined;
  /** Attempts in a row. */
  #failures = 0;
  #nextDialMs = Number.NEGATIVE_INFINITY;
  #failure: PlatformError | undefined;
  #isFloorUp = false;
  #probing: Promise<void> | undefined;
  #nextProbeMs = Number.NEGATIVE_INFINITY;
  #shown: Path | undefined;
  #latencyMs: number | undefined;

  constructor(deps: PathsDeps) {
    this.#deps = deps;
  }

  get floor(): Connection | undefined {
    return this.#deps.floor?.link;
  }

  get path(): Path | undefined {
    return this.#shown;
  }

  get webrtcFailure(): PlatformError | undefined {
    return this.#fast === undefined ? this.#failure : undefined;
  }

  get latencyMs(): number | undefined {
    return this.#latencyMs;
  }

  async measureLatency(): Promise<number> {
    const startedMs = this.nowMs();
    await ping(this.link);
    return this.nowMs() - startedMs;
  }

  onPath(listener: (change: PathChange) => void): Disposable {
    // Two subscriptions of one function are two.
    const own = (change: PathChange): void => listener(change);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  nowMs(): number {
    return this.#deps.clock.monotonic();
  }

  choose(): Connection | Promise<Connection> {
    const { floor, dial } = this.#deps;
    if (this.#stop.signal.aborted) return Promise.reject(closed());
    if (this.#fast !== undefined) return this.#fast.dialed.link;
    if (dial !== undefined && this.#dialing === undefined && this.nowMs() >= this.#nextDialMs) {
      this.#dialing = this.#connect(dial);
      // Calls that go by the floor do not wait for it.
      this.#dialing.catch(() => {});
    }
    return floor?.link ?? this.#dialing ?? Promise.reject(this.#failure ?? closed());
  }

  answered(link: Connection, method: DescMethod, startedMs: number): void {
    if (link === this.floor && !this.#isFloorUp) {
      this.#isFloorUp = true;
      this.#show(undefined);
    }
    if (small.has(method) && link === (this.#fast?.dialed.link ?? this.floor))
      this.#latencyMs = this.nowMs() - startedMs;
  }

  failed(link: Connection, caught: unknown): void {
    if (link !== this.floor || this.#stop.signal.aborted) return;
    const { code } = asPlatformError(caught);
    if (!doubtful.has(code) || !this.#isFloorUp || this.#probing !== undefined) return;
    if (this.nowMs() < this.#nextProbeMs) return;
    this.#nextProbeMs = this.nowMs() + probesApartMs;
    this.#probing = this.#probe(link).finally(() => {
      this.#probing = undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(closed());
    const fast = this.#fast;
    this.#fast = undefined;
    this.#isFloorUp = false;
    this.#show(undefined);
    this.#listeners.clear();
    await Promise.all([fast?.dialed[Symbol.asyncDispose](), this.#dialing?.catch(() => {}), this.#probing]);
    await this.#deps.onClose?.();
  }

  /** Whether the machine is still reached by the floor, after a call failed. */
  async #probe(link: Connection): Promise<void> {
    try {
      await ping(link);
    } catch (caught) {
      const reason = asPlatformError(caught);
      if (reason.code === 'unimplemented' || this.#stop.signal.aborted) return;
      this.#isFloorUp = false;
      this.#show(reason);
    }
  }

  /** @throws PlatformError; it then says when to try again */
  async #connect(dial: NonNullable<PathsDeps['dial']>): Promise<Connection> {
    try {
      const dialed = await dial(this.#stop.signal);
      await this.#take(dialed);
      return dialed.link;
    } catch (caught) {
      throw this.#retryLater(asPlatformError(caught));
    } finally {
      this.#dialing = undefined;
    }
  }

  /** Uses the connection from now on. @throws if it is of no use */
  async #take(dialed: FastLink): Promise<void> {
    try {
      const startedMs = this.nowMs();
      await ping(dialed.link);
      this.#stop.signal.throwIfAborted();
      dialed.ended.throwIfAborted();
      this.#fast = { dialed, openMs: this.nowMs() };
      this.#latencyMs = this.nowMs() - startedMs;
    } catch (caught) {
      await dialed[Symbol.asyncDispose]();
      throw caught;
    }
    dialed.ended.addEventListener('abort', () => this.#lost(dialed), { once: true });
    this.#show(undefined);
  }

  #lost(dialed: FastLink): void {
    const fast = this.#fast;
    if (fast?.dialed !== dialed) return;
    this.#fast = undefined;
    const reason = asPlatformError(dialed.ended.reason);
    if (this.nowMs() - fast.openMs >= stableMs) {
      this.#failures = 0;
      this.#nextDialMs = this.nowMs();
      this.#failure = reason;
    } else this.#retryLater(reason);
    this.#show(reason);
    void dialed[Symbol.asyncDispose]();
  }

  #retryLater(error: PlatformError): PlatformError {
    this.#failures++;
    const waitMs = refusals.has(error.code) ? refusedMs : backoffMs(this.#failures, backoff);
    this.#nextDialMs = this.nowMs() + waitMs;
    this.#failure = new PlatformError(
      error.code,
      `over WebRTC: ${error.message} (the next attempt is made by a call after ${Math.ceil(waitMs / 1_000)} s)`,
      error,
    );
    return this.#failure;
  }

  #show(reason: PlatformError | undefined): void {
    const { floor } = this.#deps;
    const path = this.#fast !== undefined ? 'webrtc' : this.#isFloorUp ? floor?.path : undefined;
    if (path === this.#shown) return;
    if (path !== 'webrtc') this.#latencyMs = undefined;
    this.#shown = path;
    for (const listener of [...this.#listeners]) listener({ path, reason });
  }
}

/** Calls something that costs the machine nothing. @throws what it throws, unless the machine does not know the call */
async function ping(link: Connection): Promise<void> {
  try {
    await link.client(RobotService).getVersion({}, { timeoutMs: probeMs });
  } catch (caught) {
    if (asPlatformError(caught).code !== 'unimplemented') throw caught;
  }
}

function closed(): PlatformError {
  return new PlatformError('canceled', 'the connection to the machine was closed');
}
