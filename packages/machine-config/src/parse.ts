/**
 * Parses a machine's configuration document and reports every problem with its path.
 *
 * Errors: wrong types, missing names, two resources of one name, `depends_on` that nothing answers, circles.
 * Warnings: unknown keys, and values that the specification says are ignored. An entry with an error is left out of the
 * config, its neighbours stay.
 */
import { canonicalApi, type Problem } from '@platform/base';
import type { z } from 'zod';
import { modelFault } from './built-in-models.ts';
import { apiOf, canonicalModel, isForService } from './canonical-names.ts';
import { captureMethodOf, captureMethodsOf } from './capture-methods.ts';
import {
  type CaptureMethodConfig,
  dataManagerApi,
  readCaptureAttributes,
  readDataManagerAttributes,
} from './data-manager.ts';
import { dependencyProblems } from './dependency-problems.ts';
import { formatValue } from './format-value.ts';
import { lengthFault } from './limits.ts';
import { frameInit } from './robot/frame.ts';
import { sectionsInit } from './robot/sections-init.ts';
import type { JsonObject, MachineConfig, MaintenanceConfig, ResourceConfig, ServiceConfig } from './schema.ts';
import { expectedBy, issuePath, type Path, valueAt } from './schema-issues.ts';
import { settingProblems } from './setting-problems.ts';
import { unknownKey } from './unknown-key.ts';
import { documentSchema } from './zod-schema.ts';

export interface Parsed {
  readonly config: MachineConfig;
  readonly problems: readonly Problem[];
}

/** @param document the effective document (fragments resolved), as decoded JSON; a top-level null counts as absent. Never throws for anything in it. */
export function parse(document: unknown): Parsed {
  const problems: Problem[] = [];
  if (document !== undefined && (typeof document !== 'object' || document === null || Array.isArray(document))) {
    const message = `expected an object, found ${formatValue(document)}`;
    return { config: parse(undefined).config, problems: [{ path: '$', level: 'error', message }] };
  }
  // Go clients write null for lists and objects that they leave empty.
  const given = Object.fromEntries(Object.entries(document ?? {}).filter(([, value]) => value !== null));
  boundResources(given, problems);
  const valid = validate(documentSchema, given, problems) as Record<string, unknown>;
  const positions = new Map<ResourceConfig, string>();
  const read = (key: 'components' | 'services', kind: 'component' | 'service'): ResourceConfig[] => {
    const asked = (document as Record<string, unknown> | undefined)?.[key];
    return resources(valid[key], Array.isArray(asked) ? asked : [], kind, key, positions, problems);
  };
  const config = {
    ...valid,
    components: read('components', 'component'),
    services: read('services', 'service'),
    maintenance: canonicalMaintenance(valid['maintenance'] as MaintenanceConfig | undefined),
    data_retention_policy: retention(valid['data_retention_policy'], problems),
  } as unknown as MachineConfig;
  for (const problem of dependencyProblems(config, positions)) problems.push(problem);
  for (const problem of settingProblems(config, positions)) problems.push(problem);
  sectionsInit(config, problems);
  for (const [resource, at] of positions)
    if (resource.frame !== undefined) frameInit(resource.frame, `${at}.frame`, problems);
  return { config, problems };
}

/** Components and services together: a machine looks after each of them. */
const maxResources = 10_000;

/** Leaves out what is above the bound, and names the list in which that stands. */
function boundResources(given: Record<string, unknown>, problems: Problem[]): void {
  let left = maxResources;
  for (const key of ['components', 'services']) {
    const list = given[key];
    if (!Array.isArray(list)) continue;
    if (list.length > left) {
      const beside = left === maxResources ? '' : ` beside ${maxResources - left} components`;
      const message = `expected at most ${maxResources} components and services together, found ${list.length}${beside}`;
      problems.push({ path: key, level: 'error', message });
      given[key] = list.slice(0, left);
    }
    left = Math.max(0, left - list.length);
  }
}

/** Checks `value`; what is unknown or wrong is named and taken out, as deep as it stands, until the rest is valid. */
function validate(schema: z.ZodType, value: unknown, problems: Problem[]): unknown {
  let rest: unknown = structuredClone(value);
  for (let round = 0; round < 1_000; round++) {
    const result = schema.safeParse(rest);
    if (result.success) return result.data;
    const keys: Path[] = [];
    const entries = new Map<string, Path>();
    for (const issue of result.error.issues) {
      const at = issuePath(issue, rest);
      // What is in a trigger is for the trigger feature to judge; here it only must not harm the rest.
      const named = at[0] !== 'triggers' || at.length < 2;
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) {
          if (named) problems.push(unknownKey(pathOf([...at, key]), key, issue.message.split(', ')));
          keys.push([...at, key]);
        }
      } else {
        const message = `expected ${expectedBy(issue)}, found ${formatValue(valueAt(rest, at))}`;
        if (named) problems.push({ path: pathOf(at), level: 'error', message });
        const entry = at.findLastIndex((step) => typeof step === 'number');
        const gone = entry === -1 ? at.slice(0, 1) : at.slice(0, entry + 1);
        entries.set(pathOf(gone), gone);
      }
    }
    // Keys first, then each entry once, from the last to the first: positions stay those that were named.
    const changed = [...keys, ...[...entries.values()].toReversed()].map((at) => takeOut(rest, at)).includes(true);
    if (!changed) rest = {};
  }
  return schema.parse({});
}

