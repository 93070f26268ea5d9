/** Reads and writes saved queries: those of the organization, which every member reads and owners write, and those of this browser. */
import type { JsonObject } from '@bufbuild/protobuf';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { clientOf } from '../api/clients.ts';
import { objectOf } from '../api/object-of.ts';
import { type SavedQuery, savedOf, withSaved } from './saved.ts';

export type SavedFor = 'organization' | 'me';

const app = clientOf(AppService);
const keyOf = (organizationId: string): string => `queries of ${organizationId}`;

/** @throws ConnectError */
export async function readSaved(
  organizationId: string,
  of: SavedFor,
  signal?: AbortSignal,
): Promise<readonly SavedQuery[]> {
  return savedOf(of === 'me' ? ownOf(organizationId) : await sharedOf(organizationId, signal));
}

/** Saves under a name, or (undefined) removes it; what others saved in the meantime stays. @throws ConnectError */
export async function writeSaved(
  organizationId: string,
  of: SavedFor,
  name: string,
  query: SavedQuery | undefined,
): Promise<void> {
  if (of === 'me') {
    localStorage.setItem(keyOf(organizationId), JSON.stringify(withSaved(ownOf(organizationId), name, query)));
    return;
  }
  const data = withSaved(await sharedOf(organizationId), name, query);
  await app.updateOrganizationMetadata({ organizationId, data });
}

async function sharedOf(organizationId: string, signal?: AbortSignal): Promise<JsonObject> {
  return (await app.getOrganizationMetadata({ organizationId }, signal && { signal })).data ?? {};
}

function ownOf(organizationId: string): JsonObject {
  try {
    return objectOf(JSON.parse(localStorage.getItem(keyOf(organizationId)) ?? '{}'));
  } catch {
    return {};
  }
}
