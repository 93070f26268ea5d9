/** How long the cloud keeps the readings of a series, in words. Pure. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';
import type { Series } from './series.ts';

export interface Retention {
  /** Days after the day of capture; undefined: until they are deleted. */
  readonly days: number | undefined;
  /** Of all readings of the resource together, in 10⁹ bytes; undefined: no limit. */
  readonly limitGb: number | undefined;
  /** Fragments may set other limits, which the part's own configuration does not show. */
  readonly hasFragments: boolean;
}

const dayMs = 86_400_000;

/** @param configuration of the part, as it was saved */
export function retentionOf(configuration: JsonObject, series: Pick<Series, 'type' | 'component'>): Retention {
  const resources = [...listOf(configuration['components']), ...listOf(configuration['services'])].map(objectOf);
  const own = resources.find((one) => one['name'] === series.component && lastOf(one) === lastWord(series.type));
  const policies = listOf(own?.['service_configs'])
    .map(objectOf)
    .filter((one) => /data_manager$/.test(String(one['type'])))
    .map((one) => objectOf(objectOf(one['attributes'])['retention_policy']));
  const days = [objectOf(configuration['data_retention_policy']), ...policies].flatMap((one) => wholeOf(one['days']));
  const limits = policies.flatMap((one) => wholeOf(one['tabular_limit_gb']));
  return {
    days: days.length === 0 ? undefined : Math.min(...days),
    limitGb: limits.length === 0 ? undefined : Math.min(...limits),
    hasFragments: listOf(configuration['fragments']).length > 0,
  };
}

/**
 * Such as "Deleted after 30 days; next: the day 2026-11-04 of press-7, on 2026-12-04."
 *
 * @param oldestDay of capture, as 2026-11-04; empty: nothing is stored
 */
export function retentionWords(retention: Retention, machine: string, oldestDay: string, nowMs: number): string {
  const { days, limitGb, hasFragments } = retention;
  const limit = limitGb === undefined ? '' : ` At most ${limitGb} GB are kept.`;
  const fragments = hasFragments ? ' A fragment of the machine may override this.' : '';
  if (days === undefined) return `Kept until someone deletes them.${limit}${fragments}`;
  return `Deleted after ${days} ${days === 1 ? 'day' : 'days'}${nextOf(days, machine, oldestDay, nowMs)}.${limit}${fragments}`;
}

function nextOf(days: number, machine: string, oldestDay: string, nowMs: number): string {
  const oldestMs = Date.parse(`${oldestDay}T00:00:00Z`);
  if (!Number.isFinite(oldestMs)) return '';
  const goesMs = oldestMs + days * dayMs;
  const overdue = Math.floor((nowMs - goesMs) / dayMs) + 1;
  if (overdue > 1) return `; next: ${overdue} days of ${machine}, now`;
  const when = overdue === 1 ? 'now' : `on ${new Date(goesMs).toISOString().slice(0, 10)} (UTC)`;
  return `; next: the day ${oldestDay} of ${machine}, ${when}`;
}

function lastOf(resource: JsonObject): string {
  return lastWord(String(resource['api'] ?? resource['type'] ?? ''));
}

function lastWord(api: string): string {
  return api.split(':').at(-1) ?? '';
}

function wholeOf(value: JsonValue | undefined): readonly number[] {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? [value] : [];
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
