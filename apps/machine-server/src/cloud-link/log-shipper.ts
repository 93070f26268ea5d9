/** Sends log lines to the cloud: a bounded queue, batches of at most 100, at least a second apart while the cloud refuses them. Dropped lines are counted. */
import { hostname } from 'node:os';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, type Follower, follow, type LogLine, silentLog, zapFields } from '@platform/base';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { type LogEntry, LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import type { Link } from '@platform/rpc/client';

const maxQueued = 1_000;
const maxBatch = 100;
const callTimeoutMs = 4_000;
const lastTryMs = 1_000;

export interface LogShipperDeps {
  readonly link: Link;
  readonly partId: string;
  readonly clock: Clock;
}

export class LogShipper implements AsyncDisposable {
  readonly #deps: LogShipperDeps;
  readonly #queue: LogLine[] = [];
  readonly #host = hostname();
  #dropped = 0;
  #follower: Follower | undefined;

  constructor(deps: LogShipperDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#follower = follow({
      name: 'ship logs',
      step: (signal) => this.#send(signal, callTimeoutMs),
      clock: this.#deps.clock,
      log: silentLog,
      idleMs: 1_000,
      backoff: { firstMs: 1_000, maxMs: 30_000 },
    });
  }

  add(line: LogLine): void {
    if (this.#queue.length >= maxQueued) {
      this.#queue.shift();
      this.#dropped++;
    }
    this.#queue.push(line);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#follower?.[Symbol.asyncDispose]();
    await this.#send(AbortSignal.timeout(lastTryMs), lastTryMs).catch(() => {});
  }

  async #send(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    const { link, partId, clock } = this.#deps;
    const batch = this.#queue.slice(0, maxBatch);
    if (batch.length === 0) return false;
    const lost = this.#dropped;
    const logs = batch.map((line) => entryOf(line, this.#host));
    if (lost > 0) {
      const message = `${lost} log lines were dropped while the cloud was unreachable; the local log of the machine has them`;
      const timeMs = batch[0]?.timeMs ?? clock.now();
      logs.unshift(entryOf({ timeMs, level: 'warn', logger: 'cloud-link', message, fields: {} }, this.#host));
    }
    await link.client(RobotService).log({ id: partId, logs }, { signal, timeoutMs });
    // Lines dropped during the call are counted even if they arrived: at worst, the count is too high.
    this.#queue.splice(0, batch.length);
    this.#dropped -= lost;
    return this.#queue.length > 0;
  }
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
