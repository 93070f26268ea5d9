/**
 * Sends records of direct calls to the cloud, oldest first, at most 100 in a call. The effect of the answer:
 *
 * - accepted: the records leave the journal;
 * - no answer, or a refusal of them all: they wait, and are sent again after 1 s to 60 s, or as soon as the cloud can be reached; a refusal
 *   is logged once;
 * - INVALID_ARGUMENT or PERMISSION_DENIED: the call is divided until the refused record is alone, which is given up, logged and counted. If
 *   the cloud also denies a report without records, the record is not the reason;
 * - UNIMPLEMENTED: an earlier cloud, which is asked again after 10 min.
 */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  asPlatformError,
  type Clock,
  type CodeName,
  type Follower,
  follow,
  type Log,
  type PlatformError,
  silentLog,
} from '@platform/base';
import { CallerPath, RelayService } from '@platform/proto/platform/relay/v1/relay';
import { isAnswer, type Link } from '@platform/rpc/client';
import { stopwatch } from '../logging/stopwatch.ts';
import type { RecordedCalls } from './recorded-calls.ts';

export interface ReportCallsDeps {
  readonly link: Pick<Link, 'client'>;
  readonly partId: string;
  /** The next ones to send, oldest first; they stay until `done` or `released`. */
  readonly next: (most: number) => readonly RecordedCalls[];
  /** The cloud has them, or they were given up. */
  readonly done: (records: readonly RecordedCalls[], isRefused: boolean) => Promise<void>;
  /** They are not on their way any more. */
  readonly released: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

const maxBatch = 100;
const callTimeoutMs = 10_000;
const unsupportedMs = 600_000;
const lastTryMs = 2_000;
/** Refusals that a short wait may not resolve. */
const refusals: ReadonlySet<CodeName> = new Set([
  ...(['permission_denied', 'unauthenticated', 'not_found', 'failed_precondition', 'invalid_argument'] as const),
]);

export class ReportCalls implements AsyncDisposable {
  readonly #deps: ReportCallsDeps;
  #follower: Follower | undefined;
  #nextMs = Number.NEGATIVE_INFINITY;
  #isRefused = false;

  constructor(deps: ReportCallsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#follower = follow({
      name: 'report direct calls',
      step: (signal) => this.#step(signal, callTimeoutMs),
      clock: this.#deps.clock,
      log: silentLog,
      idleMs: 60_000,
      backoff: { firstMs: 1_000, maxMs: 60_000 },
    });
  }

  /** There is something to send. */
  wake(): void {
    this.#follower?.wake();
  }

  /** The cloud can be reached again. */
  retry(): void {
    this.#follower?.retry();
  }

  /** Sends what it can within 2 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#follower?.[Symbol.asyncDispose]();
    const signal = AbortSignal.timeout(lastTryMs);
    try {
      while (await this.#step(signal, lastTryMs));
    } catch {
      // They stay in the journal.
    }
  }

  /** @returns whether there may be more */
  async #step(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    const { next, released, clock } = this.#deps;
    if (clock.monotonic() < this.#nextMs) return false;
    const records = next(maxBatch);
    if (records.length === 0) return false;
    try {
      await this.#sendAll(records, signal, timeoutMs);
      this.#isRefused = false;
      return true;
    } catch (caught) {
      if (signal.aborted) throw caught;
      const { code } = asPlatformError(caught);
      // A proxy without a cloud behind it may say so, too, but not in gRPC.
      if (code !== 'unimplemented' || !isAnswer(caught)) {
        this.#report(asPlatformError(caught));
        throw caught;
      }
      this.#deps.log.info('this cloud does not take records of direct calls; they wait on the disk');
      this.#nextMs = clock.monotonic() + unsupportedMs;
      return false;
    } finally {
      released();
    }
  }

  async #sendAll(records: readonly RecordedCalls[], signal: AbortSignal, timeoutMs: number): Promise<void> {
    const { done, log } = this.#deps;
    try {
      await this.#send(records, signal, timeoutMs);
      await done(records, false);
    } catch (caught) {
      const { code, message } = asPlatformError(caught);
      if (code !== 'invalid_argument' && code !== 'permission_denied') throw caught;
      const [first] = records;
      if (first === undefined) return;
      if (records.length > 1) {
        const half = Math.ceil(records.length / 2);
        await this.#sendAll(records.slice(0, half), signal, timeoutMs);
        await this.#sendAll(records.slice(half), signal, timeoutMs);
        return;
      }
      if (code === 'permission_denied' && (await this.#isDenied(signal, timeoutMs))) throw caught;
      const { caller, operation, resource } = first;
      log.error('the cloud does not accept the record of a direct call; it is given up', {
        ...{ caller, operation, resource, error: message },
      });
      await done(records, true);
    }
  }

  /** Whether the cloud takes no records of this machine at all. */
  async #isDenied(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    try {
      await this.#send([], signal, timeoutMs);
      return false;
    } catch (caught) {
      const { code } = asPlatformError(caught);
      if (code !== 'permission_denied' && code !== 'invalid_argument') throw caught;
      return code === 'permission_denied';
    }
  }

  async #send(records: readonly RecordedCalls[], signal: AbortSignal, timeoutMs: number): Promise<void> {
    const { link, partId, log, clock } = this.#deps;
    const took = stopwatch(clock);
    await link.client(RelayService).reportCalls({ partId, calls: records.map(messageOf) }, { signal, timeoutMs });
    log.debug('reported direct calls to the cloud', { records: records.length, ...took() });
  }

  /** Logged once, until the cloud accepts records again. */
  #report({ code, message }: PlatformError): void {
    if (!refusals.has(code)) return;
    if (!this.#isRefused)
      this.#deps.log.warn(
        `the cloud does not accept the records of direct calls of this machine; they wait on the disk: ${message}`,
        { code },
      );
    this.#isRefused = true;
  }
}

function messageOf({ firstMs, lastMs, arguments: lastArguments, ...record }: RecordedCalls) {
  return {
    ...record,
    count: BigInt(record.count),
    first: timestampFromMs(firstMs),
    last: timestampFromMs(lastMs),
    lastArguments,
    path: record.path === 'webrtc' ? CallerPath.WEBRTC : CallerPath.DIRECT,
    dropped: BigInt(record.dropped),
  };
}
