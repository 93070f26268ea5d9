import type { Command } from 'commander';
import { configureHelp } from './invocation/help.ts';
import { type Invocation, setInvocation } from './settings.ts';

/** Sets our help and exit codes for the program, and what its commands run in. @param jsonErrors usage errors are printed as `{"error"}` */
export function withHelp(program: Command, jsonErrors: boolean, invocation: Invocation): Command {
  setInvocation(program, invocation);
  exitWithOwnCodes(program);
  configureHelp(program, jsonErrors, invocation);
  return program;
}

function exitWithOwnCodes(command: Command): void {
  command.exitOverride();
  for (const inner of command.commands) exitWithOwnCodes(inner);
}
