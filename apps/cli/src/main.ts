/** Entry point of the platform command line. */
import { run } from './run.ts';

// The reader of our output may close it early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
await run(process.argv, process);
