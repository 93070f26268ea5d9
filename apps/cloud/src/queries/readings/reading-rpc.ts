/** The DataService operations for readings themselves. */
import type { Clock } from '@platform/base';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import type { Scope } from '@platform/query';
import { type CloudCall, type CloudHandlers, grantsOf } from '../../access/principal.ts';
import type { QueriesDeps } from '../queries-deps.ts';
import { createAsker } from './ask-rows.ts';
import { deleteReadings } from './delete-readings.ts';
import { exportReadings } from './export-readings.ts';
import { findReadings } from './find-readings.ts';
import { intervalOf } from './interval.ts';
import { nonFiniteFor } from './json-of-bson.ts';
import { latestReading } from './latest-reading.ts';
import { scopeOfPart } from './method-key.ts';

/** How often an export checks that its reader is still authorized (R16: within 5 s, of which the principal cache takes 2). */
const recheckMs = 2_000;

const scannedHeader = 'platform-scanned-bytes';

interface ReadingDeps extends QueriesDeps {
  /** Called with the organization after readings were deleted, even if the caller gets an error. */
  readonly onDeleted: (organizationId: string) => void;
}

export function readingHandlers(deps: ReadingDeps): CloudHandlers<typeof DataService> {
  const { access, names, recheck, clock } = deps;
  return {
    async tabularDataByFilter(request, call) {
      const scopes = scopesOf(deps, call, request.dataRequest?.filter?.organizationIds ?? []);
      const asker = createAsker(deps, call.signal);
      const answer = await findReadings(asker.ask, request, scopes, names, nonFiniteFor(call.metadata));
      call.responseHeaders.set(scannedHeader, String(asker.scannedBytes));
      return answer;
    },

    async *exportTabularData(request, call) {
      const scope = scopeOfPart(access, call.principal, request.partId);
      const asker = createAsker(deps, call.signal);
      const mayStill = everyFewSeconds(clock, async () => scopeOfPart(access, await recheck(call), request.partId));
      const interval = intervalOf(request.interval);
      const nonFinite = nonFiniteFor(call.metadata);
      for await (const reading of exportReadings(asker.ask, scope, request, interval, names, nonFinite)) {
        await mayStill();
        yield reading;
      }
      call.responseTrailers.set(scannedHeader, String(asker.scannedBytes));
    },

    async getLatestTabularData(request, call) {
      const scope = scopeOfPart(access, call.principal, request.partId);
      const asker = createAsker(deps, call.signal);
      const answer = await latestReading(asker.ask, scope, request, nonFiniteFor(call.metadata));
      call.responseHeaders.set(scannedHeader, String(asker.scannedBytes));
      return answer;
    },

    async deleteTabularData(request, call) {
      access.authorize(call.principal, 'organization.manage', request.organizationId);
      try {
        return { deletedCount: BigInt(await deleteReadings(deps, request, call)) };
      } finally {
        deps.onDeleted(request.organizationId);
      }
    },
  };
}

/** What the caller may read in the named organizations, or in all in which they have a role. Foreign organizations are ignored. */
function scopesOf({ access }: QueriesDeps, { principal }: CloudCall, named: readonly string[]): Scope[] {
  const own = new Set(grantsOf(principal).map(({ organizationId }) => organizationId));
  const asked = named.length === 0 ? [...own] : [...new Set(named)].filter((id) => own.has(id));
  return asked.toSorted().map((id) => access.scopeIn(principal, id));
}

function everyFewSeconds(clock: Clock, check: () => Promise<unknown>): () => Promise<void> {
  let checkedMs = clock.monotonic();
  return async () => {
    if (clock.monotonic() - checkedMs < recheckMs) return;
    await check();
    checkedMs = clock.monotonic();
  };
}
