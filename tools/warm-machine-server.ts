/** The part of `warm-cache.ts` that runs with the machine-server's flags. */
import { flushCompileCache } from 'node:module';

await Promise.all([
  import('../apps/machine-server/src/begin.ts'),
  import('../apps/machine-server/src/run.ts'),
  // Rejects intentionally; the modules are compiled by then.
  import('./warm-machine-entry.ts').catch(() => {}),
]);
flushCompileCache();
process.exit(0);
