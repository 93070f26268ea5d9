/** The platform command line. */
import { CommanderError } from 'commander';
import { exitCodes } from './invocation/exit-codes.ts';
import { globalsLast } from './invocation/globals-last.ts';
import { withLoginDefault } from './invocation/login-default.ts';
import { withLanguage } from './query/with-language.ts';
import { fromEnvironment } from './settings.ts';

// The reader of our output may close it early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.ok);
});

const argv = ownJson(withLoginDefault(withLanguage(globalsLast(process.argv))));
// The usual spellings in other programs.
if (argv[2] === '--version' || argv[2] === '-V') argv[2] = 'version';
const isJson = argv.some((arg) => arg.startsWith('--json=')) || fromEnvironment.output === 'json';

try {
  const program =
    argv[2] === 'up'
      ? (await import('./create-up-program.ts')).createUpProgram(isJson)
      : (await import('./create-program.ts')).createProgram(isJson);
  if (argv[2] === 'help') await (await import('./help-topic.ts')).showHelp(program, argv.slice(3));
  else await program.parseAsync(argv);
} catch (caught) {
  if (!(caught instanceof CommanderError)) throw caught;
  // Commander's errors are usage errors, except for help and version.
  process.exitCode = caught.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}

/** A bare `--json` takes no argument: `config history --json press-7` lists the history of press-7. */
function ownJson(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  const isUp = argv[2] === 'up';
  return argv.map((arg, at) => (arg === '--json' && !isUp && (end === -1 || at < end) ? '--json=' : arg));
}
