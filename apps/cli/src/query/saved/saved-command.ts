/** `platform query saved`: pipelines that an organization keeps under a name. */
import type { Command } from 'commander';
import { group } from '../../invocation/leaf.ts';
import { createCommand, removeCommand, updateCommand } from './change.ts';
import { runCommand } from './run.ts';
import { getCommand, listCommand } from './show.ts';

export function savedCommand(): Command {
  return group('saved', 'pipelines that are kept under a name', [
    listCommand(),
    getCommand(),
    createCommand(),
    updateCommand(),
    removeCommand(),
    runCommand(),
  ]);
}
