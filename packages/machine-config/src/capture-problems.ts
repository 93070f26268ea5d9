/** Captures that cannot work: without a data manager, with a second one, or of a resource that does not exist (D12). */
import { canonicalApi, type Problem } from '@platform/base';
import { isForService, resourcesByName } from './canonical-names.ts';
import { dataManagerApi, readCaptureMethods } from './data-manager.ts';
import { formatValue } from './format-value.ts';
import type { MachineConfig, ResourceConfig } from './schema.ts';

/**
 * In a document with unresolved fragments or with remotes, an unknown name is only a warning, because they may provide the resource; so is
 * the name of a disabled resource, which can be enabled again.
 */
export function captureProblems(
  config: MachineConfig,
  positions: ReadonlyMap<ResourceConfig, string>,
  disabled: readonly ResourceConfig[],
): Problem[] {
  const problems: Problem[] = [];
  const resources = [...config.components, ...config.services];
  const byName = resourcesByName(resources);
  const off = resourcesByName(disabled);
  const level = config.fragments.length + config.remotes.length > 0 ? 'warning' : 'error';
  let first: string | undefined;
  for (const resource of resources) {
    for (const [index, service] of resource.service_configs.entries()) {
      if (!isForService(service.type, dataManagerApi)) continue;
      const path = `${positions.get(resource)}.service_configs[${index}].attributes.capture_methods`;
      const { methods } = readCaptureMethods({ service_configs: [service] }, '');
      if (methods.some((each) => !each.disabled)) first ??= path;
      methods.forEach(({ name }, at) => {
        if (name === undefined || byName.has(canonicalApi(name))) return;
        const isOff = off.has(canonicalApi(name));
        const found = isOff ? `${formatValue(name)}, which is disabled` : formatValue(name);
        const message = `expected the full name of a component or service, found ${found}: nothing is captured`;
        problems.push({ path: `${path}[${at}].name`, level: isOff ? 'warning' : level, message });
      });
    }
  }
  const [manager, ...ignored] = config.services.filter(({ api }) => api === dataManagerApi);
  for (const one of ignored)
    problems.push({
      path: positions.get(one) ?? 'services',
      level: 'warning',
      message: `expected one data manager, found a second one: the machine uses ${formatValue(manager?.name)} and ignores ${formatValue(one.name)}`,
    });
  if (first !== undefined && manager === undefined && config.fragments.length === 0)
    problems.push({
      path: first,
      level: 'warning',
      message: `expected the service ${dataManagerApi}, which captures and syncs, found none: nothing is captured. Add it to services: {"name": "data_manager", "api": "${dataManagerApi}"}`,
    });
  return problems;
}
