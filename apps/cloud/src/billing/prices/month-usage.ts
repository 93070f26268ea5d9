/** The usage of an organization in a month, at its prices. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type GetCurrentMonthUsageResponseSchema,
  SourceType,
  type UsageCost,
  UsageCostType,
} from '@platform/proto/platform/app/v1/billing';
import { readTotals, type UsageReader } from '../meter/read-usage.ts';
import { wireOfMinor } from '../money/wire-amount.ts';
import { type Month, nextHourOf } from '../month.ts';
import { type BilledAs, requireInArrears } from './accounts.ts';
import { type Rated, rate } from './rate.ts';

/** @throws failed_precondition unless it is billed in arrears */
export async function rateMonth(
  reader: UsageReader,
  organizationId: string,
  given: BilledAs | undefined,
  month: Month,
): Promise<{ readonly billed: BilledAs; readonly rated: Rated }> {
  const billed = requireInArrears(given, organizationId);
  // Usage is counted by the hour; the hour in which billing began is not charged.
  const usage = await readTotals(reader, nextHourOf(billed.fromMs), month.endMs, organizationId);
  return { billed, rated: rate(usage, billed.rates, billed.list.list.currency, month.hours) };
}

/** The answer of GetCurrentMonthUsage, with the fields that older clients read. */
export function monthUsage(
  month: Month,
  { list, tier }: Pick<BilledAs, 'list' | 'tier'>,
  { lines, subtotal, beforeDiscount, discount }: Rated,
): MessageInitShape<typeof GetCurrentMonthUsageResponseSchema> {
  const { currency } = list.list;
  const wire = (minor: bigint): number => wireOfMinor(minor, currency);
  const byType = new Map<UsageCostType, bigint>();
  for (const { kind, type, minor } of lines) if (kind === 'usage') byType.set(type, (byType.get(type) ?? 0n) + minor);
  const sumOf = (...types: readonly UsageCostType[]): number =>
    wire(types.reduce((sum, type) => sum + (byType.get(type) ?? 0n), 0n));
  const {
    PER_MACHINE,
    TABULAR_DATA_UPLOAD,
    BINARY_DATA_UPLOAD,
    LOGS_UPLOAD,
    TABULAR_DATA_CLOUD_STORAGE,
    BINARY_DATA_CLOUD_STORAGE,
    LOGS_CLOUD_STORAGE,
    PACKAGES_CLOUD_STORAGE,
  } = UsageCostType;
  const otherStorage = [TABULAR_DATA_CLOUD_STORAGE, LOGS_CLOUD_STORAGE, PACKAGES_CLOUD_STORAGE];
  return {
    startDate: timestampFromMs(month.startMs),
    endDate: timestampFromMs(month.endMs),
    subtotal: wire(subtotal),
    currency: currency.code,
    resourceUsageCostsBySource: [
      {
        sourceType: SourceType.ORG,
        tierName: tier,
        resourceUsageCosts: {
          usageCosts: [...byType].map(([resourceType, minor]): Pick<UsageCost, 'resourceType' | 'cost'> => {
            return { resourceType, cost: wire(minor) };
          }),
          discount: wire(discount),
          totalWithDiscount: wire(beforeDiscount - discount),
          totalWithoutDiscount: wire(beforeDiscount),
        },
      },
    ],
    cloudStorageUsageCost: sumOf(BINARY_DATA_CLOUD_STORAGE, ...otherStorage),
    dataUploadUsageCost: sumOf(TABULAR_DATA_UPLOAD, BINARY_DATA_UPLOAD, LOGS_UPLOAD),
    discountAmount: wire(discount),
    totalUsageWithDiscount: wire(beforeDiscount - discount),
    totalUsageWithoutDiscount: wire(beforeDiscount),
    perMachineUsageCost: sumOf(PER_MACHINE),
    binaryDataCloudStorageUsageCost: sumOf(BINARY_DATA_CLOUD_STORAGE),
    otherCloudStorageUsageCost: sumOf(...otherStorage),
  };
}
