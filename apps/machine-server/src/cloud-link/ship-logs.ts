/** Log lines to the cloud: a bounded queue, batches of at most 100, at least a second apart while the cloud refuses. What does not fit is counted. */
import { hostname } from 'node:os';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, type Follower, follow, silentLog } from '@platform/base';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import type { Link } from '@platform/rpc/client';
import type { LogLine } from '../logging/server-log.ts';

export interface LogShipper extends AsyncDisposable {
  add(line: LogLine): void;
}

const maxQueued = 1_000;
const maxBatch = 100;
const callTimeoutMs = 4_000;
const lastTryMs = 1_000;

export function shipLogs(link: Link, partId: string, clock: Clock): LogShipper {
  const queue: LogLine[] = [];
  const host = hostname();
  let dropped = 0;
  const send = async (signal: AbortSignal, timeoutMs = callTimeoutMs): Promise<boolean> => {
    const batch = queue.slice(0, maxBatch);
    if (batch.length === 0) return false;
    const lost = dropped;
    const logs = batch.map((line) => entryOf(line, host));
    if (lost > 0) {
      const message = `${lost} log lines did not fit while the cloud was away; the machine's own log has them`;
      logs.unshift(
        entryOf(
          { timeMs: batch[0]?.timeMs ?? clock.now(), level: 'warn', logger: 'cloud-link', message, fields: {} },
          host,
        ),
      );
    }
    await link.client(RobotService).log({ id: partId, logs }, { signal, timeoutMs });
    // Lines that were pushed out during the call were counted although they have arrived: at worst the count is too high.
    queue.splice(0, batch.length);
    dropped -= lost;
    return queue.length > 0;
  };
  const follower: Follower = follow({
    name: 'ship logs',
    step: (signal) => send(signal),
    clock,
    log: silentLog,
    idleMs: 1_000,
    backoff: { firstMs: 1_000, maxMs: 30_000 },
  });
  return {
    add(line) {
      if (queue.length >= maxQueued) {
        queue.shift();
        dropped++;
      }
      queue.push(line);
    },
    async [Symbol.asyncDispose]() {
      await follower[Symbol.asyncDispose]();
      await send(AbortSignal.timeout(lastTryMs), lastTryMs).catch(() => {});
    },
  };
}

function entryOf(line: LogLine, host: string): ReturnType<typeof create<typeof LogEntrySchema>> {
  const fields = Object.entries(line.fields).map(
    ([key, value]): JsonObject => ({
      [key]:
        value === undefined
          ? null
          : typeof value === 'object' || typeof value === 'bigint'
            ? String(JSON.stringify(value, (_k, v: unknown) => (typeof v === 'bigint' ? Number(v) : v)))
            : (value as string),
    }),
  );
  return create(LogEntrySchema, {
    host,
    level: line.level,
    time: timestampFromMs(line.timeMs),
    loggerName: line.logger,
    message: line.message,
    fields,
  });
}
