/** AppService for logs: pages of a part's log, and its live tail. */
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidArgument } from '@platform/base';
import {
  type AppService,
  type GetRobotPartLogsRequest,
  LogOrder,
  LogOrderSchema,
} from '@platform/proto/platform/app/v1/app';
import type { Access } from '../../access/authorize.ts';
import type { CloudCall, CloudHandlers, Principal } from '../../access/principal.ts';
import { createLogFilter } from './filter.ts';
import { defaultPageLines, maxPageLines, recheckMs } from './limits.ts';
import { entryOf } from './line.ts';
import type { MachineLogs } from './logs.ts';

export interface LogHandlerDeps {
  readonly access: Access;
  readonly logs: Pick<MachineLogs, 'read' | 'tail'>;
  readonly clock: Clock;
  /** The current principal of the call. @throws unauthenticated */
  readonly recheck: (call: CloudCall) => Promise<Principal>;
}

export function logHandlers(deps: LogHandlerDeps): CloudHandlers<typeof AppService> {
  const { access, logs, clock, recheck } = deps;
  return {
    async getRobotPartLogs(request, call) {
      const { id, errorsOnly, filter, levels, limit, pageToken, source, userFacingOnly } = request;
      access.authorize(call.principal, 'part.read', id);
      const asked = Number(limit ?? 0n);
      const { entries, nextPageToken } = await logs.read({
        partId: id,
        matches: createLogFilter({ levels, errorsOnly, filter, source, userFacingOnly }),
        limit: asked > 0 ? Math.min(asked, maxPageLines) : defaultPageLines,
        signal: call.signal,
        ...(pageToken === undefined ? {} : { pageToken }),
        oldestFirst: isOldestFirst(request),
        ...timesOf(request, clock.now()),
        ...(call.deadline === undefined ? {} : { searchMs: (call.deadline - clock.now()) / 2 }),
      });
      return { logs: [...entries], nextPageToken };
    },

    async *tailRobotPartLogs({ id, errorsOnly, filter }, call) {
      access.authorize(call.principal, 'part.read', id);
      const matches = createLogFilter({ errorsOnly, filter });
      using tail = logs.tail(id, matches);
      let checkedMs = clock.monotonic();
      for (;;) {
        const lines = await tail.next(recheckMs, call.signal);
        if (clock.monotonic() - checkedMs >= recheckMs) {
          // This also detects that the part was deleted.
          access.authorize(await recheck(call), 'part.read', id);
          checkedMs = clock.monotonic();
        }
        if (lines.length > 0) yield { logs: lines.map(entryOf) };
      }
    },
  };
}

/** Truncates to the millisecond, as stored lines are found, so that adjacent intervals contain each line once. */
function millisecondOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + Math.floor(nanos / 1e6);
}

function isOldestFirst({ order = LogOrder.UNSPECIFIED }: GetRobotPartLogsRequest): boolean {
  if (LogOrderSchema.value[order] === undefined) {
    throw invalidArgument(
      `GetRobotPartLogs: expected order LOG_ORDER_ASCENDING or LOG_ORDER_DESCENDING, found number ${order}`,
    );
  }
  return order === LogOrder.ASCENDING;
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `range` counts forward from `start`, back from `end`, or back from now. */
function timesOf({ start, end, range }: GetRobotPartLogsRequest, nowMs: number): { startMs?: number; endMs?: number } {
  const startMs = start && millisecondOf(start);
  const endMs = end && millisecondOf(end);
  if (range === undefined || range === '') {
    return { ...(startMs === undefined ? {} : { startMs }), ...(endMs === undefined ? {} : { endMs }) };
  }
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(range) ?? [];
  if (count === undefined) {
    throw invalidArgument(
      `GetRobotPartLogs: expected range as a number of minutes, hours or days, such as "10m", "10h" or "10d", found ${JSON.stringify(range.slice(0, 50))}`,
    );
  }
  if (startMs !== undefined && endMs !== undefined) {
    throw invalidArgument(
      `GetRobotPartLogs: expected range with start or with end, found both; leave out one of the three`,
    );
  }
  const rangeMs = Number(count) * (unitsMs[unit] ?? 0);
  if (startMs !== undefined) return { startMs, endMs: startMs + rangeMs };
  return { startMs: (endMs ?? nowMs) - rangeMs, endMs: endMs ?? nowMs };
}
