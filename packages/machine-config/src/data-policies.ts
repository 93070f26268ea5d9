/**
 * How long the cloud keeps a part's data, read from an effective document. A separate reader, because the cloud needs it for thousands of
 * parts at once. Values that are not positive whole numbers are ignored (D24); `parse` warns about them.
 */
import { canonicalApi } from '@platform/base';
import { apiOf, isForService } from './canonical-names.ts';
import { captureMethodOf } from './capture-methods.ts';
import { dataManagerApi } from './data-manager-entry.ts';

/** Plain data: stored as JSON. */
export interface DataPolicies {
  /** `data_retention_policy.days` of the part; absent: its data is kept until it is deleted. */
  readonly days?: number | undefined;
  /** Resources with their own `retention_policy`. */
  readonly resources: readonly ResourceRetention[];
  /** Methods whose newest rows are also kept in the hot store. */
  readonly recent: readonly RecentData[];
  /** `delete_data_on_part_deletion` of the data manager. */
  readonly deleteOnPartDeletion: boolean;
}

export interface Resource {
  /** In the `core` vocabulary: `core:component:sensor`. */
  readonly api: string;
  readonly name: string;
}

export interface ResourceRetention extends Resource {
  readonly days?: number | undefined;
  /** 10^9 bytes each. */
  readonly binaryLimitGb?: number | undefined;
  readonly tabularLimitGb?: number | undefined;
}

export interface RecentData extends Resource {
  /** The spellings under which data of the method may be stored. */
  readonly methods: readonly string[];
  /** `recent_data_store.stored_hours`, above 0. */
  readonly storedHours: number;
}

/** @param document decoded JSON with fragments resolved, of any shape; never throws. */
export function readDataPolicies(document: unknown): DataPolicies {
  const days = positiveWhole(objectOf(objectOf(document)['data_retention_policy'])['days']);
  const resources = new Map<string, ResourceRetention>();
  const recent = new Map<string, RecentData>();
  let deleteOnPartDeletion = false;
  for (const kind of ['component', 'service'] as const) {
    for (const entry of listOf(objectOf(document)[`${kind}s`])) {
      const resource = resourceOf(entry, kind);
      if (resource === undefined) continue;
      if (resource.api === dataManagerApi)
        deleteOnPartDeletion ||= objectOf(entry['attributes'])['delete_data_on_part_deletion'] === true;
      for (const service of listOf(entry['service_configs']))
        if (isForService(String(service['type']), dataManagerApi))
          readCapture(resource, objectOf(service['attributes']), resources, recent);
    }
  }
  return { days, resources: [...resources.values()], recent: [...recent.values()], deleteOnPartDeletion };
}

export interface CapturedMethod extends Resource {
  readonly method: string;
  readonly hz: number;
}

/** The methods that a document captures. @param document decoded JSON with fragments resolved, of any shape; never throws. */
export function readCapturedMethods(document: unknown): readonly CapturedMethod[] {
  const captured: CapturedMethod[] = [];
  for (const kind of ['component', 'service'] as const) {
    for (const entry of listOf(objectOf(document)[`${kind}s`])) {
      const resource = resourceOf(entry, kind);
      if (resource === undefined) continue;
      if (resource.api === dataManagerApi && objectOf(entry['attributes'])['capture_disabled'] === true) return [];
      for (const service of listOf(entry['service_configs']))
        if (isForService(String(service['type']), dataManagerApi))
          captured.push(...methodsIn(objectOf(service['attributes']), resource));
    }
  }
  return captured;
}

function methodsIn(attributes: Values, resource: Resource): CapturedMethod[] {
  return listOf(attributes['capture_methods']).flatMap((entry) => {
    const { method, capture_frequency_hz: hz, disabled } = entry;
    if (typeof method !== 'string' || typeof hz !== 'number' || !(hz > 0) || disabled === true) return [];
    return [{ ...capturedBy(entry, resource), method, hz }];
  });
}

/** For how many days a resource's data is kept: the shorter of the part's and its own retention (D24); undefined: until it is deleted. */
export function retentionDaysOf(
  policies: Pick<DataPolicies, 'days' | 'resources'>,
  resource: Resource,
): number | undefined {
  const own = policies.resources.find((each) => each.api === resource.api && each.name === resource.name)?.days;
  return least(policies.days, own);
}

/** A policy next to capture methods applies to its resource, and to any other resource that its methods name. */
function readCapture(
  resource: Resource,
  attributes: Values,
  resources: Map<string, ResourceRetention>,
  recent: Map<string, RecentData>,
): void {
  const named = new Map([[keyOf(resource), resource]]);
  for (const entry of listOf(attributes['capture_methods'])) {
    const captured = capturedBy(entry, resource);
    named.set(keyOf(captured), captured);
    const storedHours = objectOf(entry['recent_data_store'])['stored_hours'];
    const { method } = entry;
    if (typeof method !== 'string' || typeof storedHours !== 'number' || !(storedHours > 0)) continue;
    const methods = [...new Set([captureMethodOf(captured.api, method)?.name ?? method, method])];
    const key = JSON.stringify([keyOf(captured), methods[0]]);
    const before = recent.get(key);
    recent.set(key, {
      ...captured,
      methods: [...new Set([...(before?.methods ?? []), ...methods])],
      storedHours: Math.max(storedHours, before?.storedHours ?? 0),
    });
  }
  const policy = objectOf(attributes['retention_policy']);
  const [days, binaryLimitGb, tabularLimitGb] = ['days', 'binary_limit_gb', 'tabular_limit_gb'].map((key) =>
    positiveWhole(policy[key]),
  );
  if (days === undefined && binaryLimitGb === undefined && tabularLimitGb === undefined) return;
  for (const [key, each] of named) {
    const before = resources.get(key);
    resources.set(key, {
      ...each,
      days: least(days, before?.days),
      binaryLimitGb: least(binaryLimitGb, before?.binaryLimitGb),
      tabularLimitGb: least(tabularLimitGb, before?.tabularLimitGb),
    });
  }
}

type Values = Readonly<Record<string, unknown>>;

/** The resource that a capture method's `name` refers to; any other text refers to the resource that contains it. */
function capturedBy(method: Values, resource: Resource): Resource {
  const [, api, name] = /^([^:/]+:[^:/]+:[^:/]+)\/(.+)$/.exec(String(method['name'])) ?? [];
  return api === undefined || name === undefined ? resource : { api: canonicalApi(api), name };
}

function resourceOf(entry: Values, kind: 'component' | 'service'): Resource | undefined {
  const { name } = entry;
  const api = apiOf(entry, kind);
  return typeof name === 'string' && api !== undefined ? { api, name } : undefined;
}

function keyOf({ api, name }: Resource): string {
  return `${api}/${name}`;
}

function positiveWhole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function objectOf(value: unknown): Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

function listOf(value: unknown): readonly Values[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
