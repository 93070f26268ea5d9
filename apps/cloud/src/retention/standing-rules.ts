/**
 * Combines the policies of all parts of an organization into few rules. Parts with the same policies share a rule, as in most fleets of
 * thousands. Pure.
 */
import type { DataPolicies, Resource } from '@platform/machine-config/data-policies';
import type { PathRule } from '../tabular/catalog/row-filter.ts';
import type { StandingRules } from '../tabular/deletion/standing-rules.ts';

const dayMs = 86_400_000;
/** The earliest possible capture day (D24). */
const firstDay = '2020-01-01';

/** Rules for the UTC day of `nowMs`, whatever the time of day. */
export function standingRules(parts: ReadonlyMap<string, DataPolicies>, nowMs: number): StandingRules {
  const expired = new Groups<{ days: number; resource: Resource | undefined }>();
  const recent = new Groups<{ storedHours: number; resource: Resource; methods: readonly string[] }>();
  for (const [partId, policies] of parts) {
    const { days } = policies;
    if (days !== undefined) expired.add(`${days}`, { days, resource: undefined }, partId);
    for (const resource of policies.resources) {
      // The shorter one wins, so a longer one has no effect.
      if (resource.days === undefined || resource.days >= (days ?? Number.POSITIVE_INFINITY)) continue;
      const { api, name } = resource;
      expired.add(keyOf(resource.days, api, name), { days: resource.days, resource: { api, name } }, partId);
    }
    for (const { api, name, methods, storedHours } of policies.recent)
      recent.add(keyOf(storedHours, api, name, ...methods), { storedHours, resource: { api, name }, methods }, partId);
  }
  return {
    expired: expired.all.flatMap(({ of: { days, resource }, partIds }) => {
      const beforeDay = firstKeptDay(days, nowMs);
      return beforeDay <= firstDay ? [] : [{ paths: pathsOf(partIds, resource), beforeDay }];
    }),
    recent: recent.all.map(({ of: { storedHours, resource, methods }, partIds }) => ({
      paths: { ...pathsOf(partIds, resource), method_name: methods },
      storedHours,
    })),
  };
}

/** Capture day D expires once today − D ≥ days (D24). Returns the first day that stays, "YYYY-MM-DD". */
export function firstKeptDay(days: number, nowMs: number): string {
  const first = (Math.floor(nowMs / dayMs) - days + 1) * dayMs;
  return first <= 0 ? '1970-01-01' : new Date(first).toISOString().slice(0, 10);
}

class Groups<Of> {
  readonly #byKey = new Map<string, { readonly of: Of; readonly partIds: string[] }>();

  add(key: string, of: Of, partId: string): void {
    const group = this.#byKey.get(key);
    if (group === undefined) this.#byKey.set(key, { of, partIds: [partId] });
    else group.partIds.push(partId);
  }

  get all(): readonly { readonly of: Of; readonly partIds: readonly string[] }[] {
    return [...this.#byKey.values()];
  }
}

function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

function pathsOf(partIds: readonly string[], resource: Resource | undefined): PathRule {
  return {
    part_id: partIds,
    ...(resource && { component_type: [resource.api], component_name: [resource.name] }),
  };
}
