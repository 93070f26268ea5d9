import { canonicalApi, type Problem } from '@platform/base';
import { isAbsolutePath } from './absolute-path.ts';
import { resourcesByName } from './canonical-names.ts';
import { dataManagerApi } from './data-manager.ts';
import { formatValue } from './format-value.ts';
import { compileLogPattern } from './log-pattern.ts';
import type { MachineConfig, ResourceConfig } from './schema.ts';
import { readSyncChoices } from './sync-choices.ts';

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

  for (const service of config.services) {
    if (service.api !== dataManagerApi) continue;
    const warnOf = (key: string, message: string): void => warn(`${positions.get(service)}.attributes.${key}`, message);
    readSyncChoices(service.attributes, warnOf);
    const { capture_dir: directory } = service.attributes;
    if (typeof directory === 'string' && directory !== '' && !isAbsolutePath(directory))
      warnOf('capture_dir', relative(directory));
  }

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

const relative = (path: string): string =>
  `expected an absolute path, found ${formatValue(path)}: it is relative to the folder in which the machine-server was started`;
const fullName = ({ api, name }: ResourceConfig): string => `${api}/${name}`;
