/** `platform data`: export, download, deletion, gaps and retention of captured data. */
import type { Command } from 'commander';
import { group } from '../invocation/define-command.ts';
import { binaryCommand } from './binary/binary-command.ts';
import { deleteCommand } from './delete.ts';
import { exportCommand } from './export.ts';
import { gapsCommand } from './gaps.ts';
import { retentionCommand } from './retention.ts';

export function dataCommand(): Command {
  return group('data', 'export, download and delete captured data, see its gaps, and set how long it is kept', [
    exportCommand(),
    deleteCommand(),
    gapsCommand(),
    retentionCommand(),
    binaryCommand(),
  ]);
}
