import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { setHelp } from '../invocation/help.ts';
import { programs } from '../programs.ts';
import { commandName, type Invocation, isCheckout, readSettings } from '../settings.ts';
import { jsonOutput } from '../up/json-output.ts';
import { runUp } from '../up/run-up.ts';
import { terminalOutput } from '../up/terminal-output.ts';

interface UpFlags {
  readonly data: string;
  readonly port: number;
  readonly json?: boolean;
  readonly demo: boolean;
  readonly host: string;
  readonly tls?: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsName?: readonly string[];
  readonly insecure?: boolean;
  readonly machineDomain?: string;
  readonly webhookAllow?: readonly string[];
}

/** `platform up`: a cloud on this computer and, unless --no-demo, a machine-server that captures this computer's telemetry. */
export function upCommand(invocation: Invocation): Command {
  const { colours, homeDir, terminalWidth } = readSettings(invocation);
  const streams = {
    write: (text: string): boolean => invocation.stdout.write(text),
    complain: (text: string): boolean => invocation.stderr.write(text),
  };
  const command = new Command('up')
    .description('start a cloud and a machine-server on this computer, and show the readings that arrive')
    .option('--data <dir>', 'directory for all data', join(homeDir, 'cloud'))
    .option('--port <number>', 'port of the cloud (0: any free port)', parsePort, 8080)
    .option('--host <address>', 'address to listen on; addresses other than loopback need TLS', '127.0.0.1')
    .option('--tls', 'use TLS on loopback as well, with the installation’s own certificate authority')
    .option('--tls-name <name...>', 'names for the certificate; the first one becomes part of the cloud’s address')
    .option('--tls-cert <file>', 'your own certificate chain, PEM')
    .option('--tls-key <file>', 'key of your own certificate, PEM')
    .option(
      '--insecure',
      'no TLS on addresses other than loopback: anyone on the network path can read and change everything',
    )
    .option(
      '--machine-domain <domain>',
      'domain of the names by which clients call machines (default: machines. and the host of the cloud’s address)',
    )
    .option(
      '--webhook-allow <address:port...>',
      'programs on this computer that webhooks may reach, such as 127.0.0.1:1880; works while there is one organization',
    )
    .option('--json', 'print one JSON object per line instead of text')
    .option('--no-demo', 'start only the cloud; the machine and its part are registered anyway')
    .action(async (flags: UpFlags) => {
      const stop = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) invocation.on(signal, () => stop.abort());
      invocation.exitCode = await runUp({
        homeDir,
        dataDir: resolve(flags.data),
        port: flags.port,
        host: flags.host,
        networkArgs: networkArgs(flags),
        demo: flags.demo,
        cloudEntry: programs.cloud,
        machineEntry: programs.machineServer,
        webUi: builtWebUi(),
        env: invocation.env,
        output: flags.json
          ? jsonOutput(streams)
          : terminalOutput(streams, colours, terminalWidth, commandName(invocation.env)),
        signal: stop.signal,
      });
    });
  setHelp(command, {
    examples: [
      'platform up',
      'platform up --data /srv/platform --no-demo --json',
      'platform up --host 0.0.0.0 --tls-name cloud.example',
    ],
    environment: {
      PLATFORM_HOME: 'directory for everything that is stored on this computer (default: ~/.platform)',
      PLATFORM_SEAL_AGE:
        'how long the oldest reading waits before readings are written to files, such as 60s (default: 10m, minimum: 1s)',
      PLATFORM_SCRUB_PERIOD:
        'how often each file of readings is compared with its checksum, such as 30d; 0: never (default: 7d)',
      PLATFORM_DATABASE_URL:
        'postgres://… to store metadata and ingest log in Postgres (default: SQLite in the data directory)',
      PLATFORM_PUBLIC_URL: 'address that users open, if the cloud is behind a proxy',
      PLATFORM_MACHINE_DOMAIN: 'like --machine-domain',
      PLATFORM_LOG_LEVEL: 'debug, info, warn or error (default: info)',
    },
  });
  return command;
}

/** In the published package, it is included; in a checkout, `tools/run.js` builds it before the start. */
function builtWebUi(): string | undefined {
  const url = isCheckout
    ? new URL('build', import.meta.resolve('@platform/web/package.json'))
    : new URL('../web', import.meta.url);
  const folder = fileURLToPath(url);
  return existsSync(join(folder, 'index.html')) ? folder : undefined;
}

/** The options in the form that the cloud accepts; the cloud rejects conflicting options. */
function networkArgs(flags: UpFlags): string[] {
  const { tls, tlsCert, tlsKey, tlsName = [], insecure, machineDomain, webhookAllow = [] } = flags;
  return [
    ...(tls ? ['--tls'] : []),
    ...(tlsCert === undefined ? [] : ['--tls-cert', resolve(tlsCert)]),
    ...(tlsKey === undefined ? [] : ['--tls-key', resolve(tlsKey)]),
    ...tlsName.flatMap((name) => ['--tls-name', name]),
    ...(insecure ? ['--insecure'] : []),
    ...(machineDomain === undefined ? [] : ['--machine-domain', machineDomain]),
    ...webhookAllow.flatMap((target) => ['--webhook-allow', target]),
  ];
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new InvalidArgumentError(`expected a port from 0 to 65535, found "${text}".`);
  }
  return port;
}
