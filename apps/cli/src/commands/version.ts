/** `platform version`. */
import { version } from '@platform/base/version';
import { Command } from 'commander';
import { defineLocalCommand } from '../invocation/define-command.ts';

export function versionCommand(): Command {
  return defineLocalCommand(
    new Command('version').description('print the versions of the platform and of the Node that runs it'),
    { examples: ['platform version', 'platform version --json=version'], fields: ['version', 'node'] },
    async ({ out }) => {
      const node = process.versions.node;
      if (out.style.json === false) out.raw(`platform ${version} (Node ${node})`);
      else out.object({ version, node });
    },
  );
}
