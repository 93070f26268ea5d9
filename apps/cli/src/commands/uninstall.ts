/** `platform uninstall`: removes the machine-server that `machines connect` installed on this computer. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { failedPrecondition, notFound } from '@platform/base/refusals';
import { Command } from 'commander';
import type { Context } from '../invocation/context.ts';
import { defineLocalCommand, type Flags } from '../invocation/define-command.ts';

export function uninstallCommand(): Command {
  return defineLocalCommand(
    new Command('uninstall')
      .description(
        'stop and remove the machine-server that "machines connect" installed on this computer, with its credentials. What it stored stays, such as readings that were not sent, unless --data is given. The machine stays in the cloud: see "machines delete"',
      )
      .option('--service', 'the service of systemd that "machines connect --service" installed; needs root')
      .option('--data', 'also remove what it stored, and the account of the service'),
    {
      examples: ['platform uninstall', 'platform uninstall --data', 'sudo platform uninstall --service'],
      environment: {
        PLATFORM_HOME: 'directory of the machine-server, if it was set when it was installed (default: ~/.platform)',
      },
    },
    uninstall,
  );
}

async function uninstall(context: Context, flags: Flags): Promise<void> {
  const { homeDir, sbinDir } = context.settings;
  const [ofService, ofProcess] = [
    join(sbinDir, 'machine-server-uninstall'),
    join(homeDir, 'machine-server', 'uninstall'),
  ];
  const script = flags['service'] === true ? ofService : ofProcess;
  if (!existsSync(script))
    throw notFound(
      existsSync(ofService)
        ? `expected --service, because the machine-server of this computer is a service: sudo ${context.out.style.command ?? 'platform'} uninstall --service`
        : `expected a machine-server that "platform machines connect" installed, found no ${script}. An older one gets it when you run a new line of "platform machines connect" on this computer`,
    );
  if (flags['data'] === true)
    await context.confirm('Remove everything that the machine-server stored, including readings that were not sent?');
  // The script is its documentation: it is next to what it removes, and also works where this command is not installed.
  const child = spawn('sh', [script, ...(flags['data'] === true ? ['--data', '--yes'] : [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: context.invocation.env,
  });
  const code = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [said, complained, ended] = await Promise.all([text(child.stdout), text(child.stderr), code]);
  if (said !== '') context.out.note(said.trimEnd());
  if (ended !== 0) throw failedPrecondition(complained.trim().replace(/^uninstall: /, '') || `${script} failed`);
}
