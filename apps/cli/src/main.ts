/** The platform command line. */
import { CommanderError } from 'commander';
import { exitCodes } from './invocation/exit-codes.ts';
import { fromEnvironment } from './settings.ts';

// Whoever reads our output may have read enough, such as `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.ok);
});

const argv = ownJson(process.argv);
const isJson = argv.some((arg) => arg.startsWith('--json=')) || fromEnvironment.output === 'json';

try {
  const program =
    argv[2] === 'up'
      ? (await import('./create-up-program.ts')).createUpProgram(isJson)
      : (await import('./create-program.ts')).createProgram(isJson);
  await program.parseAsync(argv);
} catch (caught) {
  if (!(caught instanceof CommanderError)) throw caught;
  // What commander refuses is a wrong use; help and version are not.
  process.exitCode = caught.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}

/** A bare `--json` takes no argument: `config history --json press-7` lists the history of press-7. */
function ownJson(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  const isUp = argv[2] === 'up';
  return argv.map((arg, at) => (arg === '--json' && !isUp && (end === -1 || at < end) ? '--json=' : arg));
}
