import type { Command } from 'commander';
import { configureHelp } from './invocation/help.ts';

/** The program with our help and exit codes. @param jsonErrors wrong uses are told as `{"error"}` */
export function withHelp(program: Command, jsonErrors: boolean): Command {
  exitWithOwnCodes(program);
  configureHelp(program, jsonErrors);
  return program;
}

function exitWithOwnCodes(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) exitWithOwnCodes(inner);
}
