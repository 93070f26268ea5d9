/** `platform config`: the versioned configuration of a part: read, edit, validate, compare, restore. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { compareCommand } from './compare.ts';
import { editCommand } from './edit.ts';
import { getCommand } from './get.ts';
import { historyCommand } from './history.ts';
import { restoreCommand } from './restore.ts';
import { schemaCommand } from './schema.ts';
import { setCommand } from './set.ts';
import { validateCommand } from './validate.ts';

export function configCommand(): Command {
  return group('config', 'versioned configuration of a part', [
    getCommand(),
    editCommand(),
    setCommand(),
    validateCommand(),
    compareCommand(),
    historyCommand(),
    restoreCommand(),
    schemaCommand(),
  ]);
}
