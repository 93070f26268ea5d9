/** The help of the machine-server, for `-help`. */
import { flags } from './read-flags.ts';

/** Name of the value, if there is one, and effect of each option. */
const options: Readonly<Record<string, string>> = {
  config: '<file>  credentials of this machine, or its whole configuration (required)',
  'allow-insecure-creds': 'also send credentials in plaintext to other computers',
  cpuprofile: '<file>  write a CPU profile of the whole run to this file when the server stops',
  debug: 'log at the level debug',
  'disable-mdns': 'do not announce the machine by multicast DNS',
  'dump-resources': '<file>  write all registered types and models as JSON and exit',
  ftdc: 'record full-time diagnostics below PLATFORM_HOME (default: true)',
  'log-file':
    '<file>  write the log to this file instead of standard output; it rotates at 16 MiB, keeping 4 older files',
  'network-check': 'check the network of this computer and the connection to the cloud, and exit',
  'no-tls': 'serve the port without TLS, even to other computers',
  'output-telemetry': 'print OpenTelemetry metrics and spans to standard output',
  'reveal-sensitive-config-diffs': 'log changes of the configuration without masking secrets, on this computer only',
  shareddir: '<directory>  serve the files of this directory at /static/',
  'untrusted-env':
    'refuse shells, local programs and modules, and folders that the -config file does not allow to be synced',
  version: 'print the version and exit',
  webprofile: 'serve a profiler at /debug/, to this computer only',
  webrtc: 'let callers connect directly over WebRTC (default: true)',
};

const variables: Readonly<Record<string, string>> = {
  PLATFORM_HOME: 'directory for cached files, captured data and modules (default: ~/.platform)',
  PLATFORM_BIND_ADDRESS: 'host:port to serve, unless the configuration says otherwise (port 0: any free one)',
  PLATFORM_CONFIG_READ_TIMEOUT: 'time limit for reading the configuration (default: 15s)',
  PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT: 'time limit for building or closing a resource (default: 2m)',
  PLATFORM_MODULE_STARTUP_TIMEOUT: 'time limit for a module to become ready (default: 5m)',
  PLATFORM_RESOURCE_REQUESTS_LIMIT: 'maximum number of calls in progress for one resource (default: 100)',
  PLATFORM_WEBRTC_PORT: 'UDP port of all WebRTC connections, for firewalls (default: a free one)',
  PLATFORM_TRUSTED_PROXIES:
    'addresses and networks of reverse proxies, whose x-forwarded-for and PROXY headers name the client',
  PLATFORM_LOGFILE: 'log file in addition to standard output; it rotates in the same way',
  PLATFORM_NO_WINDOWS_EVENT_LOGGER: 'any value: do not write to the Windows event log',
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
    Object.keys(flags).map((name) => {
      const [, value = '', effect = ''] = /^(<\w+>)?\s*(.*)$/.exec(options[name] ?? '') ?? [];
      return [`-${name} ${value}`.trimEnd(), effect];
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

It runs until SIGINT or SIGTERM. Exit codes: 0 stopped by such a signal or a request · 1 error
`;
}
