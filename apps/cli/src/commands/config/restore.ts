/** `platform config restore`. */
import { diff, diffLines } from '@platform/machine-config/diff';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { parsed, partArgument, readConfiguration, versionResult } from './configuration.ts';

export function restoreCommand(): Command {
  return defineCommand(
    new Command('restore')
      .description('save an earlier version as the new current one')
      .argument(...partArgument)
      .argument('<version>'),
    { examples: ['platform config restore press-7 3'], fields: versionResult.fields },
    async (context, _flags, part = '', version = '') => {
      const current = await readConfiguration(context, part);
      const wanted = wholeNumber(version, 'version') ?? 0;
      const old = await readConfiguration(context, part, wanted);
      const changes = diff(parsed(current.text), parsed(old.text));
      if (changes.length === 0)
        return context.out.note(`version ${wanted} is the same as the current one; nothing was saved`);
      for (const line of diffLines(changes)) context.out.note(line);
      await context.confirm(`Restore version ${wanted} of the part "${current.partName}"?`);
      const restored = await (await context.cloud()).fleet.restoreConfigurationVersion({
        partId: current.partId,
        version: BigInt(wanted),
        currentVersion: current.version?.version ?? 0n,
      });
      if (restored.version !== undefined) context.out.object(versionResult.shape(restored.version));
    },
  );
}
