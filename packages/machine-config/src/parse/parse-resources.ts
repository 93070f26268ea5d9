/** The entries of `components` or `services`: normalises names, and checks the settings that the platform itself reads. */
import { canonicalApi, type Problem } from '@platform/base';
import { modelFault } from '../built-in-models.ts';
import { apiOf, canonicalModel, isForService } from '../canonical-names.ts';
import { captureMethodOf, captureMethodsOf } from '../capture-methods.ts';
import {
  type CaptureMethodConfig,
  dataManagerApi,
  readCaptureAttributes,
  readDataManagerAttributes,
} from '../data-manager.ts';
import { formatValue } from '../format-value.ts';
import { lengthFault, unseenFault } from '../limits.ts';
import type { JsonObject, ResourceConfig, ServiceConfig } from '../schema.ts';
import { unknownAttributes } from '../unknown-attributes.ts';

/**
 * @param asked the list as it appears in the document, including broken entries, so that positions are those of the document. @param off
 * receives the disabled ones (D38).
 */
export function parseResources(
  value: unknown,
  asked: readonly unknown[],
  kind: 'component' | 'service',
  path: string,
  positions: Map<ResourceConfig, string>,
  off: ResourceConfig[],
  problems: Problem[],
): ResourceConfig[] {
  const kept: ResourceConfig[] = [];
  const names = new Map<string, string>();
  let position = -1;
  for (const entry of (value ?? []) as Record<string, unknown>[]) {
    do position++;
    while (position < asked.length && (asked[position] as { name?: unknown } | null)?.name !== entry['name']);
    const at = `${path}[${position}]`;
    const { namespace: _namespace, type: _type, disabled, ...rest } = entry;
    const api = apiOf(entry, kind);
    const error = (key: string, message: string): void =>
      void problems.push({ path: `${at}.${key}`, level: 'error', message });
    if (api === undefined) {
      error('api', `expected an api such as core:${kind}:…, found nothing`);
      continue;
    }
    const resource = {
      ...rest,
      api,
      model: canonicalModel(String(rest['model']), kind),
      depends_on: (rest['depends_on'] as string[]).map(canonicalApi),
    } as unknown as ResourceConfig;
    for (const message of [lengthFault(resource.name), unseenFault(resource.name)])
      if (message !== undefined) error('name', message);
    const full = `${api}/${resource.name}`;
    const earlier = names.get(full);
    if (earlier !== undefined) {
      error('name', `expected a unique name, found ${full}, which is also at ${earlier}`);
      continue;
    }
    names.set(full, at);
    const fault = rest['model'] === '' ? undefined : modelFault(api, resource.model);
    if (fault !== undefined) problems.push({ path: `${at}.model`, level: 'warning', message: fault });
    const checked = { ...resource, ...checkedAttributes(resource, at, problems) };
    // A disabled entry is checked like any other, so that it is valid when it is enabled again.
    if (disabled === true) {
      off.push(checked);
      continue;
    }
    positions.set(checked, at);
    kept.push(checked);
  }
  return kept;
}

/**
 * Checks the attributes that the platform itself reads: those of the data manager, and its settings in `service_configs`. Other built-in
 * models: reports the attributes that they do not know.
 */
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
  } else {
    for (const problem of unknownAttributes(resource, `${at}.attributes`)) problems.push(problem);
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

/** Only warnings: a module may have methods that are not in the table. */
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
}

/** Reports a value that is not a positive whole number: the specification says that it is ignored. */
export function ignoredNumber(value: unknown, path: string, problems: Problem[]): boolean {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return false;
  const message = `expected a positive whole number, found ${formatValue(value)}: it is ignored`;
  problems.push({ path, level: 'warning', message });
  return true;
}
