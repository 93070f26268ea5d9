/** The log half of AppService: pages of a part's log, and its live tail. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { Handlers } from '@platform/rpc/server';
import type { Access } from '../access/authorize.ts';
import type { Principal } from '../access/principal.ts';
import type { MachineLogs } from './logs.ts';

const defaultLogLines = 100;
const maxLogLines = 1_000;

export interface LogHandlerDeps {
  readonly access: Access;
  readonly logs: MachineLogs;
}

export function logHandlers(deps: LogHandlerDeps): Handlers<typeof AppService, Principal> {
  const { access, logs } = deps;
  return {
    async getRobotPartLogs(request, call) {
      access.authorize(call.principal, 'part.read', request.id);
      const asked = Number(request.limit ?? 0n);
      const limit = asked > 0 ? Math.min(asked, maxLogLines) : defaultLogLines;
      const before =
        request.pageToken === undefined || request.pageToken === '' ? undefined : Number(request.pageToken);
      if (before !== undefined && !Number.isSafeInteger(before)) {
        throw new PlatformError(
          'invalid_argument',
          `GetRobotPartLogs: expected the page token of an earlier answer, found ${JSON.stringify(request.pageToken)}`,
        );
      }
      const lines = await logs.read(request.id, {
        levels: request.levels.map((level) => level.toLowerCase()),
        filter: request.filter ?? '',
        limit,
        ...(before === undefined ? {} : { beforeId: before }),
        ...(request.start === undefined ? {} : { startMs: timestampMs(request.start) }),
        ...(request.end === undefined ? {} : { endMs: timestampMs(request.end) }),
      });
      const last = lines.at(-1);
      return {
        logs: lines.map((line) => line.entry),
        nextPageToken: lines.length === limit && last !== undefined ? String(last.id) : '',
      };
    },
  };
}
