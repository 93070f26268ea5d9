import type { JsonObject } from '@bufbuild/protobuf';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { clientOf } from '../api/clients.ts';

/** The saved configurations of parts, by part; a part that was deleted, or that the person may not see, is left out. */
export async function configurationsOf(
  partIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, JsonObject>> {
  const fleet = clientOf(FleetService);
  const found = await Promise.all(
    partIds.map(async (partId) => {
      const answer = await fleet.getConfigurationVersion({ partId }, { signal }).catch(() => undefined);
      return answer === undefined ? [] : [[partId, JSON.parse(answer.document || '{}') as JsonObject] as const];
    }),
  );
  return new Map(found.flat());
}
