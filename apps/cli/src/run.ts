/** Runs the platform command line. */
import { CommanderError } from 'commander';
import { exitCodes } from './invocation/exit-codes.ts';
import { globalsLast } from './invocation/globals-last.ts';
import { withLoginDefault } from './invocation/login-default.ts';
import { withLanguage } from './query/with-language.ts';
import { type Invocation, readSettings } from './settings.ts';

/**
 * Sets the exit code of the invocation.
 * @param args as in process.argv: the first two elements are not read
 */
export async function run(args: readonly string[], invocation: Invocation): Promise<void> {
  const argv = ownJson(withLoginDefault(withLanguage(globalsLast(args))));
  // The usual spellings in other programs.
  if (argv[2] === '--version' || argv[2] === '-V') argv[2] = 'version';
  const isJson =
    argv.some((arg) => arg.startsWith('--json=')) || readSettings(invocation).fromEnvironment.output === 'json';
  try {
    const program =
      argv[2] === 'up'
        ? (await import('./create-up-program.ts')).createUpProgram(isJson, invocation)
        : (await import('./create-program.ts')).createProgram(isJson, invocation);
    if (argv[2] === 'help') await (await import('./help-topic.ts')).showHelp(program, argv.slice(3));
    else await program.parseAsync(argv);
  } catch (caught) {
    if (!(caught instanceof CommanderError)) throw caught;
    // Commander's errors are usage errors, except for help and version.
    invocation.exitCode = caught.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
}

/** A bare `--json` takes no argument: `config history --json press-7` lists the history of press-7. */
function ownJson(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  const isUp = argv[2] === 'up';
  return argv.map((arg, at) => (arg === '--json' && !isUp && (end === -1 || at < end) ? '--json=' : arg));
}
