/**
 * Every usage type of the wire: what is counted, in which unit, and in which unit prices are given. Documented in docs/specs/billing.md.
 */
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';

export type UsageUnit = 'bytes' | 'byte-hours' | 'machine-hours' | 'notifications';

/** Types that the platform causes and measures. */
const measured = {
  PER_MACHINE: 'machine-hours',
  TRIGGER_NOTIFICATION: 'notifications',
  TABULAR_DATA_UPLOAD: 'bytes',
  BINARY_DATA_UPLOAD: 'bytes',
  LOGS_UPLOAD: 'bytes',
  TABULAR_DATA_CLOUD_STORAGE: 'byte-hours',
  BINARY_DATA_CLOUD_STORAGE: 'byte-hours',
  LOGS_CLOUD_STORAGE: 'byte-hours',
  PACKAGES_CLOUD_STORAGE: 'byte-hours',
  TABULAR_DATA_EGRESS: 'bytes',
  BINARY_DATA_EGRESS: 'bytes',
  LOGS_EGRESS: 'bytes',
  TABULAR_DATA_DATABASE_COMPUTE: 'bytes',
  REMOTE_CONTROL: 'bytes',
  CONFIG_HISTORY_CLOUD_STORAGE: 'byte-hours',
} as const;

export type UsageName = keyof typeof measured;

export const usageNames: readonly UsageName[] = Object.keys(measured) as UsageName[];

export function unitOf(type: UsageCostType): UsageUnit | undefined {
  const name = nameOf(type);
  return name === undefined ? undefined : measured[name];
}

/** Undefined: the platform does not measure it. */
export function nameOf(type: UsageCostType): UsageName | undefined {
  return usageNames.find((name) => UsageCostType[name] === type);
}

export interface PriceUnit {
  readonly name: string;
  /** Size in units of the meter, in a month of this many hours. */
  readonly size: (hoursOfMonth: bigint) => bigint;
}

/** Decimal gigabytes, as in all limits of the platform (D24). */
const gigabyte = 1_000_000_000n;

export const priceUnits: Readonly<Record<UsageUnit, PriceUnit>> = {
  bytes: { name: 'GB', size: () => gigabyte },
  'byte-hours': { name: 'GB-month', size: (hours) => gigabyte * hours },
  'machine-hours': { name: 'machine-month', size: (hours) => hours },
  notifications: { name: 'notification', size: () => 1n },
};
