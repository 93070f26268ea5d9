/** TriggerService: the history of triggers. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type TriggerHistoryEntrySchema,
  TriggerOutcome,
  TriggerOutcomeSchema,
  type TriggerService,
} from '@platform/proto/platform/app/v1/triggers';
import type { CloudHandlers } from '../access/principal.ts';
import { type HistoryKey, type HistoryRow, listHistory } from '../triggers/history/list-history.ts';
import type { HistoryOutcome } from '../triggers/history/trigger-history.ts';
import type { TriggersDatabase } from '../triggers/store.ts';
import { badPageToken, namesOf, timeRange } from './request-fields.ts';
import { readScope, type ScopeDeps } from './scope.ts';

export interface HistoryRpcDeps extends ScopeDeps {
  readonly db: TriggersDatabase;
}

const defaultEntries = 100;
const maxEntries = 1_000;

const outcomes: Readonly<Record<HistoryOutcome, TriggerOutcome>> = {
  fired: TriggerOutcome.FIRED,
  recovered: TriggerOutcome.RECOVERED,
  failed: TriggerOutcome.FAILED,
};

export function historyHandlers(deps: HistoryRpcDeps): CloudHandlers<typeof TriggerService> {
  return {
    async getTriggerHistory(request, call) {
      const scope = readScope(deps, call.principal, request.scope, 'GetTriggerHistory');
      const limit = Math.min(request.limit || defaultEntries, maxEntries);
      const { triggerName } = request;
      const wanted = namesOf('GetTriggerHistory', 'outcomes', request.outcomes, outcomes, TriggerOutcomeSchema);
      const filter = {
        ...scope,
        ...(triggerName !== '' && { triggerName }),
        ...(wanted.length > 0 && { outcomes: wanted }),
        ...timeRange(request),
      };
      const found = await listHistory(deps.db, filter, limit + 1, readToken(request.pageToken));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        entries: page.map(entryMessage),
        nextPageToken: found.length > limit && last !== undefined ? `${last.minute}.${last.id}` : '',
      };
    },
  };
}

function entryMessage(row: HistoryRow): MessageInitShape<typeof TriggerHistoryEntrySchema> {
  return {
    ...{ partId: row.part_id, triggerName: row.trigger_name, subject: row.subject, reason: row.reason },
    ...{ outcome: outcomes[row.outcome], minute: timestampFromMs(row.minute), lastAt: timestampFromMs(row.last_at) },
    ...{ count: BigInt(row.count), sent: BigInt(row.sent) },
    suppressedByInterval: BigInt(row.suppressed_by_interval),
    suppressedAsNotTold: BigInt(row.suppressed_as_not_told),
  };
}

function readToken(text: string): HistoryKey | undefined {
  if (text === '') return undefined;
  const [, minute, id] = /^(\d{1,16})\.([0-9a-f]{32})$/.exec(text) ?? [];
  if (minute !== undefined && id !== undefined) return { minute: Number(minute), id };
  throw badPageToken('GetTriggerHistory', text);
}
