/** The log half of AppService: pages of a part's log, and its live tail. */
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@platform/base';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { Call, Handlers } from '@platform/rpc/server';
import type { Access } from '../../access/authorize.ts';
import type { Principal } from '../../access/principal.ts';
import { createLogFilter } from './filter.ts';
import { defaultPageLines, maxPageLines, recheckMs } from './limits.ts';
import { entryOf } from './line.ts';
import type { MachineLogs } from './logs.ts';

export interface LogHandlerDeps {
  readonly access: Access;
  readonly logs: Pick<MachineLogs, 'read' | 'tail'>;
  readonly clock: Clock;
  /** Who calls, as of now. @throws unauthenticated */
  readonly recheck: (call: Call<Principal>) => Promise<Principal>;
}

export function logHandlers(deps: LogHandlerDeps): Handlers<typeof AppService, Principal> {
  const { access, logs, clock, recheck } = deps;
  return {
    async getRobotPartLogs(request, call) {
      const { id, errorsOnly, filter, levels, limit, pageToken, source, userFacingOnly, start, end } = request;
      access.authorize(call.principal, 'part.read', id);
      const asked = Number(limit ?? 0n);
      const { entries, nextPageToken } = await logs.read({
        partId: id,
        matches: createLogFilter({
          levels,
          errorsOnly,
          ...(filter === undefined ? {} : { filter }),
          ...(source === undefined ? {} : { source }),
          ...(userFacingOnly === undefined ? {} : { userFacingOnly }),
        }),
        limit: asked > 0 ? Math.min(asked, maxPageLines) : defaultPageLines,
        signal: call.signal,
        ...(pageToken === undefined ? {} : { pageToken }),
        ...(start === undefined ? {} : { startMs: millisecondOf(start) }),
        ...(end === undefined ? {} : { endMs: millisecondOf(end) }),
      });
      return { logs: [...entries], nextPageToken };
    },

    async *tailRobotPartLogs({ id, errorsOnly, filter }, call) {
      access.authorize(call.principal, 'part.read', id);
      const matches = createLogFilter({ errorsOnly, ...(filter === undefined ? {} : { filter }) });
      using tail = logs.tail(id, matches);
      let checkedMs = clock.monotonic();
      for (;;) {
        const lines = await tail.next(recheckMs, call.signal);
        if (clock.monotonic() - checkedMs >= recheckMs) {
          // Also what tells that the part is gone.
          access.authorize(await recheck(call), 'part.read', id);
          checkedMs = clock.monotonic();
        }
        if (lines.length > 0) yield { logs: lines.map(entryOf) };
      }
    },
  };
}

/** Lines are found by the millisecond in which their time lies, so that intervals that touch hold each once. */
function millisecondOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + Math.floor(nanos / 1e6);
}
