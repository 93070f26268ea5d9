/** `platform fragments`: shared parts of configurations, their versions and tags. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { createCommand, editCommand, updateCommand } from './change.ts';
import { getCommand, listCommand, removeCommand, usageCommand } from './show.ts';
import { historyCommand, tagCommand, untagCommand } from './versions.ts';

export function fragmentsCommand(): Command {
  return group('fragments', 'shared pieces of configuration', [
    listCommand(),
    getCommand(),
    createCommand(),
    editCommand(),
    updateCommand(),
    removeCommand(),
    historyCommand(),
    usageCommand(),
    tagCommand(),
    untagCommand(),
  ]);
}
