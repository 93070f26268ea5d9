/** What the audit trail says about calls that went directly. */
import { openCloud } from '@platform/sdk/cloud';
import type { CloudUnderFire } from '../../crash/cloud-under-load.ts';

export interface AuditedCalls {
  /** Calls by resource. */
  readonly counts: ReadonlyMap<string, number>;
  readonly records: number;
  /** Records that the machine had no space for. */
  readonly dropped: number;
}

/** @param action such as `MotorService.SetPower` */
export async function auditedCalls(
  { url, demo }: CloudUnderFire,
  owner: { readonly keyId: string; readonly key: string },
  action: string,
): Promise<AuditedCalls> {
  await using cloud = openCloud({ url, ...owner });
  const counts = new Map<string, number>();
  let [records, dropped] = [0, 0];
  for (let pageToken = ''; ; ) {
    const page = await cloud.fleet.listAuditEntries({
      ...{ organizationId: demo.organizationId, targetId: demo.partId, pageLimit: 1_000, pageToken },
    });
    for (const entry of page.entries.filter((each) => each.action === action)) {
      const detail = JSON.parse(entry.detail) as { resource: string; path: string; count: number; dropped?: number };
      if (detail.path !== 'webrtc') continue;
      counts.set(detail.resource, (counts.get(detail.resource) ?? 0) + detail.count);
      records++;
      dropped += detail.dropped ?? 0;
    }
    if (page.nextPageToken === '') return { counts, records, dropped };
    pageToken = page.nextPageToken;
  }
}
