/** `platform data binary`: pictures, point clouds and other files that machines captured or uploaded. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { downloadCommand } from './download.ts';
import { listCommand } from './list.ts';

export function binaryCommand(): Command {
  return group('binary', 'files that machines captured: pictures, point clouds, uploads', [
    listCommand(),
    downloadCommand(),
  ]);
}
