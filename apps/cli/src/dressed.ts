import type { Command } from 'commander';
import { dressHelp } from './invocation/help.ts';

/** The program with our help and exit codes. @param jsonErrors wrong uses are told as `{"error"}` */
export function dressed(program: Command, jsonErrors: boolean): Command {
  exitWithOwnCodes(program);
  dressHelp(program, jsonErrors);
  return program;
}

function exitWithOwnCodes(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) exitWithOwnCodes(inner);
}
