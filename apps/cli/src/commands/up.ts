import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { setHelp } from '../invocation/help.ts';
import { colours, homeDir, inherited } from '../settings.ts';
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
}

/** `platform up`: the cloud on this computer and, unless --no-demo, a machine-server that captures its telemetry. */
export function upCommand(): Command {
  const command = new Command('up')
    .description('start the cloud here, with a machine-server for this computer, and show what flows')
    .option('--data <dir>', 'folder of all data', join(homeDir, 'cloud'))
    .option('--port <number>', 'port of the cloud (0: a free one)', parsePort, 8080)
    .option('--host <address>', 'where the cloud listens; beyond loopback with TLS', '127.0.0.1')
    .option('--tls', 'TLS on loopback, too, with an authority of its own')
    .option('--tls-name <name...>', 'names in the certificate of its own authority, the first for its address')
    .option('--tls-cert <file>', 'certificate chain to use instead, PEM')
    .option('--tls-key <file>', 'its key, PEM')
    .option('--insecure', 'plaintext beyond loopback: whoever is between reads and changes everything')
    .option('--json', 'one JSON object a line instead of text')
    .option('--no-demo', 'the cloud alone; machine and part are registered all the same')
    .action(async (flags: UpFlags) => {
      const stop = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
      process.exitCode = await runUp({
        dataDir: resolve(flags.data),
        port: flags.port,
        host: flags.host,
        tlsArgs: tlsArgs(flags),
        demo: flags.demo,
        cloudEntry: import.meta.resolve('@platform/cloud/main'),
        machineEntry: import.meta.resolve('@platform/machine-server/main'),
        env: inherited,
        output: flags.json ? jsonOutput() : terminalOutput(colours),
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
      PLATFORM_HOME: 'folder of everything that is kept on this computer (default: ~/.platform)',
      PLATFORM_SEAL_AGE:
        'readings are written to files once the oldest has waited for so long, such as 60s (default: 10m, at least 1s)',
      PLATFORM_SCRUB_PERIOD:
        'each file of readings is read and compared with its checksum once in so long, such as 30d; 0: never (default: 7d)',
      PLATFORM_DATABASE_URL: 'postgres://…: metadata and ingest log are there (default: SQLite in the data folder)',
      PLATFORM_PUBLIC_URL: 'the address that people use, behind a proxy',
      PLATFORM_LOG_LEVEL: 'debug, info, warn or error (default: info)',
    },
  });
  return command;
}

/** As the cloud takes them; it says what does not go together. */
function tlsArgs({ tls, tlsCert, tlsKey, tlsName = [], insecure }: UpFlags): string[] {
  return [
    ...(tls ? ['--tls'] : []),
    ...(tlsCert === undefined ? [] : ['--tls-cert', resolve(tlsCert)]),
    ...(tlsKey === undefined ? [] : ['--tls-key', resolve(tlsKey)]),
    ...tlsName.flatMap((name) => ['--tls-name', name]),
    ...(insecure ? ['--insecure'] : []),
  ];
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new InvalidArgumentError(`expected a port from 0 to 65535, found "${text}".`);
  }
  return port;
}
