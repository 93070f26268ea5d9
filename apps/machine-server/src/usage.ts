/** The help of the machine-server, for `-help`. */
import { flags } from './settings.ts';

/** Name of the value, if there is one, and effect of each option. */
const options: Readonly<Record<string, string>> = {
  config: '<file>  credentials of this machine, or its whole configuration (required)',
  'allow-insecure-creds': 'send credentials in plaintext beyond loopback, too',
  cpuprofile: '<file>  write a CPU profile to this file',
  debug: 'log at the level debug',
  'disable-mdns': 'do not announce the machine by multicast DNS',
  'dump-resources': '<file>  write the resource types as JSON and exit',
  ftdc: 'capture full-time diagnostics (default: true)',
  'log-file': '<file>  write the log to this file instead of standard output',
  'network-check': 'check the network and exit',
  'no-tls': 'serve the port without TLS, also to other computers',
  'output-telemetry': 'print metrics and spans',
  'reveal-sensitive-config-diffs': 'show changes of the configuration with their secrets',
  shareddir: '<directory>  static web assets',
  'untrusted-env': 'refuse shells, local module processes and other capture directories',
  version: 'print the version and exit',
  webprofile: 'serve the profiler on the port',
  webrtc: 'force WebRTC connections',
};

const variables: Readonly<Record<string, string>> = {
  PLATFORM_HOME: 'directory for cached files, captured data and modules (default: ~/.platform)',
  PLATFORM_BIND_ADDRESS: 'host:port to serve, unless the configuration says otherwise (port 0: any free one)',
  PLATFORM_CONFIG_READ_TIMEOUT: 'longest time to read the configuration (default: 15s)',
  PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT: 'longest time to build or close a resource (default: 2m)',
  PLATFORM_RESOURCE_REQUESTS_LIMIT: 'most calls in progress for one resource (default: 100)',
  PLATFORM_LOGFILE: 'log file in addition to standard output',
};

/** Whether the arguments ask for help. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.some((arg) => ['-h', '-help', '--help', 'help'].includes(arg));
}

/** Lines of at most 110 columns. */
export function usage(): string {
  const rows = (texts: Readonly<Record<string, string>>): string =>
    Object.entries(texts)
      .map(([name, text]) => `  ${name}\n      ${text}`)
      .join('\n');
  const described = Object.fromEntries(
    Object.entries(flags).map(([name, kind]) => {
      const [, value = '', effect = ''] = /^(<\w+>)?\s*(.*)$/.exec(options[name] ?? '') ?? [];
      return [`-${name} ${value}`.trimEnd(), effect + (kind.startsWith('ignored') ? ' (no effect yet)' : '')];
    }),
  );
  return `Usage: machine-server -config <file> [options]

run the resources of a machine, capture their data and sync it to a cloud

Example:
  $ platform machines part config-file press-7 > platform.json
  $ machine-server -config platform.json

Options (with one dash or two; -name=value works as well):
${rows(described)}

Environment:
${rows(variables)}

It runs until SIGINT or SIGTERM. Exit codes: 0 stopped as asked · 1 error
`;
}
