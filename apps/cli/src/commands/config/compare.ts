/** `platform config diff`. */
import { diff, diffLines } from '@platform/machine-config/diff';
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { readInput } from '../../invocation/input.ts';
import { wholeNumber } from '../../invocation/whole-number.ts';
import { parsed, partArgument, readConfiguration } from './configuration.ts';

export function compareCommand(): Command {
  return defineCommand(
    new Command('diff')
      .description('show what changed between two versions, or between a version and a file')
      .argument(...partArgument)
      .argument('[from]', 'version (default: the one before the current version)')
      .argument('[to]', 'version (default: the current version)')
      .option('--file <file>', 'compare the current version with this file'),
    {
      examples: [
        'platform config diff press-7',
        'platform config diff press-7 3 7',
        'platform config diff press-7 --file press.json',
      ],
      fields: ['kind', 'path', 'of', 'before', 'after', 'to'],
    },
    async (context, flags, part = '', from = undefined, to = undefined) => {
      const current = await readConfiguration(context, part, wholeNumber(to, 'to'));
      const file = flags['file'] as string | undefined;
      const at = Number(current.version?.version ?? 0);
      const older =
        file === undefined
          ? await readConfiguration(context, part, wholeNumber(from, 'from') ?? Math.max(0, at - 1))
          : current;
      const newer = file === undefined ? current.text : await readInput(file, context.invocation);
      const changes = diff(parsed(older.text), parsed(newer, file ?? 'configuration'));
      if (context.out.style.json !== false) {
        context.out.rows(
          changes.map((change) => ({ ...change, path: [...change.path], of: [...change.of] }) as JsonObject),
          [],
        );
        return;
      }
      for (const line of diffLines(changes)) context.out.raw(line);
      if (changes.length === 0) context.out.note('no differences');
    },
  );
}
