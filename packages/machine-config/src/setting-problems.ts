import { canonicalApi, errorText, type Problem } from '@platform/base';
import { resourcesByName } from './canonical-names.ts';
import { dataManagerApi } from './data-manager.ts';
import { formatValue } from './format-value.ts';
import { isObject } from './is-object.ts';
import { compileLogPattern } from './log-pattern.ts';
import type { MachineConfig, ResourceConfig } from './schema.ts';
import { readTimeWindow } from './time-window.ts';

const syncOrders = ['oldest_first', 'newest_first'];
const syncActions = ['delete', 'keep', 'move'];
const levels = ['debug', 'info', 'warn', 'warning', 'error'];

/** Warnings for settings of the right type that do nothing, or block everything, reported with their position. */
export function settingProblems(config: MachineConfig, positions: ReadonlyMap<ResourceConfig, string>): Problem[] {
  const problems: Problem[] = [];
  const warn = (path: string, message: string): void => void problems.push({ path, level: 'warning', message });

  config.log.forEach(({ pattern }, index) => {
    const compiled = compileLogPattern(pattern);
    if (typeof compiled === 'string') warn(`log[${index}].pattern`, `${compiled}: it matches nothing`);
  });
  config.modules.forEach(({ log_level: level }, index) => {
    if (level === undefined || level === '' || (typeof level === 'string' && levels.includes(level.toLowerCase())))
      return;
    warn(`modules[${index}].log_level`, `expected one of debug, info, warn, error, found ${formatValue(level)}`);
  });

  for (const service of config.services)
    if (service.api === dataManagerApi)
      syncProblems(service.attributes, (key, message) => warn(`${positions.get(service)}.attributes.${key}`, message));

  // Resources from fragments or remotes are not known here.
  if (config.fragments.length + config.remotes.length > 0) return problems;
  const names = resourcesByName([...config.components, ...config.services]);
  config.jobs.forEach(({ resource }, index) => {
    if (typeof resource !== 'string' || resource === '' || names.has(canonicalApi(resource))) return;
    const message = `expected the name of a component or service that runs, found ${formatValue(resource)}: the job cannot run`;
    warn(`jobs[${index}].resource`, message);
  });
  const sensors = config.components.filter(({ api }) => api.endsWith(':component:sensor'));
  const { maintenance } = config;
  if (maintenance !== undefined && !config.components.some((each) => fullName(each) === maintenance.sensor_name)) {
    const message = `expected the full name of a component, found ${formatValue(maintenance.sensor_name)}: without one, every update is held back`;
    warn('maintenance.sensor_name', message);
  }
  for (const service of config.services) {
    const { selective_syncer_name: name } = service.attributes;
    if (service.api !== dataManagerApi || typeof name !== 'string' || name === '') continue;
    const path = `${positions.get(service)}.attributes.selective_syncer_name`;
    const sensor = sensors.find((each) => each.name === name || fullName(each) === name);
    if (sensor === undefined)
      warn(path, `expected the name of a sensor, found ${formatValue(name)}: without one, nothing is synced`);
    else if (!service.depends_on.some((each) => each === sensor.name || each === fullName(sensor)))
      warn(path, `expected a sensor that depends_on lists as well, found ${formatValue(name)}, which it does not list`);
  }
  return problems;
}

/** What sync does instead if such a value is unknown loses nothing. */
function syncProblems(attributes: ResourceConfig['attributes'], warn: (key: string, message: string) => void): void {
  const { sync_order: order, additional_sync_action: action, additional_sync_move_to: to } = attributes;
  if (typeof order === 'string' && !syncOrders.includes(order))
    warn('sync_order', `expected one of ${syncOrders.join(', ')}, found ${formatValue(order)}: oldest_first is used`);
  const kept = 'files are kept where they are';
  if (typeof action === 'string' && !syncActions.includes(action))
    warn('additional_sync_action', `expected one of ${syncActions.join(', ')}, found ${formatValue(action)}: ${kept}`);
  if (action === 'move' && (typeof to !== 'string' || !/^[/~]|^[a-z]:/i.test(to)))
    warn('additional_sync_move_to', `expected an absolute path, found ${formatValue(to)}: ${kept}`);
  const { sync_priorities: priorities, sync_rules: rules } = attributes;
  for (const [name, priority] of Object.entries(isObject(priorities) ? priorities : {}))
    if (typeof priority !== 'number')
      warn(`sync_priorities.${name}`, `expected a number, found ${formatValue(priority)}: it has no effect`);
  const window = isObject(rules) ? rules['time_window'] : undefined;
  try {
    if (isObject(window)) readTimeWindow(window);
  } catch (caught) {
    warn('sync_rules.time_window', `${errorText(caught)}: this rule is not used`);
  }
}

const fullName = ({ api, name }: ResourceConfig): string => `${api}/${name}`;
