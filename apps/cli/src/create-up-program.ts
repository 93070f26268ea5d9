import { Command } from 'commander';
import { upCommand } from './commands/up.ts';
import type { Invocation } from './settings.ts';
import { withHelp } from './with-help.ts';

/** Contains only `platform up`: it runs for weeks, and the modules of other commands would stay in its memory. */
export function createUpProgram(jsonErrors: boolean, invocation: Invocation): Command {
  return withHelp(new Command('platform').addCommand(upCommand(invocation)), jsonErrors, invocation);
}
