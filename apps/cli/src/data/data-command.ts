/** `platform data`: captured readings: exported, deleted, kept for so long. */
import type { Command } from 'commander';
import { group } from '../invocation/leaf.ts';
import { deleteCommand } from './delete.ts';
import { exportCommand } from './export.ts';
import { retentionCommand } from './retention.ts';

export function dataCommand(): Command {
  return group('data', 'export and delete readings, and say how long they are kept', [
    exportCommand(),
    deleteCommand(),
    retentionCommand(),
  ]);
}
