import { Command } from 'commander';
import { upCommand } from './commands/up.ts';
import { withHelp } from './with-help.ts';

/** `platform up` alone: it runs for weeks, and what the other commands load would stay in its memory. */
export function createUpProgram(jsonErrors: boolean): Command {
  return withHelp(new Command('platform').addCommand(upCommand()), jsonErrors);
}
