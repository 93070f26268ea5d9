/** `platform completion`: the script that completes commands in a shell. */
import { Argument, Command } from 'commander';

/** @param print prints the script of a shell. */
export function completionCommand(print: (shell: string) => Promise<unknown>): Command {
  return new Command('completion')
    .description('print the script that completes commands in your shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish', 'powershell']))
    .addHelpText('after', '\nExamples:\n  $ source <(platform completion bash)\n  $ platform completion fish | source')
    .action(async (shell: string) => void (await print(shell)));
}
