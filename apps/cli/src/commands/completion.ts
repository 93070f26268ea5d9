/** `platform completion`: the script that completes commands in a shell. */
import type { Command } from 'commander';
import { setHelp } from '../invocation/help.ts';

/** Describes the command that the completion library adds. */
export function describeCompletion(program: Command): void {
  const command = program.commands.find((one) => one.name() === 'completion');
  if (command === undefined) return;
  command.description('print the script that completes commands in your shell').helpGroup('Shell:');
  const [shell] = command.registeredArguments;
  if (shell !== undefined) shell.description = 'bash, zsh, fish or powershell';
  setHelp(command, { examples: ['source <(platform completion bash)', 'platform completion fish | source'] });
}
