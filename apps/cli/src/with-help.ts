import type { Command } from 'commander';
import { configureHelp } from './invocation/help.ts';

/** Sets our help and exit codes for the program. @param jsonErrors usage errors are printed as `{"error"}` */
export function withHelp(program: Command, jsonErrors: boolean): Command {
  exitWithOwnCodes(program);
  configureHelp(program, jsonErrors);
  return program;
}

function exitWithOwnCodes(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) exitWithOwnCodes(inner);
}
