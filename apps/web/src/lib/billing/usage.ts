/** Usage of the month by type, in readable units. */
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import type { UsageRecord } from '@platform/proto/platform/billing/v1/billing';
import { bytesText } from '../ui/bytes.ts';

export interface UsageOfType {
  readonly name: string;
  readonly quantity: string;
}

/** Totals by type, sorted by name. */
export function usageByType(records: readonly Pick<UsageRecord, 'type' | 'quantity'>[]): readonly UsageOfType[] {
  const totals = new Map<UsageCostType, bigint>();
  for (const { type, quantity } of records) totals.set(type, (totals.get(type) ?? 0n) + quantity);
  return [...totals]
    .map(([type, total]) => ({ name: nameOf(type), quantity: quantityText(type, Number(total)) }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

function keyOf(type: UsageCostType): string {
  return Object.entries(UsageCostType).find(([, value]) => value === type)?.[0] ?? 'UNKNOWN';
}

export function nameOf(type: UsageCostType): string {
  const words = keyOf(type).toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function quantityText(type: UsageCostType, total: number): string {
  const name = keyOf(type);
  const format = (value: number, unit: string): string =>
    `${value.toLocaleString(undefined, { maximumFractionDigits: 2 })} ${unit}${value === 1 ? '' : 's'}`;
  if (name.endsWith('STORAGE')) return `${bytesText(total)}-hours`;
  if (/UPLOAD|EGRESS|COMPUTE|REMOTE_CONTROL/.test(name)) return bytesText(total);
  if (name === 'PER_MACHINE') return format(total, 'machine-hour');
  return format(total, name === 'TRIGGER_NOTIFICATION' ? 'notification' : 'unit');
}
