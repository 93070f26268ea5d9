/** Entry point of the tabular child process. */
import { resolveOnce } from '@platform/base/resolve-once';

resolveOnce();
await import('./run.ts');
