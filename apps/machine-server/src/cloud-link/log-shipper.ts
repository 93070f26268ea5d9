/**
 * Sends the lines of the queue to the cloud, in order, in calls of at most 100 lines. The effect of the answer:
 *
 * - accepted: the lines leave the queue;
 * - no answer, or a fault of the cloud: the same lines again, under the same numbers, after 1 s to 30 s;
 * - INVALID_ARGUMENT, or RESOURCE_EXHAUSTED several times in a row: the call is divided until the refused line is alone; a short line
 *   replaces it, so that the others get through;
 * - refused as a whole (PERMISSION_DENIED and others): the lines stay in the queue, the log says so once, and they are sent later.
 *
 * The header `platform-log-position` has the queue's stream and the number of the first line; by these the cloud recognises repeated lines.
 */
import { hostname } from 'node:os';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  asPlatformError,
  type Clock,
  type CodeName,
  type Follower,
  fieldText,
  follow,
  type Log,
  type LogLine,
  silentLog,
  zapFields,
} from '@platform/base';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { type LogEntry, LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import type { Link } from '@platform/rpc/client';
import type { LogQueue } from '../logging/log-queue.ts';
import type { QueuedLine } from '../logging/queue-file.ts';

const maxBatch = 100;
const callTimeoutMs = 4_000;
const lastTryMs = 1_000;
/** Lines from within this time are sent together. */
const gatherMs = 100;
/** After this many refusals in a row, the reason is not a full cloud. */
const maxExhausted = 5;
/**
 * Below the cloud's limit (9,000 lines and 4.5 MiB a minute), so that it does not drop the lines of an offline week. A long line counts as
 * several.
 */
const burstLines = 4_000;
const linesPerSecond = 100;
const bytesOfLine = 480;

export interface LogShipperDeps {
  readonly link: Pick<Link, 'client'>;
  readonly partId: string;
  readonly queue: Pick<LogQueue, 'next' | 'done' | 'release' | 'stream'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Codes of refusals, which a short wait may not resolve. */
const refusals: ReadonlySet<CodeName> = new Set([
  ...(['permission_denied', 'unauthenticated', 'unimplemented', 'not_found'] as const),
  ...(['failed_precondition', 'invalid_argument', 'resource_exhausted'] as const),
]);

export class LogShipper implements AsyncDisposable {
  readonly #deps: LogShipperDeps;
  readonly #host = hostname();
  #follower: Follower | undefined;
  #gathering: Disposable | undefined;
  #exhausted = 0;
  #isRefused = false;
  #lines = burstLines;
  #countedMs: number;

  constructor(deps: LogShipperDeps) {
    this.#deps = deps;
    this.#countedMs = deps.clock.monotonic();
  }

  start(): void {
    this.#follower = follow({
      name: 'ship logs',
      step: (signal) => this.#send(signal, callTimeoutMs),
      clock: this.#deps.clock,
      log: silentLog,
      idleMs: 10_000,
      backoff: { firstMs: 1_000, maxMs: 30_000 },
    });
  }

  /** Signals that there is a line in the queue. */
  wake(): void {
    this.#gathering ??= this.#deps.clock.after(gatherMs, () => {
      this.#gathering = undefined;
      this.#follower?.wake();
    });
  }

  /** The cloud can be reached again. */
  retry(): void {
    this.#follower?.retry();
  }

  /** Sends what it can within a second; the rest stays in the queue. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#gathering?.[Symbol.dispose]();
    await this.#follower?.[Symbol.asyncDispose]();
    const signal = AbortSignal.timeout(lastTryMs);
    try {
      while (await this.#send(signal, lastTryMs));
    } catch {
      // The unsent lines stay in the queue.
    }
  }

  /** @returns whether there may be more */
  async #send(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    const { queue, clock } = this.#deps;
    const wait = this.#waitMs();
    if (wait > 0) await clock.sleep(wait, signal);
    const lines = await queue.next(maxBatch);
    if (lines === undefined) return false;
    try {
      await this.#sendLines(lines, signal, timeoutMs);
      this.#isRefused = false;
      return true;
    } catch (caught) {
      if (!signal.aborted) this.#report(caught);
      throw caught;
    } finally {
      queue.release();
    }
  }

  async #sendLines(lines: readonly QueuedLine[], signal: AbortSignal, timeoutMs: number): Promise<void> {
    try {
      await this.#call(lines, signal, timeoutMs);
      this.#exhausted = 0;
    } catch (caught) {
      const { code, message } = asPlatformError(caught);
      if (code === 'resource_exhausted') this.#exhausted++;
      if (code !== 'invalid_argument' && !(code === 'resource_exhausted' && this.#exhausted >= maxExhausted))
        throw caught;
      const [first] = lines;
      if (lines.length > 1) {
        const half = Math.ceil(lines.length / 2);
        await this.#sendLines(lines.slice(0, half), signal, timeoutMs);
        await this.#sendLines(lines.slice(half), signal, timeoutMs);
      } else if (first !== undefined) {
        // If the cloud also refuses this one, the line is not the reason.
        await this.#call([{ number: first.number, line: refusedLine(first.line, message) }], signal, timeoutMs);
      }
    }
  }

  async #call(lines: readonly QueuedLine[], signal: AbortSignal, timeoutMs: number): Promise<void> {
    const { link, partId, queue } = this.#deps;
    const logs = lines.map(({ line }) => entryOf(line, this.#host));
    const headers = { 'platform-log-position': `${queue.stream} ${lines[0]?.number}` };
    await link.client(RobotService).log({ id: partId, logs }, { signal, timeoutMs, headers });
    for (const { line } of lines) this.#lines -= Math.max(1, sizeOf(line) / bytesOfLine);
    await queue.done(lines.at(-1)?.number ?? 0);
  }

  /** Logged once, until the cloud accepts lines again. */
  #report(caught: unknown): void {
    const { code, message } = asPlatformError(caught);
    if (!refusals.has(code) || (code === 'resource_exhausted' && this.#exhausted < maxExhausted)) return;
    if (!this.#isRefused)
      this.#deps.log.warn(
        `the cloud does not accept the log of this machine; the lines wait in the queue: ${message}`,
        {
          code,
        },
      );
    this.#isRefused = true;
  }

  #waitMs(): number {
    const nowMs = this.#deps.clock.monotonic();
    this.#lines = Math.min(burstLines, this.#lines + ((nowMs - this.#countedMs) / 1_000) * linesPerSecond);
    this.#countedMs = nowMs;
    return this.#lines >= 1 ? 0 : ((1 - this.#lines) / linesPerSecond) * 1_000;
  }
}

function sizeOf({ message, fields }: LogLine): number {
  return message.length + fieldText(fields).length;
}

function refusedLine({ timeMs, logger }: LogLine, reason: string): LogLine {
  const message = `the cloud did not accept a line of the logger "${logger}" (${reason.slice(0, 200)})`;
  return { timeMs, level: 'warn', logger: 'cloud-link', message, fields: {} };
}

function entryOf(line: LogLine, host: string): LogEntry {
  return create(LogEntrySchema, {
    host,
    level: line.level,
    time: timestampFromMs(line.timeMs),
    loggerName: line.logger,
    message: line.message,
    fields: zapFields(line.fields) as unknown as JsonObject[],
  });
}
