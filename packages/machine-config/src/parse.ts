/**
 * Parses a machine's configuration document and reports every problem with its path.
 *
 * Errors: wrong types, missing names, two resources with the same name, unresolved `depends_on`,
 * cycles, a capture of a resource that does not exist (D12). Warnings: unknown keys, and values
 * that the specification says are ignored. An entry with an error is omitted from the config, its neighbours are kept. A disabled entry is
 * omitted too (D38): the document keeps it, and the part does not run it.
 */
import { canonicalApi, type Problem } from '@platform/base';
import { captureProblems } from './capture-problems.ts';
import { dependencyProblems } from './dependency-problems.ts';
import { formatValue } from './format-value.ts';
import { ignoredNumber, parseResources } from './parse/parse-resources.ts';
import { validateDocument } from './parse/validate-document.ts';
import { frameInit } from './robot/frame.ts';
import { sectionsInit } from './robot/sections-init.ts';
import type { JsonObject, MachineConfig, MaintenanceConfig, ResourceConfig } from './schema.ts';
import { settingProblems } from './setting-problems.ts';
import { documentSchema } from './zod-schema.ts';

export interface Parsed {
  readonly config: MachineConfig;
  readonly problems: readonly Problem[];
}

/**
 * @param document the effective document (fragments resolved), as decoded JSON; a top-level null counts as absent. Never throws for any
 * content.
 */
export function parse(document: unknown): Parsed {
  const problems: Problem[] = [];
  if (document !== undefined && (typeof document !== 'object' || document === null || Array.isArray(document))) {
    const message = `expected an object, found ${formatValue(document)}`;
    return { config: parse(undefined).config, problems: [{ path: '$', level: 'error', message }] };
  }
  // Go clients write null for empty lists and objects.
  const given = Object.fromEntries(Object.entries(document ?? {}).filter(([, value]) => value !== null));
  boundResources(given, problems);
  const valid = validateDocument(documentSchema, given, problems) as Record<string, unknown>;
  const positions = new Map<ResourceConfig, string>();
  const off: ResourceConfig[] = [];
  const read = (key: 'components' | 'services', kind: 'component' | 'service'): ResourceConfig[] => {
    const asked = (document as Record<string, unknown> | undefined)?.[key];
    return parseResources(valid[key], Array.isArray(asked) ? asked : [], kind, key, positions, off, problems);
  };
  const modules = withSwitch(valid['modules'], 'modules', problems);
  const jobs = withSwitch(valid['jobs'], 'jobs', problems);
  const config = {
    ...valid,
    modules: modules.all,
    jobs: jobs.all,
    components: read('components', 'component'),
    services: read('services', 'service'),
    maintenance: canonicalMaintenance(valid['maintenance'] as MaintenanceConfig | undefined),
    data_retention_policy: retention(valid['data_retention_policy'], problems),
  } as unknown as MachineConfig;
  for (const problem of dependencyProblems(config, positions, off)) problems.push(problem);
  for (const problem of captureProblems(config, positions, off)) problems.push(problem);
  for (const problem of settingProblems(config, positions)) problems.push(problem);
  sectionsInit(config, problems);
  for (const [resource, at] of positions)
    if (resource.frame !== undefined) frameInit(resource.frame, `${at}.frame`, problems);
  const enabled = { ...config, modules: modules.enabled, jobs: jobs.enabled };
  return { config: enabled, problems: asWritten(problems, given) };
}

/** The entries of a list, without the key `disabled`, and those of them that the part runs (D38). */
function withSwitch(
  list: unknown,
  path: string,
  problems: Problem[],
): { readonly all: readonly JsonObject[]; readonly enabled: readonly JsonObject[] } {
  const entries = (list as readonly JsonObject[]).map(({ disabled, ...entry }, index) => {
    if (disabled !== undefined && disabled !== null && typeof disabled !== 'boolean') {
      const message = `expected true or false, found ${formatValue(disabled)}`;
      problems.push({ path: `${path}[${index}].disabled`, level: 'error', message });
    }
    return { entry, disabled };
  });
  return {
    all: entries.map(({ entry }) => entry),
    enabled: entries.flatMap(({ entry, disabled }) => (disabled === true ? [] : [entry])),
  };
}

/** Limit for components and services together: a machine manages each of them. */
const maxResources = 10_000;

/** Removes entries beyond the limit, and names the list that exceeds it. */
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

function retention(value: unknown, problems: Problem[]): { days: number } | undefined {
  if (value === undefined) return undefined;
  const { days } = value as { days: unknown };
  return ignoredNumber(days, 'data_retention_policy.days', problems) ? undefined : { days: Number(days) };
}

function canonicalMaintenance(maintenance: MaintenanceConfig | undefined): MaintenanceConfig | undefined {
  return maintenance === undefined ? undefined : { ...maintenance, sensor_name: canonicalApi(maintenance.sensor_name) };
}

const coreName = /\bcore:(?=[\w-]+:[\w-]+)/g;

/**
 * Reports problems in the spelling of the document's author: internally every name is `core:…`, but public clients write `rdk:…`. A document
 * that mixes both is reported as `core`.
 * @param given the document as written, still unchecked
 */
function asWritten(problems: readonly Problem[], given: Readonly<Record<string, unknown>>): readonly Problem[] {
  const { sensor_name: sensor } = (given['maintenance'] ?? {}) as { readonly sensor_name?: unknown };
  const names = [given['components'], given['services'], [{ api: sensor }]]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((entry) => {
      const { api, model } = (entry ?? {}) as { readonly api?: unknown; readonly model?: unknown };
      return [api, model].filter((one) => typeof one === 'string');
    });
  const isWritten = (space: string): boolean => names.some((one) => one.startsWith(`${space}:`));
  if (!isWritten('rdk') || isWritten('core')) return problems;
  return problems.map((problem) => ({ ...problem, message: problem.message.replace(coreName, 'rdk:') }));
}
