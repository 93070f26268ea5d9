/** `platform query saved`: pipelines that an organization has saved under a name. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { createCommand, removeCommand, updateCommand } from './change.ts';
import { runCommand } from './run.ts';
import { getCommand, listCommand } from './show.ts';

export function savedCommand(): Command {
  return group('saved', 'pipelines saved under a name', [
    listCommand(),
    getCommand(),
    createCommand(),
    updateCommand(),
    removeCommand(),
    runCommand(),
  ]);
}
