/**
 * Parses a machine's configuration document and reports every problem with its path.
 *
 * Errors: wrong types, missing names, two resources of one name, `depends_on` that nothing answers, circles.
 * Warnings: unknown keys, and values that the specification says are ignored. An entry with an error is left out of the
 * config, its neighbours stay.
 */
import type { z } from 'zod';
import { readCaptureMethods, readDataManagerAttributes } from './data-manager.ts';
import { dependencyProblems } from './dependency-problems.ts';
import { frameInit } from './robot/frame.ts';
import { sectionsInit } from './robot/sections-init.ts';
import type { JsonObject, MachineConfig, MaintenanceConfig, Problem, ResourceConfig, ServiceConfig } from './schema.ts';
import { captureAttributes, dataManagerAttributes, documentSchema } from './zod-schema.ts';

export interface Parsed {
  readonly config: MachineConfig;
  readonly problems: readonly Problem[];
}

/** @param document the effective document (fragments resolved), as decoded JSON. Never throws for anything in it. */
export function parse(document: unknown): Parsed {
  const problems: Problem[] = [];
  const valid = validate(documentSchema, document ?? {}, '', problems) as Record<string, unknown>;
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
  problems.push(...dependencyProblems(config, positions));
  sectionsInit(config, problems);
  for (const [resource, at] of positions)
    if (resource.frame !== undefined) frameInit(resource.frame, `${at}.frame`, problems);
  return { config, problems };
}

/** Checks `value`; what is unknown or wrong is named and taken out, as deep as it stands, until the rest is valid. */
function validate(schema: z.ZodType, value: unknown, path: string, problems: Problem[]): unknown {
  let rest: unknown = structuredClone(value);
  for (let round = 0; round < 1_000; round++) {
    const result = schema.safeParse(rest);
    if (result.success) return result.data;
    let changed = false;
    // From the last to the first, so that taking an entry out of a list leaves the earlier positions as they were.
    for (const issue of result.error.issues.toReversed()) {
      const at = issue.path as (string | number)[];
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) {
          problems.push({
            path: pathOf(path, [...at, key]),
            level: 'warning',
            message: 'unknown key: it does nothing',
          });
          changed = takeOut(rest, [...at, key]) || changed;
        }
      } else {
        problems.push({ path: pathOf(path, at), level: 'error', message: issue.message });
        const entry = at.findLastIndex((step) => typeof step === 'number');
        changed = takeOut(rest, entry === -1 ? at.slice(0, 1) : at.slice(0, entry + 1)) || changed;
      }
    }
    if (!changed) rest = {};
  }
  return schema.parse({});
}

/** Removes the value at `path`: a key goes, a list entry becomes a hole that keeps the positions of the others. */
function takeOut(from: unknown, path: readonly (string | number)[]): boolean {
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
    const { namespace, type, ...rest } = entry;
    const stated = typeof rest['api'] === 'string' ? rest['api'] : undefined;
    if (stated === undefined && typeof type !== 'string') {
      problems.push({
        path: `${at}.api`,
        level: 'error',
        message: `expected an api such as core:${kind}:…, found none`,
      });
      continue;
    }
    const api = canonical(stated ?? `${typeof namespace === 'string' ? namespace : 'core'}:${kind}:${String(type)}`);
    const resource = {
      ...rest,
      api,
      model: canonical(String(rest['model'])),
      depends_on: (rest['depends_on'] as string[]).map(canonical),
    } as unknown as ResourceConfig;
    const full = `${api}/${resource.name}`;
    const earlier = names.get(full);
    if (earlier !== undefined) {
      problems.push({ path: `${at}.name`, level: 'error', message: `${full} is already at ${earlier}` });
      continue;
    }
    names.set(full, at);
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
  let attributes = resource.attributes;
  if (resource.api === 'core:service:data_manager') {
    attributes = validate(dataManagerAttributes, attributes, `${at}.attributes`, problems) as JsonObject;
    // Types and bounds were named just now; what remains are values that are ignored.
    problems.push(...readDataManagerAttributes(attributes, `${at}.attributes`).problems);
    tagProblems(attributes['tags'], `${at}.attributes.tags`, problems);
  }
  const service_configs = resource.service_configs.map((service, index) => {
    const path = `${at}.service_configs[${index}].attributes`;
    const type = canonical(service.type);
    if (!type.endsWith('data_manager')) return { ...service, type };
    const valid = validate(captureAttributes, service.attributes, path, problems) as JsonObject;
    const policy = (valid['retention_policy'] ?? {}) as JsonObject;
    for (const [key, value] of Object.entries(policy))
      ignoredNumber(value, `${path}.retention_policy.${key}`, problems);
    return { type, attributes: valid };
  });
  problems.push(...readCaptureMethods({ service_configs }, at).problems);
  return { attributes, service_configs };
}

function tagProblems(tags: unknown, path: string, problems: Problem[]): void {
  for (const [index, tag] of (Array.isArray(tags) ? tags : []).entries()) {
    if (/^[\w-]+$/.test(String(tag))) continue;
    const message = `"${tag}" has other characters than letters, digits, underscores and dashes`;
    problems.push({ path: `${path}[${index}]`, level: 'warning', message });
  }
}

function retention(value: unknown, problems: Problem[]): { days: number } | undefined {
  if (value === undefined) return undefined;
  const { days } = value as { days: unknown };
  return ignoredNumber(days, 'data_retention_policy.days', problems) ? undefined : { days: Number(days) };
}

function ignoredNumber(value: unknown, path: string, problems: Problem[]): boolean {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return false;
  const message = `${JSON.stringify(value)} is not a positive whole number and is ignored`;
  problems.push({ path, level: 'warning', message });
  return true;
}

/** `rdk` and `core` are one namespace (D2); we think `core`. */
function canonical(triplet: string): string {
  return triplet.startsWith('rdk:') ? `core:${triplet.slice(4)}` : triplet;
}

function canonicalMaintenance(maintenance: MaintenanceConfig | undefined): MaintenanceConfig | undefined {
  return maintenance === undefined ? undefined : { ...maintenance, sensor_name: canonical(maintenance.sensor_name) };
}

function pathOf(start: string, steps: readonly (string | number)[]): string {
  let path = start;
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
  return path;
}
