/** Everything in a configuration besides its resources, in the form that creates a `RobotConfig`. Also reports its problems. */

import type { Problem } from '@platform/base';
import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { JsonObject, MachineConfig } from '../schema.ts';
import { authInit } from './auth.ts';
import { durationNanos } from './duration.ts';
import { remoteProblems } from './remote-problems.ts';
import { type Init, initOf, initsOf, type Section } from './section.ts';
import {
  jobSection,
  moduleSection,
  networkSection,
  packageSection,
  processSection,
  remoteSection,
  tracingSection,
} from './sections.ts';

export function sectionsInit(config: MachineConfig, problems: Problem[]): Init {
  const init: Init = {
    modules: initsOf(moduleSection, config.modules, 'modules', problems),
    remotes: initsOf(remoteSection, config.remotes, 'remotes', problems),
    processes: initsOf(processSection, config.processes, 'processes', problems),
    packages: initsOf(packageSection, config.packages, 'packages', problems),
    jobs: initsOf(jobSection, config.jobs, 'jobs', problems),
  };
  remoteProblems(config.remotes, problems);
  const { network, tracing, auth, enable_web_profile, disable_partial_start } = config;
  const one = (key: string, section: Section, value: JsonObject | undefined): void => {
    if (value !== undefined) init[key] = initOf(section, value, key, problems);
  };
  one('network', networkSection, network);
  one('tracing', tracingSection, tracing);
  if (network !== undefined) networkProblems(network, problems);
  if (auth !== undefined) init['auth'] = authInit(auth, problems);
  if (enable_web_profile !== undefined) init['enableWebProfile'] = enable_web_profile;
  if (disable_partial_start !== undefined) init['disablePartialStart'] = disable_partial_start;
  return init;
}

/** Settings for which public machine-servers refuse the whole configuration, and those that nothing here serves yet. */
function networkProblems(network: JsonObject, problems: Problem[]): void {
  const { tls_cert_file: certificate, tls_key_file: key, bind_address: address, sessions } = network;
  const error = (path: string, message: string): void => {
    problems.push({ path: `network.${path}`, level: 'error', message });
  };
  if (Boolean(certificate) !== Boolean(key))
    error('tls_cert_file', 'expected tls_cert_file and tls_key_file together, found one of them');
  if (typeof address === 'string' && address !== '' && !isAddress(address))
    error('bind_address', `expected host:port, found ${formatValue(address)}`);
  tunnelProblems(network['traffic_tunnel_endpoints'], error);
  const window = isObject(sessions) ? sessions['heartbeat_window'] : undefined;
  const nanos = typeof window === 'string' ? durationNanos(window) : undefined;
  if (nanos !== undefined && nanos !== 0n && (nanos < 30_000_000n || nanos > 60_000_000_000n))
    error('sessions.heartbeat_window', `expected a duration from 30ms to 1m, found ${formatValue(window)}`);
}

/** A port that is no number, and a timeout that is no duration, are reported with the fields. */
function tunnelProblems(endpoints: unknown, error: (path: string, message: string) => void): void {
  if (!Array.isArray(endpoints)) return;
  const seen = new Set<number>();
  for (const [index, endpoint] of endpoints.entries()) {
    if (!isObject(endpoint)) continue;
    const { port, connection_timeout: timeout } = endpoint;
    const path = `traffic_tunnel_endpoints[${index}]`;
    if (port === undefined) error(path, 'expected the port of a program on the machine, found none; add "port"');
    if (typeof port === 'number') {
      if (!Number.isInteger(port) || port < 1 || port > 65_535)
        error(`${path}.port`, `expected a port from 1 to 65535, found ${formatValue(port)}`);
      else if (seen.has(port)) error(`${path}.port`, `expected each port once, found ${port} again; remove one`);
      seen.add(port);
    }
    if (typeof timeout === 'string' && durationNanos(timeout) === 0n)
      error(`${path}.connection_timeout`, 'expected a duration of more than 0, found 0; omit it for 10s');
  }
}

/** The machine substitutes its own variables. */
function isAddress(text: string): boolean {
  const port = /^[^\s]*:(\d{1,5})$/.exec(text)?.[1];
  return text.includes('${environment.') || Number(port ?? Number.POSITIVE_INFINITY) < 65_536;
}