/** Removes the key or list entry at `path`. */
function takeOut(from: unknown, path: Path): boolean {
  const last = path.at(-1);
  let holder = from as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    holder = holder?.[step] as Record<string | number, unknown>;
    if (typeof holder !== 'object' || holder === null) return false;
  }
  if (last === undefined || typeof holder !== 'object' || holder === null || !(last in holder)) return false;
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return true;
}

/** @param asked the list as it stood in the document, broken entries included: positions are those of the document. */
function resources(
  value: unknown,
  asked: readonly unknown[],
  kind: 'component' | 'service',
  path: string,
  positions: Map<ResourceConfig, string>,
  problems: Problem[],
): ResourceConfig[] {
  const kept: ResourceConfig[] = [];
  const names = new Map<string, string>();
  let position = -1;
  for (const entry of (value ?? []) as Record<string, unknown>[]) {
    do position++;
    while (position < asked.length && (asked[position] as { name?: unknown } | null)?.name !== entry['name']);
    const at = `${path}[${position}]`;
    const { namespace: _namespace, type: _type, ...rest } = entry;
    const api = apiOf(entry, kind);
    if (api === undefined) {
      problems.push({
        path: `${at}.api`,
        level: 'error',
        message: `expected an api such as core:${kind}:…, found nothing`,
      });
      continue;
    }
    const resource = {
      ...rest,
      api,
      model: canonicalModel(String(rest['model'])),
      depends_on: (rest['depends_on'] as string[]).map(canonicalApi),
    } as unknown as ResourceConfig;
    const long = lengthFault(resource.name);
    if (long !== undefined) problems.push({ path: `${at}.name`, level: 'error', message: long });
    const full = `${api}/${resource.name}`;
    const earlier = names.get(full);
    if (earlier !== undefined) {
      problems.push({
        path: `${at}.name`,
        level: 'error',
        message: `expected a unique name, found ${full}, which is also at ${earlier}`,
      });
      continue;
    }
    names.set(full, at);
    const fault = modelFault(api, resource.model);
    if (fault !== undefined) problems.push({ path: `${at}.model`, level: 'warning', message: fault });
    const checked = { ...resource, ...checkedAttributes(resource, at, problems) };
    positions.set(checked, at);
    kept.push(checked);
  }
  return kept;
}

/** Attributes that the platform itself reads: those of the data manager, and what `service_configs` say to it. */
function checkedAttributes(
  resource: ResourceConfig,
  at: string,
  problems: Problem[],
): { attributes: JsonObject; service_configs: ServiceConfig[] } {
  let { attributes } = resource;
  if (resource.api === dataManagerApi) {
    const read = readDataManagerAttributes(attributes, `${at}.attributes`);
    for (const problem of read.problems) problems.push(problem);
    attributes = read.kept;
  }
  const service_configs = resource.service_configs.map((service, index) => {
    const path = `${at}.service_configs[${index}].attributes`;
    const type = canonicalApi(service.type);
    if (!isForService(type, dataManagerApi)) return { ...service, type };
    const { kept, methods } = readCaptureAttributes(service.attributes, path, problems);
    const policy = (kept['retention_policy'] ?? {}) as JsonObject;
    for (const [key, value] of Object.entries(policy))
      ignoredNumber(value, `${path}.retention_policy.${key}`, problems);
    for (const each of methods) methodProblems(resource, each.method, each.path, problems);
    return { type, attributes: kept };
  });
  return { attributes, service_configs };
}

/** Only warnings: a module may bring methods that no table lists. */
function methodProblems(
  resource: ResourceConfig,
  config: CaptureMethodConfig,
  path: string,
  problems: Problem[],
): void {
  const warn = (key: string, message: string): void => {
    problems.push({ path: `${path}.${key}`, level: 'warning', message });
  };
  const named = config.name === undefined ? undefined : /^([^:/]+:[^:/]+:[^:/]+)\/.+$/.exec(config.name)?.[1];
  if (config.name !== undefined && named === undefined) {
    const full = `${resource.api}/${resource.name}`;
    warn('name', `expected a full name such as ${full}, found ${formatValue(config.name)}: ${full} is captured`);
  }
  const api = canonicalApi(named ?? resource.api);
  const method = captureMethodOf(api, config.method);
  if (method === undefined) {
    const known = captureMethodsOf(api).map((each) => each.name);
    warn('method', `expected a capture method of ${api} (${known.join(', ')}), found ${formatValue(config.method)}`);
  }
  const hours = config.recent_data_store?.['stored_hours'];
  if (config.recent_data_store !== undefined && !(typeof hours === 'number' && hours > 0))
    warn('recent_data_store.stored_hours', `expected hours above 0, found ${formatValue(hours)}: nothing is stored`);
  const { docommand_input: input } = config.additional_params;
  if (method?.name === 'DoCommand' && (typeof input !== 'object' || input === null || Array.isArray(input)))
    warn('additional_params.docommand_input', `expected the command as an object, found ${formatValue(input)}`);
}

function retention(value: unknown, problems: Problem[]): { days: number } | undefined {
  if (value === undefined) return undefined;
  const { days } = value as { days: unknown };
  return ignoredNumber(days, 'data_retention_policy.days', problems) ? undefined : { days: Number(days) };
}

function ignoredNumber(value: unknown, path: string, problems: Problem[]): boolean {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return false;
  const message = `expected a positive whole number, found ${formatValue(value)}: it is ignored`;
  problems.push({ path, level: 'warning', message });
  return true;
}

function canonicalMaintenance(maintenance: MaintenanceConfig | undefined): MaintenanceConfig | undefined {
  return maintenance === undefined ? undefined : { ...maintenance, sensor_name: canonicalApi(maintenance.sensor_name) };
}

function pathOf(steps: Path): string {
  let path = '';
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
  return path;
}
