/** What an upload adds to the meter: bytes of its readings as sent, or of its picture or file. */

import { getOrInsert } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { openUpload } from '../../reading-codec/open-upload.ts';
import { hourOf } from '../month.ts';
import type { BillingTables } from '../store.ts';

export interface CountedUpload {
  readonly organizationId: string;
  readonly locationId: string;
  /** When the cloud accepted it. */
  readonly syncedMs: number;
  readonly type: UsageCostType;
  readonly bytes: number;
}

/** Decodes no readings. @param batch LoggedUpload. @throws data_loss when it is not one */
export function countUpload(batch: Uint8Array): CountedUpload {
  const upload = openUpload(batch);
  const { place, timeSynced, blob, readingCount } = upload;
  let readingBytes = 0;
  for (let index = 0; index < readingCount; index++)
    readingBytes += upload.readingEnd(index) - upload.readingStart(index);
  return {
    organizationId: place?.organizationId ?? '',
    locationId: place?.locationId ?? '',
    syncedMs: Number(timeSynced?.seconds ?? 0n) * 1_000 + Math.floor((timeSynced?.nanos ?? 0) / 1e6),
    ...(blob === undefined
      ? { type: UsageCostType.TABULAR_DATA_UPLOAD, bytes: readingBytes }
      : { type: UsageCostType.BINARY_DATA_UPLOAD, bytes: Number(blob.sizeBytes) }),
  };
}

export type HourlyUsage = BillingTables['usage_hours'];

/** Sums by location, hour and type. */
export class UploadSums {
  readonly #sums = new Map<string, LocationHour>();

  add({ organizationId, locationId, syncedMs, type, bytes }: CountedUpload): void {
    const hour = hourOf(syncedMs);
    const key = `${organizationId} ${locationId} ${hour} ${type}`;
    const none = () => ({ organizationId, locationId, hour, type, quantity: 0 });
    getOrInsert(this.#sums, key, none).quantity += bytes;
  }

  rows(): readonly LocationHour[] {
    return [...this.#sums.values()];
  }
}

interface LocationHour {
  readonly organizationId: string;
  readonly locationId: string;
  /** Start of the hour, wall ms. */
  readonly hour: number;
  readonly type: UsageCostType;
  quantity: number;
}

/** Sums by payer, hour and type. */
export class UsageSums {
  readonly #sums = new Map<string, HourlyUsage>();

  add(organizationId: string, ms: number, type: UsageCostType, quantity: number): void {
    const hour = hourOf(ms);
    const key = `${organizationId} ${hour} ${type}`;
    const none = () => ({ organization_id: organizationId, hour, type, quantity: 0 });
    getOrInsert(this.#sums, key, none).quantity += quantity;
  }

  rows(): HourlyUsage[] {
    return [...this.#sums.values()].filter(({ quantity }) => quantity > 0);
  }
}
