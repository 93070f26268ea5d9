/** `platform deliveries`: what triggers sent, to whom, and with what outcome. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { getCommand } from './get.ts';
import { listCommand } from './list.ts';
import { replayCommand, retryCommand } from './retry.ts';
import { pauseCommand, pausedCommand, resumeCommand } from './targets.ts';

export function deliveriesCommand(): Command {
  return group('deliveries', 'notifications that triggers sent in the last 30 days, with every attempt', [
    listCommand(),
    getCommand(),
    retryCommand(),
    replayCommand(),
    pausedCommand(),
    pauseCommand(),
    resumeCommand(),
  ]).alias('delivery');
}
