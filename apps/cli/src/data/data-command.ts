/** `platform data`: what was captured: exported, downloaded, deleted, kept for so long. */
import type { Command } from 'commander';
import { group } from '../invocation/leaf.ts';
import { binaryCommand } from './binary/binary-command.ts';
import { deleteCommand } from './delete.ts';
import { exportCommand } from './export.ts';
import { retentionCommand } from './retention.ts';

export function dataCommand(): Command {
  return group('data', 'export and delete what was captured, and say how long it is kept', [
    exportCommand(),
    deleteCommand(),
    retentionCommand(),
    binaryCommand(),
  ]);
}
