/** Reports settings that this version does not support: each once per revision, and none is ignored silently. */
import type { Problem } from '@platform/base';
import { dataManagerApi } from '@platform/machine-config/data-manager';
import type { JsonObject, MachineConfig } from '@platform/machine-config/schema';

/** Pure. */
export function unsupportedSettings(config: MachineConfig): Problem[] {
  const found: Problem[] = [];
  const say = (path: string, what: string): void => {
    const message = `${what} is ignored; this version of the machine-server does not support it`;
    found.push({ path, level: 'warning', message });
  };
  const keysOf = (path: string, section: JsonObject | undefined, wanted: Readonly<Record<string, string>>): void => {
    for (const [key, what] of Object.entries(wanted)) {
      const value = section?.[key];
      if (value !== undefined && value !== null && value !== false && value !== '') say(`${path}.${key}`, what);
    }
  };
  const managers = config.services.filter(({ api }) => api === dataManagerApi);
  for (const [index, { name }] of managers.entries()) {
    const path = `services[${config.services.findIndex((service) => service.name === name)}]`;
    if (index > 0) say(path, `a second data manager, "${name}",`);
  }
  for (const [key, what] of [
    ['processes', 'process'],
    ['jobs', 'job'],
  ] as const) {
    for (const [index, { name, id }] of config[key].entries())
      say(`${key}[${index}]`, `the ${what} "${String(name ?? id ?? '')}"`);
  }
  keysOf('auth', config.auth, {
    tls_auth_entities: 'signing in by TLS certificate',
    external_auth_config: 'signing in with tokens from other issuers',
  });
  if (config.tracing?.['enabled'] === true) say('tracing', 'tracing');
  if (config.enable_web_profile === true) say('enable_web_profile', 'profiling over HTTP');
  return found;
}
