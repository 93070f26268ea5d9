/** `platform webhooks`: for developers of receivers. */
import type { Command } from 'commander';
import { group } from '../../invocation/define-command.ts';
import { listenCommand } from './listen.ts';
import { verifyCommand } from './verify.ts';

export function webhooksCommand(): Command {
  return group('webhooks', 'check the signatures of webhooks, and show what the test inbox receives', [
    verifyCommand(),
    listenCommand(),
  ]);
}
